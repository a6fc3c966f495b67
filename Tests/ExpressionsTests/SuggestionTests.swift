import Expressions
import Testing

@Suite("Suggestions of names")
struct SuggestionTests {
    @Test(
        "the nearest word within two changes is meant, else the only one that begins so",
        arguments: [
            ("trigers", "triggers"), ("tirggers", "triggers"), ("mode", "mode"), ("mod", "mode"), ("xyz", nil),
            ("con", "conditions"), ("a", nil), ("", nil), ("actoins", "actions"), ("tri", nil),
        ])
    func nearest(word: String, suggestion: String?) {
        let words = ["triggers", "trigger", "actions", "mode", "conditions"]
        #expect(Suggestions.nearest(to: word, among: words) == suggestion)
    }
}
