import Diagnostics
import Foundation
import Testing

@testable import RuleLoader

@Suite("The reference for people")
struct ReferenceTests {
    private let text: String

    init() throws {
        text = try String(contentsOf: Project.root.appending(path: "rules/README.md"), encoding: .utf8)
    }

    @Test("its example loads, and its example of a mistake is what one sees")
    func examples() throws {
        let blocks = text.components(separatedBy: "```")
        let example = try #require(blocks.first { $0.hasPrefix("yaml\n") }).dropFirst(5).description
        let file = { (text: String) in SourceFile(name: "rules/home.yaml", text: Array(text.utf8)) }
        #expect(RuleLoader.rules(file(example), in: LoadEnvironment()).diagnostics == [])
        let wrong = example.replacing("button: kitchen", with: "button: kitchn")
        let report = DiagnosticReport(
            RuleLoader.rules(file(wrong), in: LoadEnvironment()).diagnostics,
            sources: ["rules/home.yaml": Array(wrong.utf8)])
        #expect(blocks.contains("\n" + report.text()))
    }

    @Test(
        "every key a file may have is in it",
        arguments: [
            MappingTable.rulesFile, .button, .rule, .trigger, .queued, .step, .publish, .run, .shell, .log,
            .simulatorButton,
        ])
    func keys(table: MappingTable) {
        for key in table.keys {
            #expect(text.contains("`\(key.name)`") || text.contains("\(key.name):"), "\(key.name)")
        }
    }
}
