import ButtonModel
import Flic
import Hub
import MQTTTopics
import Simulator
import TestSupport
import Testing

/// A button deletes the events that the init request of a new session covers. So that request may cover only events
/// that are on the disk, and events that were already delivered, on whatever link, must not be handled again.
@Suite("Delivered events that are not on the disk yet")
struct DeliveryScenarioTests {
    private static let rules: HouseRules = """
        version: 1
        defaults: {queued: accept}
        rules:
          - id: count
            mode: parallel
            triggers: {button: any, event: click}
            actions: [{publish: {topic: out, payload: "{{ trigger.button }}"}}]
        """

    private static let houses = [Household.kitchen, Story.sofa, Story.desk]

    private static func house(_ button: SimulatedButtonDescription) -> Household {
        var house = Household([button], rules: rules)
        house.pairAll()
        // The events after the pairing are on the disk, and acknowledged.
        press(button, in: &house)
        house.forgetWhatHappened()
        return house
    }

    /// A Duo is pressed on both of its buttons.
    private static func press(_ button: SimulatedButtonDescription, in house: inout Household) {
        house.press(button.name, .click)
        house.wait(.seconds(3))
        guard button.model == .duo else { return }
        house.move(.press(button: button.name, .click, part: .small))
        house.wait(.seconds(3))
    }

    private static func kept(_ button: SimulatedButtonDescription, in house: Household) -> Int {
        let memory = house.world.eventSnapshot(of: button.name)
        return (memory?.stored.count ?? 0) + (memory?.smallStored.count ?? 0)
    }

    private static func presses(_ button: SimulatedButtonDescription) -> Int { button.model == .duo ? 2 : 1 }

    private static func state(of button: SimulatedButtonDescription, in house: Household) -> String {
        house.retained["tryck/\(ButtonID(button.wantedAddress))"] ?? ""
    }

    @Test(
        "presses during a full disk, a new link and a power failure are each counted once",
        arguments: houses)
    func fullDisk(button: SimulatedButtonDescription) {
        var house = Self.house(button)
        let before = house.synced.state.buttons.map(\.pressCount)
        // With the reserve in memory presses are handled, and not acknowledged.
        (house.diskIsFull, house.refuge) = (true, .memory)
        Self.press(button, in: &house)
        #expect(house.payloads(on: "out").count == Self.presses(button))
        let kept = Self.kept(button, in: house)
        #expect(kept > 0)
        house.breakButton(button.name, .dropLink)
        house.wait(.seconds(20))
        #expect(Self.state(of: button, in: house).contains(#""state":"ready""#))
        // The button has sent its events again, and they were not handled again.
        #expect(house.payloads(on: "out").count == Self.presses(button))
        #expect(Self.kept(button, in: house) == kept)
        house.diskIsFull = false
        house.cutPower(for: .seconds(10))
        house.wait(.seconds(5))
        Self.press(button, in: &house)
        house.wait(.seconds(30))
        let presses = Int64(2 * Self.presses(button))
        #expect(house.synced.state.buttons.map(\.pressCount.value) == before.map { $0.value + presses })
        #expect(Self.kept(button, in: house) == 0)
        #expect(house.violations == [])
    }

    @Test(
        "a sync that ends on a new link acknowledges the events of both links", arguments: houses)
    func lateSync(button: SimulatedButtonDescription) {
        var house = Self.house(button)
        house.syncsAreSlow = true
        Self.press(button, in: &house)
        let kept = Self.kept(button, in: house)
        house.breakButton(button.name, .dropLink)
        house.wait(.seconds(20))
        #expect(Self.state(of: button, in: house).contains(#""state":"ready""#))
        #expect(Self.kept(button, in: house) == kept)
        house.syncsAreSlow = false
        house.finishSyncs()
        house.wait(.seconds(1))
        #expect(Self.kept(button, in: house) == 0)
        #expect(house.payloads(on: "out").count == Self.presses(button))
        #expect(house.violations == [])
    }

    @Test("a sync that ends without a link is acknowledged by the next session's init", arguments: houses)
    func syncWithoutLink(button: SimulatedButtonDescription) {
        var house = Self.house(button)
        house.syncsAreSlow = true
        Self.press(button, in: &house)
        house.reach(button.name, false)
        house.wait(.seconds(20))
        house.syncsAreSlow = false
        house.finishSyncs()
        #expect(Self.kept(button, in: house) > 0)
        house.reach(button.name, true)
        house.wait(.seconds(20))
        #expect(Self.state(of: button, in: house).contains(#""state":"ready""#))
        #expect(Self.kept(button, in: house) == 0)
        #expect(house.payloads(on: "out").count == Self.presses(button))
    }

    @Test("a second session on the same link covers only the events that are on the disk", arguments: houses)
    func sameLink(button: SimulatedButtonDescription) {
        var house = Self.house(button)
        house.diskIsFull = true
        Self.press(button, in: &house)
        let kept = Self.kept(button, in: house)
        house.breakButton(button.name, .wrongSignature)
        Self.press(button, in: &house)
        house.wait(.seconds(20))
        #expect(Self.state(of: button, in: house).contains(#""state":"ready""#))
        #expect(Self.kept(button, in: house) == 2 * kept)
        #expect(house.payloads(on: "out").count == 2 * Self.presses(button))
    }
}
