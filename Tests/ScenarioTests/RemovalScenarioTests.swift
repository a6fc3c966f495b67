import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Removed buttons")
struct RemovalScenarioTests {
    /// A house with both buttons paired, and a client that watches.
    static func house() -> Household {
        var house = PressScenarioTests.house()
        house.ask(#"{"request":"watch"}"#)
        return house
    }

    static func line(_ button: String, _ id: ButtonID, _ state: String) -> JSONValue {
        ["kind": "button", "button": .string(button), "id": .string(id.description), "state": .string(state)]
    }

    @Test("a button that was reset is reported as unpaired, can be paired again, and works")
    func reset() {
        var house = RemovalScenarioTests.house()
        house.resetButtons(seed: 9)
        house.wait(.seconds(30))
        #expect(house.store.state.buttons == [])
        #expect(house.told.contains(RemovalScenarioTests.line("kitchen", Household.kitchenID, "unpaired")))
        #expect(house.logged.contains("kitchen was reset or has deleted the pairing: pair it again"))
        let event =
            #"{"type":"button_unpaired","data":{"id":"80e4da000001","button":"kitchen","#
            + #""address":"80:E4:DA:00:00:01","serial":"BA00-K00001"}}"#
        #expect(house.payloads(on: "tryck/bridge/event").count { $0 == event } == 1)
        house.ask(#"{"request":"status"}"#)
        #expect(
            house.responses.last?["data"]?["buttons"] == ["paired": 0, "ready": 0, "presses": 0, "battery_low": []])

        house.pairAll()
        house.forgetWhatHappened()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        #expect(house.store.state.buttons.count == 2)
        #expect(house.violations == [])
    }

    @Test(
        "a button is removed by its name, id, serial number or address",
        arguments: ["kitchen", "80e4da000001", "BA00-K00001", "80:e4:da:00:00:01"])
    func remove(text: String) {
        var house = RemovalScenarioTests.house()
        house.ask(#"{"request":"button/remove","data":{"id":"\#(text)","force":false}}"#)
        #expect(house.data["id"] == "80e4da000001" && house.data["button"] == "kitchen")
        #expect(house.data["note"] == #"the rules still name it: "kitchen" in test.yaml:3"#)
        #expect(house.store.state.buttons.map(\.id) == [Household.hallID])
        #expect(house.told.contains(RemovalScenarioTests.line("kitchen", Household.kitchenID, "removed")))
        #expect(house.payloads(on: "tryck/bridge/event").contains { $0.contains("button_removed") })
        #expect(house.journal.prefix(2) == ["record", "sync"], "on file before anybody is told")
        house.press("kitchen", .click)
        house.press("hall", .hold)
        house.wait(.seconds(10))
        #expect(house.payloads(on: "lamp/kitchen/set") == [])
        #expect(house.payloads(on: "lamp/hall/dim") == ["start", "stop"])
        house.crash()
        house.press("kitchen", .makePublic)
        house.pairAll()
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "lamp/kitchen/scene") == ["1"])
        #expect(house.violations == [])
    }

    @Test("an event that waits for a sync when its button is removed is not acknowledged")
    func removeBeforeSync() {
        var house = RemovalScenarioTests.house()
        house.syncsAreSlow = true
        house.press("hall", .hold)
        house.wait(.seconds(3))
        house.ask(#"{"request":"button/remove","data":{"id":"hall"}}"#)
        house.wait(.seconds(1))
        house.forgetWhatHappened()
        house.finishSyncs()
        #expect(house.journal == [])
        #expect(house.store.state.buttons.map(\.id) == [Household.kitchenID])
    }

    @Test(
        "a button that cannot be removed is answered with the reason",
        arguments: [
            (#"{"id":"attic"}"#, #"there is no button "attic"; "tryck buttons" lists those that are paired"#),
            ("{}", #"button/remove takes {"id": a button's name, id, serial number or address}"#),
            (#"{"id":"hall","force":1}"#, #""force" must be true or false"#),
        ])
    func refusals(_ data: String, _ sentence: String) {
        var house = RemovalScenarioTests.house()
        house.ask(#"{"request":"button/remove","data":\#(data)}"#)
        #expect(house.responses.last?["status"] == "error" && house.responses.last?["error"] == .string(sentence))
        #expect(house.store.state.buttons.count == 2)
    }

    @Test("a name that two buttons have removes neither")
    func twins() {
        var twin = Household.hall
        twin.nickname = "twin"
        var other = Household.kitchen
        other.nickname = "twin"
        var house = Household([twin, other])
        house.pairAll()
        house.ask(#"{"request":"button/remove","data":{"id":"twin"}}"#)
        #expect(
            house.responses.last?["error"]
                == "2 buttons are called \"twin\"; use a serial number")
        #expect(house.store.state.buttons.count == 2)
    }

    @Test("a button is removed over MQTT with the same request")
    func overMQTT() {
        var house = RemovalScenarioTests.house()
        house.tell(
            .messageReceived(
                topicName: "tryck/bridge/request/button/remove", payload: Array(#"{"id":"hall"}"#.utf8),
                retained: false))
        #expect(
            house.payloads(on: "tryck/bridge/response/button/remove")
                == [
                    #"{"status":"ok","data":{"id":"80e4da000002","button":"hall","#
                        + #""note":"the rules still name it: \"hall\" in test.yaml:4"}}"#
                ])
        #expect(house.store.state.buttons.map(\.id) == [Household.kitchenID])
    }

    @Test("the status names the buttons that rules use and that are not paired, and no others")
    func notPaired() {
        var house = RemovalScenarioTests.house()
        func notices() -> [String] {
            house.ask(#"{"request":"status"}"#)
            return (house.data["rules"]?["notices"]?.arrayValue ?? []).compactMap(\.stringValue)
        }
        #expect(notices() == [])
        house.ask(#"{"request":"button/remove","data":{"id":"hall"}}"#)
        #expect(notices() == [#""hall" (80:E4:DA:00:00:02, test.yaml:4) is not paired"#])
        house.ask(#"{"request":"button/remove","data":{"id":"kitchen"}}"#)
        #expect(
            notices() == [
                #""kitchen" (80:E4:DA:00:00:01, test.yaml:3) is not paired, nor is 1 other button of the rules"#
            ])
        var idle = Household(
            rules: """
                version: 1
                buttons: {attic: BA00-Z00009}
                rules: [{id: one, triggers: {button: any, event: click}, actions: {log: a}}]
                """)
        idle.ask(#"{"request":"status"}"#)
        #expect(idle.data["rules"]?["notices"] == [])
    }

    @Test("a serial number from secrets.yaml is not shown when its button is not paired")
    func secretSerial() {
        var rules: HouseRules = """
            version: 1
            buttons: {attic: BA00-Z00009}
            rules: [{id: one, triggers: {button: attic, event: click}, actions: {log: a}}]
            """
        rules.set.confidential = ["BA00-Z00009"]
        var house = Household(rules: rules)
        house.ask(#"{"request":"status"}"#)
        #expect(house.data["rules"]?["notices"] == [#""attic" (***, test.yaml:2) is not paired"#])
    }
}
