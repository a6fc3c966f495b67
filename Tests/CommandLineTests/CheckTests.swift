import ArgumentParser
import Diagnostics
import JSON
import Setup
import Testing

@testable import RuleCommands

@Suite("Checking files")
struct CheckTests {
    @Test("for editors, a diagnostic comes in parts")
    func json() {
        let diagnostic = Diagnostic(
            severity: .error, code: "E301", file: "home.yaml", start: .init(line: 14, column: 15),
            end: .init(line: 14, column: 21), message: "unknown button \"kitchn\"", hint: "did you mean \"kitchen\"?",
            related: [.init(message: "declared here", file: "home.yaml", position: .init(line: 4, column: 1))])
        #expect(
            diagnostic.json.description == """
                {"code":"E301","severity":"error","file":"home.yaml","line":14,"column":15,"end_line":14,\
                "end_column":21,"message":"unknown button \\"kitchn\\"","hint":"did you mean \\"kitchen\\"?",\
                "related":[{"message":"declared here","file":"home.yaml","line":4,"column":1}]}
                """)
    }

    @Test("a list for programs has at most 20 errors of each file, and then the number of the others")
    func list() {
        func diagnostics(_ count: Int, _ file: String, _ severity: Diagnostic.Severity) -> [Diagnostic] {
            (1...count).map {
                Diagnostic(
                    severity: severity, code: "E201", file: file, start: .init(line: $0, column: 1),
                    end: .init(line: $0, column: 2), message: "unknown key")
            }
        }
        let full = diagnostics(20, "a.yaml", .error) + diagnostics(30, "b.yaml", .warning)
        #expect(full.problemList == full.map(\.json))
        let long = diagnostics(25, "a.yaml", .error) + diagnostics(26, "b.yaml", .error)
        #expect(long.problemList.count == 41)
        #expect(long.problemList.last?.description == #"{"code":null,"message":"and 11 more","more":11}"#)
    }

    @Test("a schema is that of the language, or of the rules that are named")
    func schema() throws {
        #expect(try SchemaCommand.parse([]).path == nil)
        #expect(try SchemaCommand.parse(["--for", "rules/home.yaml"]).path == "rules/home.yaml")
    }
}
