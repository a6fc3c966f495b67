import JSON
import Simulator
import Testing

@testable import Hub

@Suite("The lines about messages name the run")
struct MessageRunsScenarioTests {
    /// The first message goes to a topic that looks like one of the daemon's own.
    private static let rules = HouseRules(
        """
        version: 1
        location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
        buttons: {kitchen: "80:E4:DA:00:00:01"}
        rules:
          - id: slow
            mode: parallel
            triggers: {button: kitchen, event: click}
            actions:
              - publish: {topic: my/lamp/action, payload: '{"event_type":"x"}'}
              - delay: 4s
              - publish: {topic: slow/second, payload: two}
          - id: quick
            triggers: {button: kitchen, event: click}
            actions: {publish: {topic: quick, payload: one}}
        """)

    @Test("messages of runs that overlap name their rule and run, those about presses name none")
    func overlap() throws {
        var house = Household(rules: Self.rules, isWitnessed: true)
        house.pairAll()
        for _ in 0..<2 {
            house.press("kitchen", .click)
            house.wait(.seconds(2))
        }
        house.wait(.seconds(10))
        let messages = house.told.filter { $0["kind"] == "publish" }
        func runs(_ topic: String) -> [Int64?] {
            messages.filter { $0["topic"] == .string(topic) }.map { $0["run"]?.integerValue }
        }
        let started = house.told.filter { $0["rule"] == "slow" && $0["outcome"] == "started" }
            .map { $0["run"]?.integerValue }
        #expect(started.count == 2 && !started.contains(nil))
        #expect(runs("my/lamp/action") == started)
        #expect(runs("slow/second") == started)
        #expect(messages.filter { $0["topic"] == "quick" }.allSatisfy { $0["rule"] == "quick" })
        let reports = messages.filter { $0["topic"]?.stringValue?.hasPrefix("tryck/") == true }
        #expect(!reports.isEmpty && reports.allSatisfy { $0["rule"] == nil && $0["run"] == nil })
    }
}
