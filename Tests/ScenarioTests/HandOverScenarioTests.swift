import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import Testing

@Suite("Several presses and messages in one turn")
struct HandOverScenarioTests {
    private static func house(_ rules: HouseRules) -> Household {
        var house = Household([Household.kitchen], rules: rules)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    private static let clicks: HouseRules = """
        version: 1
        rules:
          - {id: once, triggers: {button: any, event: click}, actions: {publish: {topic: once}}}
          - {id: thrice, triggers: {button: any, clicks: 3}, actions: {publish: {topic: thrice}}}
        """

    @Test("two clicks that are recognised at once both run a rule that sends a message")
    func decidedTogether() {
        var house = Self.house(Self.clicks)
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "once").count == 2)
        #expect(house.store.state.runs.isEmpty)
    }

    @Test("stored presses in one notification each run a rule that sends a message")
    func storedTogether() {
        var house = Self.house(
            """
            version: 1
            defaults: {queued: accept}
            rules: [{id: each, triggers: {button: any, event: down}, actions: {publish: {topic: each}}}]
            """)
        house.reach("kitchen", false)
        house.wait(.seconds(20))
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(1))
        }
        house.reach("kitchen", true)
        house.wait(.seconds(20))
        #expect(house.payloads(on: "each").count == 3)
    }

    @Test("the runs that start in a turn are recorded before any of their messages is published")
    func recordedFirst() throws {
        var house = Self.house(Self.clicks)
        house.press("kitchen", .doubleClick)
        house.wait(.milliseconds(200))
        house.forgetWhatHappened()
        house.wait(.seconds(3))
        let journal = house.journal.filter { $0 == "record" || $0 == "publish once" }
        let first = try #require(journal.firstIndex(of: "publish once"))
        #expect(first > 0 && journal[first...].prefix(2) == ["publish once", "publish once"])
    }

    @Test("a process that dies before a message of a finished run is written reports the run as interrupted")
    func notWritten() {
        var house = Self.house(Self.clicks)
        house.writesAreSlow = true
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "once").count == 1)
        #expect(house.store.state.runs.count == 1)
        house.writesAreSlow = false
        house.crash()
        house.wait(.seconds(3))
        #expect(house.interruptedRuns.count == 1)
        #expect(house.store.state.runs.isEmpty)
    }

    @Test("a run is resumed if its earlier message was written, and otherwise reported as interrupted")
    func resumed() {
        for isWritten in [false, true] {
            var house = Self.house(
                """
                version: 1
                rules:
                  - {id: one, on_restart: resume, triggers: {button: any, event: down}, actions: [{publish: {topic: one}}, {delay: 10s}, {publish: {topic: two}}]}
                """)
            house.writesAreSlow = true
            house.press("kitchen", .click)
            house.wait(.seconds(2))
            #expect(house.store.state.rules.waitingRuns.isEmpty)
            house.writesAreSlow = false
            if isWritten {
                house.acknowledge()
                #expect(house.store.state.rules.waitingRuns.count == 1)
            }
            house.crash()
            house.wait(.seconds(20))
            #expect(house.interruptedRuns.count == (isWritten ? 0 : 1))
            #expect(house.payloads(on: "two").count == (isWritten ? 1 : 0))
            #expect(house.store.state.runs.isEmpty && house.store.state.rules.waitingRuns.isEmpty)
        }
    }

    @Test("a message that was handed to the broker client and then lost with the connection is logged")
    func lostAfterwards() {
        var house = Self.house(Self.clicks)
        house.writesAreSlow = true
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.loseBroker()
        #expect(house.logged.contains { $0.hasPrefix("rule once: R824 the message on once may not have been sent: ") })
        #expect(house.store.state.runs.isEmpty)
        #expect(house.hub.underway.runs == 0)
    }

    @Test("messages that waited for the broker are published before messages of runs that waited for it")
    func waitedFirst() {
        var house = Self.house(
            """
            version: 1
            rules:
              - {id: one, triggers: {button: any, event: down}, actions: [{publish: {topic: out, payload: first, max_age: 60s}}]}
              - {id: two, triggers: {button: any, event: down}, actions: [{wait: {until: broker.connected, timeout: 60s}}, {publish: {topic: out, payload: second}}]}
            """)
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.bringBrokerBack()
        #expect(house.payloads(on: "out") == ["first", "second"])
    }
}
