import ButtonModel
import Hub
import Simulator
import TestSupport
import Testing

@Suite("A Duo, from the radio to the broker")
struct DuoScenarioTests {
    private static let sofa = SimulatedButtonDescription(
        name: "sofa", address: BluetoothAddress("80:E4:DA:00:00:03"), model: .duo)

    private static let rules: HouseRules = """
        version: 1
        buttons:
          sofa: {address: "80:E4:DA:00:00:03", model: duo}
        rules:
          - id: lamp
            triggers: {button: sofa, event: click, part: big}
            actions:
              - publish: {topic: lamp, payload: TOGGLE}
          - id: radio
            triggers: {button: sofa, event: click, part: small}
            actions:
              - publish: {topic: radio, payload: TOGGLE}
          - id: next
            triggers: {button: sofa, event: swipe_right}
            actions:
              - publish: {topic: music, payload: next}
          - id: louder
            triggers: {button: sofa, event: rotate_clockwise}
            actions:
              - publish: {topic: volume, payload: "${trigger.position}"}
        """

    private static func house() -> Household {
        var house = Household([sofa], rules: rules)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test("each of its buttons runs its own rule, a swipe is no click, and a turn has a position")
    func everything() {
        var house = Self.house()
        house.move(.press(button: "sofa", .click, part: .small))
        house.wait(.seconds(3))
        #expect(house.payloads(on: "radio") == ["TOGGLE"] && house.payloads(on: "lamp").isEmpty)
        house.press("sofa", .click)
        house.wait(.seconds(3))
        house.move(.swipe(button: "sofa", .right, part: .small))
        house.wait(.seconds(3))
        #expect(house.payloads(on: "lamp") == ["TOGGLE"] && house.payloads(on: "radio") == ["TOGGLE"])
        #expect(house.payloads(on: "music") == ["next"])
        house.move(.pushTurn(button: "sofa", hundredths: 40))
        house.wait(.seconds(3))
        #expect(house.payloads(on: "volume") == ["40"])
        #expect(house.world.violations.isEmpty)
    }

    @Test("presses of both from before a crash of the program arrive once, each at its own rule")
    func crash() {
        var house = Self.house()
        house.move(.setReachable(button: "sofa", false))
        house.wait(.seconds(20))
        for part in [ButtonPart.small, .big] { house.move(.press(button: "sofa", .click, part: part)) }
        house.wait(.seconds(5))
        house.move(.setReachable(button: "sofa", true))
        house.wait(.seconds(20))
        house.crash()
        house.press("sofa", .click)
        house.wait(.seconds(20))
        #expect(house.payloads(on: "radio").count == 1)
        #expect(house.store.state.buttons.map(\.cursor.smallEventCount) == [4])
        #expect(house.store.state.buttons.map(\.cursor.eventCount) == [8])
    }
}
