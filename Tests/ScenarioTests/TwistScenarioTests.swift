import ButtonModel
import Hub
import JSON
import Simulator
import Testing

@Suite("A Twist, from the radio to the broker and to rules")
struct TwistScenarioTests {
    static let desk = SimulatedButtonDescription(
        name: "desk", address: BluetoothAddress("80:E4:DA:00:00:04"), serial: "TA01-T00007", isPublic: true,
        model: .twist)
    static let id = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0004))
    static let topic = "tryck/80e4da000004"

    static let rules: HouseRules = """
        version: 1
        buttons:
          desk: {address: 80:E4:DA:00:00:04, model: twist}
        rules:
          - id: desk_volume
            triggers: {button: desk, event: [rotate_clockwise, rotate_counter_clockwise], part: dial, collect: 300ms}
            actions:
              - publish: {topic: volume, payload: "{{ trigger.steps }} {{ trigger.position }} {{ trigger.slot }}"}
          - id: desk_scene
            triggers: {button: desk, event: [rotate_clockwise, rotate_counter_clockwise], part: push}
            actions:
              - publish: {topic: scene, payload: "{{ trigger.slot }}"}
          - id: desk_click
            triggers: {button: desk, event: click}
            actions:
              - publish: {topic: lamp, payload: TOGGLE}
        """

    static func house(seed: UInt64 = 1, prefix: String? = nil) -> Household {
        var house = Household([desk], rules: rules, seed: seed, discoveryPrefix: prefix)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    private func position(_ dial: String, in house: Household) -> Int64? {
        let state = house.retained[Self.topic].flatMap { try? JSONValue(parsing: Array($0.utf8)) }
        return state?["positions"]?[dial]?.integerValue
    }

    @Test("a Twist is paired with its model, and announced with its dials")
    func pairing() throws {
        let house = TwistScenarioTests.house(prefix: "homeassistant")
        #expect(house.store.state.buttons.map(\.identity.model) == [.twist])
        let config = try #require(house.retained["homeassistant/device/tryck_80e4da000004/config"])
        let components = try #require(try JSONValue(parsing: Array(config.utf8))["components"])
        #expect(components["position_free"]?["enabled_by_default"] == true)
        #expect(components["position_slot_12"]?["platform"] == "number")
        #expect(
            components["event"]?["event_types"]?.arrayValue?.suffix(2) == [
                "rotate_clockwise", "rotate_counter_clockwise",
            ])
        #expect(components["event_small"] == nil)
    }

    @Test("a press of a Twist is a press without a part")
    func press() {
        var house = TwistScenarioTests.house()
        house.press("desk", .click)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "lamp") == ["TOGGLE"])
        #expect(house.payloads(on: Self.topic + "/action") == ["click"])
        #expect(house.payloads(on: Self.topic + "/event").allSatisfy { !$0.contains("part") })
    }

    @Test(
        "a click that may become a turn waits for the end of the press, and other clicks do not",
        arguments: ["push", "dial"])
    func clickAlone(turned part: String) {
        let rules = HouseRules(
            """
            version: 1
            buttons:
              desk: {address: 80:E4:DA:00:00:04, model: twist}
            rules:
              - id: desk_click
                triggers: {button: desk, event: click}
                actions:
                  - publish: {topic: lamp, payload: TOGGLE}
              - id: desk_turn
                triggers: {button: desk, event: rotate_clockwise, part: \(part)}
                actions:
                  - log: turned
            """)
        var house = Household([Self.desk], rules: rules, seed: 1)
        house.pairAll()
        house.press("desk", .down)
        house.wait(.milliseconds(500))
        #expect(house.payloads(on: "lamp") == (part == "push" ? [] : ["TOGGLE"]))
        house.press("desk", .up)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "lamp") == ["TOGGLE"])
    }

    @Test("a turn is published once, and each rule gets it after its own collection time")
    func turn() {
        var house = TwistScenarioTests.house()
        house.move(.turn(button: "desk", hundredths: 40))
        house.wait(.seconds(1))
        #expect(house.payloads(on: "volume") == ["40 40 1"])
        #expect(house.payloads(on: Self.topic + "/action") == ["rotate_clockwise"])
        #expect(house.payloads(on: Self.topic + "/event").count == 1)
        #expect(
            house.payloads(on: Self.topic + "/event").first?.hasSuffix(
                #""part":"dial","steps":40,"position":40,"slot":1}"#) == true)
        #expect(position("slot_1", in: house) == 40)
        #expect(house.store.state.buttons.first?.dials[.slot(1)] == Dial.units(percentage: 40))
    }

    @Test("a turn while pressed changes the slot")
    func push() {
        var house = TwistScenarioTests.house()
        house.move(.pushTurn(button: "desk", hundredths: 30))
        house.wait(.seconds(2))
        #expect(house.payloads(on: "volume") == [])
        #expect(house.payloads(on: "scene") == ["4"])
        #expect(house.payloads(on: "lamp") == [])
    }

    @Test("dial positions survive a restart and a lost link, and can be set")
    func positions() {
        var house = TwistScenarioTests.house()
        house.move(.turn(button: "desk", hundredths: 40))
        house.wait(.seconds(1))
        house.crash()
        house.wait(.seconds(10))
        #expect(position("slot_1", in: house) == 40)
        house.say(#"{"positions":{"slot_1":75},"led_mode":"point"}"#, on: Self.topic + "/set")
        house.wait(.seconds(2))
        #expect(position("slot_1", in: house) == 75)
        #expect(house.store.state.buttons.map(\.settings.ledMode) == [.point])
        #expect(house.store.state.buttons.first?.dials[.slot(1)] == Dial.units(percentage: 75))
        house.breakButton("desk", .dropLink)
        house.wait(.seconds(10))
        house.press("desk", .click)
        house.wait(.seconds(3))
        house.forgetWhatHappened()
        house.move(.turn(button: "desk", hundredths: -10))
        house.wait(.seconds(1))
        #expect(house.payloads(on: "volume") == ["-10 65 1"])
    }

    @Test("continuous turning causes a bounded number of records, and no sync")
    func writes() {
        var house = TwistScenarioTests.house()
        for _ in 0..<100 {
            house.move(.turn(button: "desk", hundredths: 1))
            house.wait(.milliseconds(20))
        }
        house.wait(.seconds(2))
        #expect(house.journal.count { $0 == "record" } <= 50)
        #expect(!house.journal.contains("sync"))
        #expect(position("slot_1", in: house) == 100)
    }

    @Test(
        "a position or LED mode that does not exist is refused",
        arguments: [
            #"{"positions":{"slot_13":1}}"#, #"{"positions":{"big":1}}"#, #"{"positions":{"slot_1":101}}"#,
            #"{"positions":{"slot_1":"x"}}"#, #"{"positions":{}}"#, #"{"led_mode":"disco"}"#,
            #"{"latency_mode":"low"}"#, #"{"auto_disconnect_time":60}"#,
        ])
    func refused(payload: String) {
        var house = TwistScenarioTests.house()
        house.say(payload, on: Self.topic + "/set")
        house.wait(.seconds(1))
        #expect(house.logged.contains { $0.contains(Self.topic + "/set") })
        #expect(position("slot_1", in: house) == 0)
    }

    @Test(
        "an option that a Twist does not have is refused, and the error lists its options",
        arguments: [#"{"latency_mode":"low"}"#, #"{"auto_disconnect_time":null}"#])
    func refusedHere(options: String) {
        var house = TwistScenarioTests.house()
        house.ask(#"{"request":"button/options","data":{"id":"desk","options":\#(options)}}"#)
        let sentence = house.responses.last?["error"]?.stringValue ?? ""
        #expect(sentence.hasPrefix("a Flic Twist has no option "))
        #expect(sentence.hasSuffix("it has trigger_mode, nickname, led_mode, positions"))
        #expect(house.store.state.buttons.first?.settings.latencyMode == .normal)
        house.ask(#"{"request":"button","data":{"id":"desk"}}"#)
        #expect(house.data["latency_mode"] == .null)
    }

    @Test("a rule that declares a Twist as a Flic 2 is logged once, and is in the status until it is corrected")
    func wrongModel() {
        let rules: HouseRules = """
            version: 1
            buttons:
              desk: 80:E4:DA:00:00:04
            rules:
              - id: desk_click
                triggers: {button: desk, event: click}
                actions: {log: a}
            """
        var house = Household([Self.desk], rules: rules)
        house.pairAll()
        house.ask(#"{"request":"button/options","data":{"id":"desk","options":{"nickname":"lamp"}}}"#)
        house.wait(.seconds(1))
        #expect(house.logged.count { $0.contains("write model: twist") } == 1)
        house.ask(#"{"request":"status"}"#)
        let sentences = house.data["rules"]?["contradictions"]?.arrayValue ?? []
        #expect(sentences.count == 1 && sentences.first?.stringValue?.contains("write model: twist") == true)
        house.rulesOnDisk = Self.rules
        house.tell(.reloadRules)
        house.ask(#"{"request":"status"}"#)
        #expect(house.data["rules"]?["contradictions"] == [])
    }

    @Test(
        "a rule whose own button selector waits for an event that the model does not have is logged",
        arguments: [
            ("event: swipe_left", "waits for swipe_left of TA01-T00007, which a twist does not have"),
            ("event: click, part: small", "waits for part small of TA01-T00007, which a twist does not have"),
            ("event: rotate_clockwise, part: push", nil), ("event: hold", nil),
        ])
    func impossible(trigger: String, sentence: String?) {
        let rules: HouseRules = .init(
            """
            version: 1
            rules:
              - id: desk_other
                triggers: {button: {address: 80:E4:DA:00:00:04}, \(trigger)}
                actions: {log: a}
            """)
        var house = Household([Self.desk], rules: rules)
        house.pairAll()
        house.ask(#"{"request":"status"}"#)
        let sentences = house.data["rules"]?["contradictions"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(sentences.count == (sentence == nil ? 0 : 1))
        if let sentence { #expect(sentences.first?.hasPrefix("rule \"desk_other\" " + sentence) == true) }
    }
}
