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

    private static let tables: [MappingTable] = [
        .rulesFile, .location, .defaults, .button, .state, .variable, .rule, .trigger, .queued, .time, .script,
        .scriptInput, .step, .publish, .run, .shell, .http, .wait, .cycle, .repeat, .branch, .log, .retry, .test, .given,
        .outsideResult, .testStep, .simulatedEvent, .press, .simulatorButton,
    ]

    @Test("every key a file may have is in it", arguments: tables.indices)
    func keys(index: Int) {
        let table = ReferenceTests.tables[index]
        let missing = table.keys.map(\.name).filter { !text.contains("`\($0)`") && !text.contains("\($0):") }
        #expect(missing == [], "in \(table.name)")
    }
}
