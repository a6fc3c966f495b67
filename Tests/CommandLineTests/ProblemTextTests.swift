import JSON
import Testing

@testable import CommandSupport
@testable import DaemonCommands

@Suite("Problems that the daemon finds in rule files")
struct ProblemTextTests {
    private static let unknown: JSONValue = [
        "code": "E301", "severity": "error", "file": "rules/home.yaml", "line": 14, "column": 15,
        "message": "unknown button \"kitchn\"", "hint": "did you mean \"kitchen\"?",
        "related": [["message": "buttons are declared", "file": "rules/home.yaml", "line": 4, "column": 1]],
    ]
    private static let warning: JSONValue = [
        "code": "W704", "severity": "warning", "file": "rules/home.yaml", "line": 5, "column": 3,
        "message": "button \"attic\" is never used", "hint": nil, "related": [],
    ]

    private static func lines(_ problems: [JSONValue], _ sentence: String) -> [String] {
        ProblemText.lines(problems, because: sentence).map { $0.rendered(.plain) }
    }

    @Test("all are shown, with their places, hints and notes, then the consequence")
    func all() {
        let lines = Self.lines(
            [Self.unknown, Self.warning, ["code": nil, "message": "and 11 more", "more": 11]],
            "the rules on disk have errors; the old rules stay in use: rules/home.yaml:14:15: unknown button \"kitchn\""
        )
        #expect(
            lines == [
                #"rules/home.yaml:14:15: error[E301]: unknown button "kitchn""#,
                #"  hint: did you mean "kitchen"?"#,
                "  note: buttons are declared at rules/home.yaml:4:1",
                #"rules/home.yaml:5:3: warning[W704]: button "attic" is never used"#,
                "and 11 more",
                "the rules on disk have errors; the old rules stay in use",
            ])
    }

    @Test("a failed test is shown with its report")
    func failedTest() {
        let test: JSONValue = [
            "code": "test", "severity": "error", "file": "home.yaml", "line": 9, "column": 5,
            "message": "test failed: it",
            "hint": "home.yaml:9:5: test failed: it\n  expected  nothing\n! happened  log x\u{1B}\n",
        ]
        #expect(
            Self.lines([test], "the rules are already in use, but do not pass their tests: …") == [
                "home.yaml:9:5: test failed: it", "  expected  nothing", #"! happened  log x\u{1b}"#,
                "the rules are already in use, but do not pass their tests",
            ])
    }
}
