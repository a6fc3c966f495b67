import Almanac
import ButtonModel
import ConfigurationLoader
import Diagnostics
import Foundation
import RuleLoader
import Rules
import Settings
import Testing
import YAMLFiles

@Suite("The example files")
struct ExampleTests {
    @Test("the rules of the demo load without a word")
    func rules() throws {
        let loaded = FileLoader.rules(try Project.file("rules/home.yaml"), in: LoadInputs())
        #expect(loaded.diagnostics == [])
        let set = try #require(loaded.value)
        #expect(set.buttons.map(\.name) == ["kitchen", "hall", "sofa", "desk"])
        #expect(set.rules.count == 7)
    }

    @Test("the simulated buttons of the demo are the buttons of its rules")
    func simulator() throws {
        let simulated = FileLoader.simulator(try Project.file("rules/simulator.yaml"))
        #expect(simulated.diagnostics == [])
        let rules = try #require(FileLoader.rules(try Project.file("rules/home.yaml"), in: LoadInputs()).value)
        let addresses = try #require(simulated.value).compactMap(\.address).map {
            DeclaredButton.Hardware.address(.init($0))
        }
        #expect(addresses == rules.buttons.map(\.hardware))
    }

    @Test("a whole house that uses all of the language loads without a word")
    func house() throws {
        let file = try Project.file("Tests/RuleLoaderTests/Examples/house.yaml")
        let environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: Array("ntfy_token: Bearer abc\n".utf8)),
            timeZones: ["Europe/Amsterdam": try Project.zone("Europe/Amsterdam")])
        let loaded = FileLoader.rules(file, in: environment)
        let report = DiagnosticReport(loaded.diagnostics, sources: [file.name: file.text])
        #expect(report.text() == "")
        let set = try #require(loaded.value)
        #expect(set.buttons.count == 9)
        #expect(set.rules.count == 17)
        #expect(set.scripts.map(\.name) == ["light", "all_off"])
        #expect(set.groups == ["bedroom": [2, 3]])
        #expect(set.timeZone.name == "Europe/Amsterdam")
        #expect(set.confidential == ["Bearer abc"])
    }
}
