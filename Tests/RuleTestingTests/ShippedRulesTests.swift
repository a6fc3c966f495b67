import Foundation
import RuleLoader
import RuleTesting
import Rules
import Testing
import YAMLFiles

/// Runs the tests of the rules that come with the program.
@Suite("Rules that are shipped")
struct ShippedRulesTests {
    static let recipes = (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []
    static let folder = Tested.root.appending(path: "rules/recipes")

    private func set(_ path: String) throws -> RuleSet {
        let text = [UInt8](try Data(contentsOf: Tested.root.appending(path: path)))
        let zones = ["Europe/Amsterdam": "Europe-Amsterdam", "Etc/UTC": "UTC"].mapValues {
            Tested.root.appending(path: "Tests/AlmanacTests/Zones/\($0)")
        }
        let loaded = FileLoader.rules(
            SourceFile(name: path, text: text),
            in: LoadInputs(
                secrets: SourceFile(name: "secrets.yaml", text: Array("ntfy_token: Bearer abc\n".utf8)),
                timeZones: try zones.mapValues { [UInt8](try Data(contentsOf: $0)) }))
        #expect(loaded.diagnostics == [])
        return try #require(loaded.value)
    }

    @Test("at least eleven recipes are found")
    func some() {
        #expect(Self.recipes.count >= 11)
    }

    @Test(
        "every recipe loads without diagnostics, and its tests pass and reach every rule, branch and step",
        arguments: recipes)
    func recipe(name: String) throws {
        try check("rules/recipes/\(name)")
    }

    @Test("rules/home.yaml loads without diagnostics, and its tests pass and reach every step")
    func home() throws {
        try check("rules/home.yaml")
    }

    private func check(_ path: String) throws {
        let report = RuleTestRunner.run(try set(path))
        #expect(!report.results.isEmpty)
        for result in report.failures { Issue.record("\(result.failure?.text(of: result.name) ?? "")") }
        #expect(report.unreached.map(\.text) == [])
    }
}
