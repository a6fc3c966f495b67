import Diagnostics
import JSON
import Testing

@Suite("Text and JSON of diagnostics")
struct DiagnosticReportTests {
    private func diagnostic(
        _ line: Int, _ column: Int, width: Int = 1, severity: Diagnostic.Severity = .error, file: String = "a.yaml",
        code: String = "E301", message: String = "unknown button \"kitchn\"", hint: String? = nil,
        related: [Diagnostic.Note] = []
    ) -> Diagnostic {
        Diagnostic(
            severity: severity, code: code, file: file, start: .init(line: line, column: column),
            end: .init(line: line, column: column + width), message: message, hint: hint, related: related)
    }

    private func text(_ diagnostics: Diagnostic..., source: String) -> String {
        DiagnosticReport(diagnostics, sources: ["a.yaml": Array(source.utf8)]).text()
    }

    @Test("in a log, each diagnostic is one line with its hint, and only the first are shown")
    func logLines() {
        let one = diagnostic(14, 15, hint: "did you mean \"kitchen\"?")
        #expect(
            DiagnosticReport([one], sources: [:]).logLines
                == [#"a.yaml:14:15: error[E301]: unknown button "kitchn" (did you mean "kitchen"?)"#])
        let many = DiagnosticReport(Array(repeating: one, count: 30), sources: [:]).logLines
        #expect(many.count == 21 && many.last == "and 10 more")
        #expect(DiagnosticReport([], sources: [:]).logLines == [])
    }

    @Test("a diagnostic shows position, message, line, caret, hint and note, and a summary follows")
    func whole() {
        let note = Diagnostic.Note(
            message: "buttons are declared", file: "a.yaml", position: .init(line: 1, column: 1))
        let shown = text(
            diagnostic(2, 11, width: 6, hint: "did you mean \"kitchen\"?", related: [note]),
            source: "buttons: {}\n- button: kitchn\n")
        #expect(
            shown == """
                a.yaml:2:11: error[E301]: unknown button "kitchn"
                    2 | - button: kitchn
                      |           ^^^^^^ did you mean "kitchen"?
                  note: buttons are declared at a.yaml:1:1
                1 error.

                """)
    }

    @Test(
        "the caret stands under its character after tabs, wide and combining characters",
        arguments: [
            ("ab", 2, " "), ("\tb", 2, "    "), ("a\tb", 3, "    "), ("日b", 2, "  "), ("e\u{301}b", 3, " "),
            ("👍b", 2, "  "), ("ab", 3, "  "), ("", 1, ""),
        ])
    func caret(line: String, column: Int, before: String) {
        #expect(text(diagnostic(1, column), source: line).contains("      | \(before)^\n"))
    }

    @Test("a range that ends on another line is marked to the end of its first line")
    func severalLines() {
        var open = diagnostic(1, 3)
        open.end = SourcePosition(line: 4, column: 1)
        #expect(text(open, source: "a: |\n  b\n").contains("      |   ^^\n"))
    }

    @Test("of a long line only the part around the caret is shown")
    func longLine() {
        let shown = text(diagnostic(1, 5000), source: String(repeating: "x", count: 10_000))
        #expect(shown.split(separator: "\n").allSatisfy { $0.unicodeScalars.count < 200 })
        #expect(shown.contains("^"))
    }

    @Test("control characters of a file never reach the terminal")
    func control() {
        let shown = text(
            diagnostic(1, 1, message: "bad \u{1B}[2J", hint: "\u{202E}x"), source: "a\u{1B}[2J\u{7}\u{202E}")
        #expect(!shown.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{7}" || $0 == "\u{202E}" })
    }

    @Test("control characters of a file's name never reach the terminal")
    func controlInName() {
        let name = "a\u{1B}[2J\u{7}.yaml"
        let note = Diagnostic.Note(message: "declared", file: name, position: .init(line: 1, column: 1))
        let errors = (1...25).map { diagnostic($0, 1, file: name, related: [note]) }
        let shown = DiagnosticReport(errors, sources: [name: Array("x\n".utf8)]).text()
        #expect(!shown.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{7}" })
        #expect(shown.hasPrefix("a\u{FFFD}[2J\u{FFFD}.yaml:1:1: error[E301]: "))
        #expect(shown.contains("    1 | x\n"))
        #expect(shown.contains("  note: declared at a\u{FFFD}[2J\u{FFFD}.yaml:1:1\n"))
        #expect(shown.contains("\na\u{FFFD}[2J\u{FFFD}.yaml: and 5 more\n"))
    }

    @Test("LF, CR and CRLF each end a line", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) {
        let shown = text(diagnostic(3, 1), source: "one\(end)\(end)three\(end)four")
        #expect(shown.contains("    3 | three\n      | ^\n"))
    }

    @Test("a line that holds secrets is not shown")
    func confidential() {
        var secret = diagnostic(1, 1, hint: "chmod 600")
        secret.isConfidential = true
        #expect(!text(secret, source: "token: hunter2").contains("hunter2"))
    }

    @Test("twenty errors of a file are shown and the others counted; warnings are all shown")
    func many() {
        let errors = (1...25).map { diagnostic($0, 1) }
        let warning = diagnostic(30, 1, severity: .warning, code: "W704", message: "unused")
        let other = diagnostic(1, 1, file: "b.yaml")
        let shown = DiagnosticReport(errors + [warning, other], sources: [:]).text()
        #expect(shown.contains("a.yaml:20:1:") && !shown.contains("a.yaml:21:1:"))
        #expect(shown.contains("a.yaml: and 5 more\n"))
        #expect(shown.contains("a.yaml:30:1: warning[W704]: unused\n"))
        #expect(shown.hasSuffix("b.yaml:1:1: error[E301]: unknown button \"kitchn\"\n26 errors, 1 warning.\n"))
    }

    @Test(
        "the summary counts errors and warnings",
        arguments: [
            (0, 0, "No errors."), (1, 0, "1 error."), (2, 1, "2 errors, 1 warning."), (0, 3, "3 warnings."),
        ])
    func summary(errors: Int, warnings: Int, text: String) {
        let all =
            (0..<errors).map { diagnostic($0 + 1, 1) }
            + (0..<warnings).map { diagnostic($0 + 1, 1, severity: .warning) }
        #expect(DiagnosticReport(all, sources: [:]).summary == text)
    }

    @Test("diagnostics are ordered by file, then by position, then by when they were found")
    func order() {
        let list = [
            diagnostic(2, 1, code: "E1"), diagnostic(1, 1, file: "b.yaml", code: "E2"), diagnostic(1, 5, code: "E3"),
            diagnostic(1, 5, code: "E4"),
        ]
        #expect(list.inSourceOrder().map(\.code) == ["E3", "E4", "E1", "E2"])
    }

    @Test("text has colour only if colour was asked for")
    func colour() {
        let report = DiagnosticReport([diagnostic(1, 1)], sources: ["a.yaml": Array("x".utf8)])
        #expect(!report.text().contains("\u{1B}"))
        #expect(report.text(colour: true).contains("\u{1B}[1;31m"))
    }

    @Test("a line of megabytes is shown around the caret, and a file of millions of lines shows the right line")
    func large() {
        let long = text(diagnostic(1, 1_000_001), source: String(repeating: "é", count: 1_000_000) + "x")
        #expect(long.contains("éx\n"))
        #expect(long.hasSuffix(" ^\n1 error.\n"))
        let many = text(diagnostic(750_000, 1), source: String(repeating: "\n", count: 749_999) + "x")
        #expect(many.contains("750000 | x\n"))
    }

    @Test("a diagnostic is written as JSON with a field for each part")
    func json() {
        let note = Diagnostic.Note(message: "declared", file: "b.yaml", position: .init(line: 4, column: 1))
        let full = diagnostic(14, 15, width: 6, hint: "did you mean \"kitchen\"?", related: [note])
        #expect(
            full.json == [
                "code": "E301", "severity": "error", "file": "a.yaml", "line": 14, "column": 15, "end_line": 14,
                "end_column": 21, "message": "unknown button \"kitchn\"", "hint": "did you mean \"kitchen\"?",
                "related": [["message": "declared", "file": "b.yaml", "line": 4, "column": 1]],
            ])
        #expect(diagnostic(1, 1, severity: .warning).json["hint"] == .null)
    }
}
