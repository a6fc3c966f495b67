import ButtonModel
import RuleLoader
import Rules
import Testing

@Suite("The example files")
struct ExampleTests {
    @Test("the rules of the demo load without a word")
    func rules() throws {
        let loaded = RuleLoader.rules(try Project.file("rules/home.yaml"), in: LoadEnvironment())
        #expect(loaded.diagnostics == [])
        let set = try #require(loaded.value)
        #expect(set.buttons.map(\.name) == ["kitchen", "hall"])
        #expect(set.rules.count == 5)
    }

    @Test("the simulated buttons of the demo are the buttons of its rules")
    func simulator() throws {
        let simulated = RuleLoader.simulator(try Project.file("rules/simulator.yaml"))
        #expect(simulated.diagnostics == [])
        let rules = try #require(RuleLoader.rules(try Project.file("rules/home.yaml"), in: LoadEnvironment()).value)
        let addresses = try #require(simulated.value).compactMap(\.address).map {
            DeclaredButton.Hardware.address(.init($0))
        }
        #expect(addresses == rules.buttons.map(\.hardware))
    }
}
