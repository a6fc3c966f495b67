import ButtonModel
import Hub
import JSON
import Simulator
import Testing

@Suite("A Duo, from the radio to the broker and to rules")
struct DuoScenarioTests {
    static let sofa = SimulatedButtonDescription(
        name: "sofa", address: BluetoothAddress("80:E4:DA:00:00:03"), serial: "DA01-D00042", isPublic: true, model: .duo
    )
    static let id = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0003))
    static let topic = "tryck/80e4da000003"

    static let rules: HouseRules = """
        version: 1
        buttons:
          sofa: {address: 80:E4:DA:00:00:03, model: duo}
        rules:
          - id: sofa_click
            triggers: {button: sofa, event: click}
            actions:
              - publish: {topic: lamp, payload: "{{ trigger.part }}"}
          - id: sofa_swipe
            triggers: {button: sofa, event: [swipe_left, swipe_right]}
            actions:
              - publish: {topic: music, payload: "{{ trigger.part }} {{ trigger.event }}"}
          - id: sofa_turn
            triggers: {button: sofa, event: [rotate_clockwise, rotate_counter_clockwise], part: small}
            actions:
              - publish: {topic: blinds, payload: "{{ trigger.steps }} {{ trigger.position }} {{ trigger.slot }}"}
        """

    static func house(seed: UInt64 = 1) -> Household {
        var house = Household([sofa], rules: rules, seed: seed)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test("a Duo is paired with its model")
    func pairing() {
        let house = DuoScenarioTests.house()
        #expect(house.store.state.buttons.map(\.identity.model) == [.duo])
        #expect(house.retained["tryck/bridge/devices"]?.contains(#""model":"Flic Duo""#) == true)
        #expect(house.retained[Self.topic]?.contains(#""positions":{"big":0,"small":0}"#) == true)
    }

    @Test("both buttons of a Duo have their own topics, and share one sequence of numbers")
    func parts() {
        var house = DuoScenarioTests.house()
        house.press("sofa", .click)
        house.wait(.seconds(2))
        house.move(.press(button: "sofa", .click, part: .small))
        house.wait(.seconds(2))
        #expect(house.payloads(on: "lamp") == ["big", "small"])
        #expect(house.payloads(on: Self.topic + "/action") == ["click"])
        #expect(house.payloads(on: Self.topic + "/small/action") == ["click"])
        let sequences = (house.payloads(on: Self.topic + "/event") + house.payloads(on: Self.topic + "/small/event"))
            .compactMap { try? JSONValue(parsing: Array($0.utf8))["seq"]?.integerValue }
        #expect(sequences == [3, 6])
        #expect(house.payloads(on: Self.topic + "/small/raw").allSatisfy { $0.hasSuffix(#""part":"small"}"#) })
        #expect(house.store.cursor(of: Self.id)?.smallEventCount ?? 0 > 0)
    }

    @Test("a swipe is not reported as a click", arguments: [ButtonPart.big, .small])
    func swipe(part: ButtonPart) {
        var house = DuoScenarioTests.house()
        house.move(.swipe(button: "sofa", .left, part: part))
        house.wait(.seconds(2))
        #expect(house.payloads(on: "lamp") == [])
        #expect(house.payloads(on: "music") == ["\(part.rawValue) swipe_left"])
        let topic = Self.topic + (part == .small ? "/small" : "")
        #expect(house.payloads(on: topic + "/action") == ["swipe_left"])
        #expect(house.payloads(on: topic + "/raw").count == 2)
    }

    @Test("swipes made out of reach arrive once, with their age, also if the daemon restarts in between")
    func stored() {
        var house = DuoScenarioTests.house()
        house.reach("sofa", false)
        house.wait(.seconds(30))
        house.move(.swipe(button: "sofa", .right, part: .small))
        house.wait(.seconds(1))
        house.crash()
        house.reach("sofa", true)
        house.move(.swipe(button: "sofa", .left, part: .big))
        house.wait(.seconds(5))
        #expect(house.payloads(on: "music") == ["small swipe_right", "big swipe_left"])
        let late = house.payloads(on: Self.topic + "/small/event").joined()
        #expect(late.contains(#""queued":true"#) && !late.contains(#""age_ms":0,"#))
        house.crash()
        house.wait(.seconds(10))
        #expect(house.payloads(on: "music").count == 2)
        #expect(house.interruptedRuns == [])
    }

    @Test("a dial that is turned while pressed has a position, which survives a restart and a lost link")
    func turns() {
        var house = DuoScenarioTests.house()
        house.move(.pushTurn(button: "sofa", hundredths: 25, part: .small))
        house.wait(.seconds(3))
        #expect(house.payloads(on: "blinds") == ["25 25 0"])
        #expect(house.payloads(on: Self.topic + "/small/action").contains("rotate_clockwise"))
        #expect(house.retained[Self.topic]?.contains(#""positions":{"big":0,"small":25}"#) == true)
        house.crash()
        house.wait(.seconds(10))
        #expect(house.retained[Self.topic]?.contains(#""positions":{"big":0,"small":25}"#) == true)
        house.breakButton("sofa", .dropLink)
        house.wait(.seconds(10))
        house.forgetWhatHappened()
        house.press("sofa", .click)
        house.wait(.seconds(3))
        house.move(.pushTurn(button: "sofa", hundredths: -10, part: .small))
        house.wait(.seconds(3))
        #expect(house.payloads(on: "blinds") == ["-10 15 0"])
    }
}
