import ButtonModel
import Hub
import JSON
import MQTTTopics
import Rules
import Simulator
import TestSupport
import Testing

@Suite("A press, from the radio to the broker")
struct PressScenarioTests {
    static let rules: HouseRules = """
        version: 1
        buttons:
          kitchen: 80:E4:DA:00:00:01
          hall: 80:E4:DA:00:00:02
        rules:
          - id: kitchen_toggle
            triggers: {button: kitchen, event: click}
            actions:
              - publish: {topic: lamp/kitchen/set, payload: TOGGLE}
          - id: kitchen_scene
            triggers: {button: kitchen, event: double_click}
            actions:
              - run: [notify, scene]
              - publish: {topic: lamp/kitchen/scene, payload: 1}
          - id: hall_dim
            triggers: {button: hall, event: hold}
            actions:
              - publish: {topic: lamp/hall/dim, payload: start}
          - id: hall_dim_end
            triggers: {button: hall, event: hold_release}
            actions:
              - publish: {topic: lamp/hall/dim, payload: stop}
        """

    /// A house with both buttons paired and an empty journal.
    static func house(seed: UInt64 = 1) -> Household {
        var house = Household(rules: rules, seed: seed)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test("both buttons pair over the air, and are ready")
    func pairing() {
        var house = Household(rules: PressScenarioTests.rules)
        house.pairAll()
        #expect(Set(house.store.state.buttons.map(\.identity.serial)) == ["BA00-K00001", "BA00-H00002"])
        house.ask(#"{"request":"status"}"#)
        #expect(
            house.responses.last?["data"]?["buttons"] == ["paired": 2, "ready": 2, "presses": 0, "battery_low": []])
    }

    @Test("a click runs its rule once, and is published once")
    func click() {
        var house = PressScenarioTests.house()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        #expect(house.payloads(on: "lamp/kitchen/scene") == [])
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["click"])
        #expect(house.payloads(on: "tryck/80e4da000001/event").count == 1)
        #expect(house.payloads(on: "tryck/80e4da000001/raw").count == 2)
    }

    @Test("a double click is not reported as a click")
    func doubleClick() {
        var house = PressScenarioTests.house()
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["double_click"])
        #expect(house.started.map(\.arguments) == [["notify", "scene"]])
        #expect(house.payloads(on: "lamp/kitchen/scene") == ["1"])
    }

    @Test("a hold and its release are published")
    func hold() {
        var house = PressScenarioTests.house()
        house.press("hall", .hold)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "lamp/hall/dim") == ["start", "stop"])
        #expect(house.payloads(on: "tryck/80e4da000002/action") == ["hold", "hold_release"])
    }

    @Test("an event is recorded before its effects, and acknowledged only after the sync")
    func orderOfEffects() throws {
        var house = PressScenarioTests.house()
        house.syncsAreSlow = true
        house.press("hall", .hold)
        house.wait(.seconds(3))
        let action = try #require(house.journal.firstIndex(of: "publish lamp/hall/dim"))
        #expect(house.journal[..<action].last == "record")
        #expect(house.journal[action...].contains("sync"))
        #expect(!house.journal.contains("send"), "nothing is acknowledged while the disk is busy")
        house.finishSyncs()
        #expect(house.journal.last == "send")
    }

    @Test("presses made out of reach are published as stale when they arrive, and run no rule")
    func outOfReach() {
        var house = PressScenarioTests.house()
        house.reach("kitchen", false)
        house.wait(.seconds(60))
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        house.reach("kitchen", true)
        house.wait(.seconds(30))
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(10))
        #expect(house.payloads(on: "lamp/kitchen/set") == [])
        #expect(house.payloads(on: "tryck/bridge/event").contains { $0.contains("stale_event") })
        #expect(house.payloads(on: "lamp/kitchen/scene") == ["1"])
    }

    @Test("a crash before the sync repeats no press")
    func crashBeforeSync() {
        var house = PressScenarioTests.house()
        house.syncsAreSlow = true
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        house.crash()
        house.syncsAreSlow = false
        house.wait(.seconds(30))
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(10))
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        #expect(house.payloads(on: "lamp/kitchen/scene") == ["1"])
    }

    @Test("a press during an outage of the broker is sent if the broker is back in time, and otherwise not")
    func brokerAway() {
        var house = PressScenarioTests.house()
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.bringBrokerBack()
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["click"])

        house.forgetWhatHappened()
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        house.bringBrokerBack()
        #expect(house.payloads(on: "lamp/kitchen/set") == [])
        #expect(house.payloads(on: "tryck/80e4da000001/action") == [])
        #expect(house.logged.contains { $0.contains("R824") })
    }

    @Test("an unacknowledged press is not sent again after an outage, and a retained message is")
    func unacknowledged() {
        var house = PressScenarioTests.house()
        house.brokerIsSilent = true
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        house.forgetWhatHappened()
        house.loseBroker()
        house.bringBrokerBack()
        #expect(house.payloads(on: "tryck/80e4da000001/action") == [])
        #expect(house.payloads(on: "lamp/kitchen/set") == [])

        var other = PressScenarioTests.house()
        other.brokerIsSilent = true
        other.ask(#"{"request":"button/rename","data":{"id":"kitchen","to":"Sink"}}"#)
        other.forgetWhatHappened()
        other.loseBroker()
        other.bringBrokerBack()
        #expect(other.payloads(on: "tryck/bridge/event").count { $0.contains("button_renamed") } == 1)
        other.forgetWhatHappened()
        other.loseBroker()
        other.bringBrokerBack()
        #expect(other.payloads(on: "tryck/bridge/event") == [])
    }

    @Test("with a full disk a press is handled, and the status shows the fault")
    func fullDisk() {
        var house = PressScenarioTests.house()
        house.diskIsFull = true
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        house.ask(#"{"request":"status"}"#)
        #expect(house.responses.last?["data"]?["ok"] == false)
    }

    @Test("a failed sync acknowledges nothing, and the status shows the fault until a sync succeeds")
    func failedSync() {
        var house = PressScenarioTests.house()
        house.syncsAreSlow = true
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        house.finishSyncs(success: false)
        #expect(!house.journal.contains("send"))
        house.ask(#"{"request":"status"}"#)
        #expect(house.responses.last?["data"]?["ok"] == false)
        house.syncsAreSlow = false
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        #expect(house.journal.contains("send"))
        house.ask(#"{"request":"status"}"#)
        #expect(house.responses.last?["data"]?["ok"] == true)
    }

    @Test(
        "with any presses and crashes before and after the sync, every press is handled once",
        arguments: 1...40 as ClosedRange<UInt64>)
    func manyPresses(seed: UInt64) {
        // The rules accept late presses, so that a press that is handled twice shows.
        var house = Household(rules: PressScenarioTests.rules.acceptingLate, seed: seed, recordedAt: .radio)
        house.pairAll()
        house.forgetWhatHappened()
        var random = SeededGenerator(seed: seed)
        var expected: [String] = []
        for _ in 0..<12 {
            house.syncsAreSlow = Int.random(in: 0..<3, using: &random) == 0
            let press: SimulatedPress = Bool.random(using: &random) ? .click : .doubleClick
            house.press("kitchen", press)
            house.wait(.milliseconds(Int.random(in: 1500...2500, using: &random)))
            expected.append(press.rawValue)
            if Int.random(in: 0..<3, using: &random) == 0 {
                house.crash()
                house.wait(.seconds(40))
            }
            house.finishSyncs()
        }
        let isHandledOnce = house.payloads(on: "tryck/80e4da000001/action") == expected
        #expect(isHandledOnce, "\(house.saveRecording("presses-\(seed)"))")
        #expect(house.violations.isEmpty)
    }
}
