import ButtonModel
import Flic
import JSON
import Simulator
import Testing

/// A button that is out of reach keeps sixteen events, and pushes the oldest out for new ones.
@Suite("Presses that a button could not keep")
struct MissedPressScenarioTests {
    private static func house(_ button: SimulatedButtonDescription, hasMetrics: Bool = false) -> Household {
        var house = Household(
            [button],
            rules: """
                version: 1
                rules:
                  - {id: seen, triggers: {button: any, event: click}, actions: {log: clicked}}
                """, hasMetrics: hasMetrics)
        house.pairAll()
        press(button, 1, in: &house)
        house.forgetWhatHappened()
        return house
    }

    private static func press(_ button: SimulatedButtonDescription, _ count: Int, in house: inout Household) {
        for _ in 0..<count {
            house.press(button.name, .click)
            house.wait(.seconds(3))
            guard button.model == .duo else { continue }
            house.move(.press(button: button.name, .click, part: .small))
            house.wait(.seconds(3))
        }
    }

    private static func leave(
        _ button: SimulatedButtonDescription, in house: inout Household, during happenings: (inout Household) -> Void
    ) {
        house.reach(button.name, false)
        house.wait(.seconds(20))
        happenings(&house)
        house.reach(button.name, true)
        press(button, 1, in: &house)
        house.wait(.seconds(30))
    }

    private static func reports(_ house: Household) -> [String] {
        house.logged.filter { $0.contains("never arrived") }.compactMap { line in
            line.split(separator: ". ").first.map(String.init)
        }
    }

    private static func missed(_ house: inout Household) -> Int64? {
        house.ask(#"{"request":"buttons"}"#)
        return house.responses.last?["data"]?.arrayValue?[0]["missed_presses"]?.integerValue
    }

    // The simulated buttons report a click in three events, so there is room for five clicks and an event. The press after which the
    // button is back in reach pushes events out, too.
    @Test(
        "their number is in the log, the answers and the button's topic",
        arguments: [(Household.kitchen, 10, 5), (Story.desk, 10, 5), (Story.sofa, 5, 5)])
    func reported(button: SimulatedButtonDescription, presses: Int, missing: Int64) throws {
        var house = Self.house(button, hasMetrics: true)
        #expect(Self.missed(&house) == nil)
        var kept: EventSnapshot?
        Self.leave(button, in: &house) {
            Self.press(button, presses, in: &$0)
            kept = $0.world.eventSnapshot(of: button.name)
        }
        let stored = (kept?.stored ?? []) + (kept?.smallStored ?? [])
        #expect(stored.count == 16)
        let counted = try #require(Self.missed(&house))
        #expect(counted == missing)
        #expect(!Self.reports(house).isEmpty)
        let id = ButtonID(button.wantedAddress)
        #expect(house.retained["tryck/\(id)"]?.contains(#""missed_presses":\#(counted)"#) == true)
        let samples = (house.metrics.last?.text ?? "").split(separator: "\n")
        #expect(samples.contains { $0.hasPrefix("tryck_button_missed_presses_total{") && $0.hasSuffix(" \(counted)") })
        #expect(house.violations == [])
        // Nothing is missing from now on, also after a restart, which forgets the number.
        house.forgetWhatHappened()
        Self.press(button, 2, in: &house)
        house.crash()
        Self.press(button, 2, in: &house)
        #expect(Self.reports(house) == [])
        #expect(Self.missed(&house) == nil)
    }

    @Test("presses for which the button has room are not missing, and neither are those after its battery was changed")
    func complete() {
        var house = Self.house(Household.kitchen)
        Self.leave(Household.kitchen, in: &house) { Self.press(Household.kitchen, 4, in: &$0) }
        Self.leave(Household.kitchen, in: &house) {
            Self.press(Household.kitchen, 20, in: &$0)
            $0.breakButton("kitchen", .reboot)
            Self.press(Household.kitchen, 3, in: &$0)
        }
        #expect(Self.reports(house) == [])
        #expect(Self.missed(&house) == nil)
        // The new battery lasts for more presses than the button can keep.
        Self.leave(Household.kitchen, in: &house) {
            $0.breakButton("kitchen", .reboot)
            Self.press(Household.kitchen, 10, in: &$0)
        }
        #expect(Self.missed(&house) == 5)
    }

    @Test("presses while the daemon does not run are missing, too, and those that a rule saw are not")
    func stopped() {
        var house = Self.house(Household.kitchen)
        house.reach("kitchen", false)
        house.wait(.seconds(20))
        Self.press(Household.kitchen, 10, in: &house)
        house.crash(for: .seconds(60))
        house.reach("kitchen", true)
        Self.press(Household.kitchen, 1, in: &house)
        house.wait(.seconds(30))
        #expect(Self.missed(&house) == 5)
        #expect(house.violations == [])
    }
}
