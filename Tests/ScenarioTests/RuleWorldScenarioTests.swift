import ButtonModel
import Hub
import JSON
import RuleTesting
import Rules
import Simulator
import Testing

@Suite("Rules between the radio and the broker")
struct RuleWorldScenarioTests {
    private static func house(
        _ rules: HouseRules, _ buttons: [SimulatedButtonDescription] = [Household.kitchen, Household.hall]
    ) -> Household {
        var house = Household(buttons, rules: rules)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    private static let action = "tryck/80e4da000001/action"

    // MARK: The broker

    private static let publishing: HouseRules = """
        version: 1
        rules:
          - id: one
            triggers: {button: any, event: down}
            actions:
              - publish: {topic: out, payload: x, qos: 1, max_age: 5s}
                timeout: 3s
              - publish: {topic: done}
            on_error: {run: [complain, "{{ error.code }}", "{{ error.message }}"]}
        """

    @Test("a message that waits longer than its time to live fails its step at that time")
    func away() {
        var house = Self.house(Self.publishing)
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.milliseconds(4800))
        #expect(house.started.isEmpty)
        house.wait(.milliseconds(400))
        #expect(house.started.first?.arguments == ["complain", "R824", "the broker was disconnected for too long"])
        house.bringBrokerBack()
        #expect(house.payloads(on: "out").isEmpty)
    }

    @Test(
        "after an outage, messages go to the broker in the same order as in a test in a rule file",
        arguments: [0, 1], [0, 1])
    func orderAfterOutage(one: Int, two: Int) {
        let text = """
            version: 1
            buttons: {kitchen: {address: "80:E4:DA:00:00:01"}}
            rules:
              - id: waits
                triggers: {button: kitchen, event: down}
                actions: [{wait: {until: broker.connected, timeout: 1m}}, {publish: {topic: out, payload: w1}}]
              - id: one
                triggers: {button: kitchen, event: down}
                actions:
                  - publish: {topic: out, payload: a1, qos: \(one)}
                  - publish: {topic: out, payload: a2}
                  - publish: {topic: out, payload: a3, qos: \(one)}
              - id: two
                triggers: {button: kitchen, event: down}
                actions:
                  - publish: {topic: out, payload: b1, qos: \(two)}
                  - publish: {topic: out, payload: b2, qos: \(two)}
                  - publish: {topic: out, payload: b3}

            """
        var house = Self.house(HouseRules(text))
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        house.bringBrokerBack()
        let sent = house.payloads(on: "out")
        #expect(sent.count == 7)
        let effects = sent.map { "{publish: {payload: \($0)}}" }.joined(separator: ", ")
        let tested = HouseRules(
            text + """
                tests:
                  - name: the same
                    given: {broker: offline}
                    steps:
                      - press: {button: kitchen}
                      - broker: online
                      - expect: [\(effects)]

                """)
        let failures = RuleTestRunner.run(tested.set).failures
        #expect(failures.isEmpty, "\(failures.first?.failure?.text(of: "the same") ?? "")")
    }

    @Test("the time limit of a message that waited begins when it is handed to the broker client")
    func handedOver() {
        var house = Self.house(Self.publishing)
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(4))
        house.brokerIsSilent = true
        house.bringBrokerBack()
        house.wait(.milliseconds(2900))
        #expect(house.payloads(on: "out") == ["x"])
        #expect(house.started.isEmpty)
        house.wait(.milliseconds(200))
        #expect(house.started.first?.arguments == ["complain", "R821", "publish did not finish within 3s"])
        #expect(house.payloads(on: "done").isEmpty)
    }

    @Test("a message that was given up while it waited is not sent later")
    func givenUp() {
        var house = Self.house(
            """
            version: 1
            rules:
              - {id: one, triggers: {button: any, event: down}, mode: restart, actions: {publish: {topic: out, max_age: 1m}}}
            """)
        house.loseBroker()
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(1))
        }
        house.bringBrokerBack()
        #expect(house.payloads(on: "out").count == 1)
        #expect(house.store.state.runs.isEmpty)
    }

    @Test("states are read from retained and other messages, and a wait for a state ends when it changes")
    func states() {
        var house = Self.house(
            """
            version: 1
            states:
              door: {topic: home/door, max_age: 1m}
            rules:
              - id: open
                triggers: {button: any, event: down}
                conditions: states.door == 'closed'
                actions:
                  - publish: {topic: home/door/set, payload: open}
                  - wait: {until: "states.door == 'open'", timeout: 20s}
                  - run: [welcome]
                on_error: {run: [stuck]}
            """)
        #expect(house.subscriptions.contains("home/door"))
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "home/door/set").isEmpty)
        house.tell(.messageReceived(topicName: "home/door", payload: Array("closed".utf8), retained: true))
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(house.payloads(on: "home/door/set") == ["open"])
        #expect(house.started.isEmpty)
        house.say("open", on: "home/door")
        #expect(house.started.map(\.arguments) == [["welcome"]])
        house.say("closed", on: "home/door")
        house.press("kitchen", .click)
        house.wait(.seconds(21))
        #expect(house.started.last?.arguments == ["stuck"])
        house.wait(.seconds(60))
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "home/door/set").count == 2)
    }

    // MARK: The radio

    @Test("a button that goes out of reach and returns is an event each time, except at the start")
    func links() {
        let rules: HouseRules = """
            version: 1
            rules:
              - id: link
                triggers: {button: any, event: [connected, disconnected]}
                mode: parallel
                actions: {publish: {topic: link, payload: "{{ trigger.event }}"}}
            """
        var house = Self.house(rules, [Household.kitchen])
        house.crash()
        house.wait(.seconds(10))
        #expect(house.payloads(on: "link") == [])
        house.reach("kitchen", false)
        house.wait(.seconds(60))
        #expect(house.payloads(on: "link") == ["disconnected"])
        house.reach("kitchen", true)
        house.wait(.seconds(60))
        #expect(house.payloads(on: "link") == ["disconnected", "connected"])
    }

    @Test("a low battery is an event")
    func battery() {
        var weak = Household.kitchen
        weak.batteryMillivolts = 2600
        let house = {
            var house = Household(
                [weak],
                rules: """
                    version: 1
                    buttons: {kitchen: {address: "80:E4:DA:00:00:01"}}
                    rules:
                      - id: low
                        triggers: {button: any, event: battery_low}
                        actions: {publish: {topic: low, payload: "{{ trigger.button }} {{ buttons.kitchen.battery ?? -1 }}"}}
                    """)
            house.pairAll()
            house.wait(.seconds(7 * 3600))
            return house
        }()
        #expect(house.payloads(on: "low").count == 1)
        #expect(house.payloads(on: "low").first?.hasPrefix("kitchen ") == true)
    }

    // MARK: Gestures from the raw times

    private static let gestures: HouseRules = """
        version: 1
        buttons:
          kitchen: {address: "80:E4:DA:00:00:01", hold_after: 400ms, click_gap: 1s}
          hall: {address: "80:E4:DA:00:00:02"}
        rules:
          - {id: three, triggers: {button: kitchen, clicks: 3}, actions: {publish: {topic: out, payload: three}}}
          - {id: hold, triggers: {button: kitchen, event: hold}, actions: {publish: {topic: out, payload: hold}}}
          - {id: longer, triggers: {button: kitchen, event: hold, for: 1s}, actions: {publish: {topic: out, payload: longer}}}
          - {id: longest, triggers: {button: kitchen, event: hold, for: 2s}, actions: {publish: {topic: out, payload: longest}}}
          - {id: let_go, triggers: {button: kitchen, event: hold_release}, actions: {publish: {topic: out, payload: "{{ trigger.held_for < 3s }}"}}}
          - {id: both, triggers: {chord: [kitchen, hall]}, actions: {publish: {topic: out, payload: both}}}
        """

    @Test("three clicks are one gesture, for rules and in messages")
    func threeClicks() {
        var house = Self.house(Self.gestures)
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.milliseconds(800))
        }
        house.wait(.seconds(2))
        #expect(house.payloads(on: "out") == ["three"])
        #expect(house.payloads(on: Self.action) == ["clicks_3"])
    }

    @Test(
        "a hold has several stages for rules and is one hold in messages, also with a crash in between",
        arguments: [true, false])
    func stages(crashes: Bool) {
        var house = Self.house(crashes ? Self.gestures.acceptingLate : Self.gestures)
        house.press("kitchen", .down)
        house.wait(.milliseconds(600))
        #expect(house.payloads(on: "out") == ["hold"])
        if crashes {
            house.crash()
            house.wait(.milliseconds(100))
        }
        house.wait(.milliseconds(2000))
        house.press("kitchen", .up)
        house.wait(.seconds(30))
        #expect(house.payloads(on: "out") == ["hold", "longer", "longest", "true"])
        #expect(house.payloads(on: Self.action) == ["hold", "hold_release"])
        house.ask(#"{"request":"watch"}"#)
        house.press("kitchen", .hold)
        house.wait(.seconds(3))
        #expect(house.told.filter { $0["kind"] == "event" && $0["event"] == "hold" }.count == 1)
    }

    @Test("two buttons pressed together are a chord, and no gesture of either button")
    func chord() {
        var house = Self.house(Self.gestures)
        house.press("kitchen", .click)
        house.wait(.milliseconds(60))
        house.press("hall", .click)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "out") == ["both"])
        #expect(house.payloads(on: Self.action) == [])
        #expect(house.payloads(on: "tryck/80e4da000001/raw").count == 2)
        #expect(house.payloads(on: "tryck/80e4da000002/raw").count == 2)
    }
}
