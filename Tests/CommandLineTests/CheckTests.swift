import ArgumentParser
import Diagnostics
import JSON
import Testing

@testable import RuleCommands

@Suite("Checking files")
struct CheckTests {
    @Test(
        "rules have a version; a configuration has its name or its keys",
        arguments: [
            ("tryck.yaml", "version: 1\n", CheckedFile.Kind.rules),
            ("/etc/tryck/tryck.yaml", "rules: home.yaml\n", .configuration),
            ("test.yaml", "# a comment\nmqtt: {broker: none}\n", .configuration),
            ("home.yaml", "rules:\n  - mqtt: x\n", .rules),
            ("home.yaml", "", .rules),
            ("home.yaml", "mqtt", .rules),
        ])
    func kind(name: String, text: String, kind: CheckedFile.Kind) {
        #expect(CheckedFile.kind(name: name, text: Array(text.utf8)) == kind)
    }

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

    @Test("a schema is that of the language, or of the rules that are named")
    func schema() throws {
        #expect(try SchemaCommand.parse([]).path == nil)
        #expect(try SchemaCommand.parse(["--for", "rules/home.yaml"]).path == "rules/home.yaml")
    }
}
