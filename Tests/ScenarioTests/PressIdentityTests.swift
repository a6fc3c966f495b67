import Hub
import Simulator
import TestSupport
import Testing

@testable import ReplayCommands

/// `what-if` compares presses by what they are, because the times that are computed for them depend on the rules.
@Suite("The same press with other rules")
struct PressIdentityTests {
    /// Rules for clicks of the hall, and perhaps for another event of the same button.
    private static func rules(
        and other: String? = nil, actions: String = #"{log: "hall {{ trigger.event }}"}"#
    ) -> HouseRules {
        let more = other.map { "- {id: other, triggers: {button: hall, \($0)}, actions: {log: other}}" } ?? ""
        return HouseRules(
            """
            version: 1
            buttons: {hall: "80:E4:DA:00:00:02"}
            rules:
              - {id: hall, triggers: {button: hall, event: click}, actions: \(actions)}
              \(more)
            """)
    }

    private static func house(_ rules: HouseRules, _ presses: [SimulatedPress]) -> Household {
        var house = Household(rules: rules, history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for (number, press) in presses.enumerated() {
            house.press("hall", press)
            // The phase of the connection differs from press to press, and with it the delay on the radio.
            house.wait(.milliseconds(5000 + 7 * number))
        }
        return house
    }

    @Test(
        "clicks that are decided at another moment are the same clicks",
        arguments: ["event: hold", "event: double_click", "clicks: 3"], [false, true])
    func clicks(other: String, isReversed: Bool) throws {
        let sets = [Self.rules(and: other), Self.rules()]
        let house = Self.house(sets[isReversed ? 1 : 0], Array(repeating: .click, count: 10))
        let result = try HistoryScenarioTests.compare(house, with: sets[isReversed ? 0 : 1])
        #expect(result.differences == [])
        #expect(result.eventCount == 10)
    }

    @Test("without the rule for double clicks, exactly the presses of the double clicks differ")
    func doubleClicks() throws {
        let presses: [SimulatedPress] = [.click, .doubleClick, .click, .doubleClick, .click]
        let result = try HistoryScenarioTests.compare(
            Self.house(Self.rules(and: "event: double_click"), presses), with: Self.rules())
        let shown = result.differences.map { difference in
            "\(difference.event.name) \(difference.before.map(\.text)) \(difference.after.map(\.text))"
        }
        // In the order of the presses, of which the second one is the double click.
        let first = #"click [] ["info: hall click"]"#
        let second = [first, #"double_click ["info: other"] []"#]
        #expect(shown.count == 6)
        for place in [0, 3] where shown.count == 6 {
            #expect(shown[place] == first)
            #expect(Set(shown[(place + 1)..<(place + 3)]) == Set(second))
        }
        // Three clicks are the same, and a double click counts as it was and as two clicks.
        #expect(result.eventCount == 3 + 2 * 3)
    }

    @Test("two clicks that are decided at one moment are two clicks")
    func together() throws {
        // Two presses in half a second may become three, so both are decided when the pause after them is over.
        let house = Self.house(Self.rules(and: "clicks: 3"), [.doubleClick, .click])
        let result = try HistoryScenarioTests.compare(house, with: Self.rules())
        #expect(result.differences == [])
        #expect(result.eventCount == 3)
    }

    @Test("a hold after another time is another event, because the rules decide when a press becomes a hold")
    func holds() throws {
        func rules(_ time: String) -> HouseRules {
            HouseRules(
                """
                version: 1
                buttons: {hall: {address: "80:E4:DA:00:00:02", hold_after: \(time)}}
                rules:
                  - {id: hall, triggers: {button: hall, event: hold}, actions: {log: held}}
                """)
        }
        let house = Self.house(rules("1s"), [.hold, .hold])
        #expect(try HistoryScenarioTests.compare(house, with: rules("1s")).differences == [])
        let result = try HistoryScenarioTests.compare(house, with: rules("500ms"))
        let shown = result.differences.map { "\($0.event.name) \($0.before.map(\.text)) \($0.after.map(\.text))" }
        // The earlier hold comes first.
        let one = [#"hold [] ["info: held"]"#, #"hold ["info: held"] []"#]
        #expect(shown == one + one)
    }

    @Test(
        "a recorded result that comes later in a run is no difference, and a longer delay is one",
        arguments: ["{log: ended}, ", ""])
    func results(action: String) throws {
        func rules(_ other: String?, delay: String = "1s") -> HouseRules {
            Self.rules(and: other, actions: "[{run: [notify]}, \(action){delay: \(delay)}, {log: later}]")
        }
        let house = Self.house(rules("event: double_click"), Array(repeating: .click, count: 3))
        // Without the rule for double clicks, the program begins half a second before the recorded result.
        #expect(try HistoryScenarioTests.compare(house, with: rules(nil)).differences == [])
        let slower = try HistoryScenarioTests.compare(house, with: rules(nil, delay: "2s"))
        #expect(slower.differences.count == 3)
    }
}
