import Testing

@testable import CommandSupport

@Suite("Lines on the terminal")
struct LineTests {
    static let colourful = Style(usesColour: true, usesUnicode: true, width: nil)

    @Test("colour is for terminals that have it and people who want it")
    func colour() {
        func usesColour(isTerminal: Bool = true, _ environment: [String: String] = [:]) -> Bool {
            Style(isTerminal: isTerminal, width: 80) { environment[$0] }.usesColour
        }
        #expect(usesColour())
        #expect(!usesColour(isTerminal: false))
        #expect(!usesColour(["NO_COLOR": "1"]))
        #expect(usesColour(["NO_COLOR": ""]))
        #expect(!usesColour(["TERM": "dumb"]))
    }

    @Test("signs beyond ASCII are for terminals with a UTF-8 locale, and for files")
    func unicode() {
        #expect(Style(isTerminal: true, width: 80) { ["LANG": "C.UTF-8"][$0] }.usesUnicode)
        #expect(!Style(isTerminal: true, width: 80) { ["LANG": "C"][$0] }.usesUnicode)
        #expect(!Style(isTerminal: true, width: 80) { ["LC_ALL": "C", "LANG": "C.UTF-8"][$0] }.usesUnicode)
        #expect(Style(isTerminal: false, width: 80) { _ in nil }.usesUnicode)
    }

    @Test("ink becomes an escape sequence, and only where colour is used")
    func ink() {
        let line = Line("a ") + ("b", .bad)
        #expect(line.rendered(.plain) == "a b")
        #expect(line.rendered(LineTests.colourful) == "a \u{1B}[31mb\u{1B}[0m")
    }

    @Test("a line that is too long is cut to the width, whatever its inks")
    func cut() {
        let line = Line("abc", .good) + ("defg", .bad)
        #expect(line.rendered(Style(usesColour: false, usesUnicode: true, width: 7)) == "abcdefg")
        #expect(line.rendered(Style(usesColour: false, usesUnicode: true, width: 6)) == "abcde…")
        #expect(line.rendered(Style(usesColour: false, usesUnicode: false, width: 6)) == "abc...")
        #expect(line.rendered(Style(usesColour: false, usesUnicode: true, width: 0)) == "…")
    }

    @Test("wide characters count twice", arguments: [("日本", 4), ("é", 1), ("e\u{301}", 1), ("🔔", 2), ("ab", 2)])
    func columns(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test("a wide character that half fits is left out")
    func wideCut() {
        #expect("日本".prefix(columns: 3) == "日")
    }

    @Test(
        "what a terminal would obey is made visible",
        arguments: [
            ("\u{1B}[2J", "\\u{1b}[2J"), ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\u{202E}abc", "\\u{202e}abc"),
            ("\u{9B}31m", "\\u{9b}31m"), ("\u{7F}", "\\u{7f}"), ("grün", "grün"),
        ])
    func visible(text: String, expected: String) {
        #expect(text.visible == expected)
        #expect(Line(text).rendered(.plain) == expected)
    }
}
