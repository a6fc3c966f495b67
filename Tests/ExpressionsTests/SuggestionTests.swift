import Expressions
import Testing

@Suite("Suggestions of names")
struct SuggestionTests {
    @Test(
        "the suggestion is the nearest name within two changes, else the only name that begins with the text",
        arguments: [
            ("trigers", "triggers"), ("tirggers", "triggers"), ("mode", "mode"), ("mod", "mode"), ("xyz", nil),
            ("con", "conditions"), ("a", nil), ("", nil), ("actoins", "actions"), ("tri", nil),
        ])
    func nearest(word: String, suggestion: String?) {
        let words = ["triggers", "trigger", "actions", "mode", "conditions"]
        #expect(Suggestions.nearest(to: word, among: words) == suggestion)
    }
}
