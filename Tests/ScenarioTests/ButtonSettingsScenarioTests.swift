import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Settings of a button")
struct ButtonSettingsScenarioTests {
    static func house() -> Household {
        var house = PressScenarioTests.house()
        house.ask(#"{"request":"watch"}"#)
        return house
    }

    @Test("a renamed button has its new name, also after a restart")
    func rename() {
        var house = Self.house()
        house.ask(#"{"request":"button/rename","data":{"id":"BA00-H00002","to":"attic"}}"#)
        // The rules declare the button as hall; its own name is used where the rules do not declare it.
        #expect(house.responses.last?["data"]?["name"] == "attic")
        #expect(house.store.state.buttons.first { $0.id == Household.hallID }?.name == "attic")
        #expect(house.payloads(on: "tryck/bridge/event").contains { $0.contains("button_renamed") })
        house.crash()
        house.ask(#"{"request":"button","data":{"id":"attic"}}"#)
        #expect(house.responses.last?["data"]?["serial"] == "BA00-H00002")
        house.ask(#"{"request":"button/rename","data":{"id":"attic","to":""}}"#)
        #expect(house.store.state.buttons.first { $0.id == Household.hallID }?.name == nil)
    }

    @Test("the answer to a rename has the displayed name before and after")
    func renameAnswer() {
        var house = Self.house()
        house.ask(#"{"request":"button/rename","data":{"id":"hall","to":"Attic"}}"#)
        // The rules still call it hall.
        #expect(
            house.data["from"] == "hall" && house.data["to"] == "Attic" && house.data["name"] == "Attic",
            "\(house.data)")
        #expect(house.data["rule_name"] == "hall")
        house.ask(#"{"request":"button/rename","data":{"id":"hall","to":""}}"#)
        #expect(house.data["from"] == "Attic" && house.data["to"] == "hall", "\(house.data)")
    }

    @Test("blanks around a name do not belong to it")
    func outerBlanks() {
        var house = Self.house()
        house.ask(#"{"request":"button/rename","data":{"id":"hall","to":"  Küche  lang "}}"#)
        #expect(house.data["to"] == "Küche  lang", "\(house.data)")
        house.ask(#"{"request":"button/rename","data":{"id":"Küche  lang","to":"Attic"}}"#)
        #expect(house.data["from"] == "Küche  lang", "\(house.data)")
    }

    @Test("a name of blanks is refused", arguments: [" ", "\u{A0}\u{3000}", "\u{200B}", " \u{202E} "])
    func blankName(_ name: String) {
        var house = Self.house()
        let line: JSONValue = ["request": "button/rename", "data": ["id": "hall", "to": .string(name)]]
        house.ask(line.description)
        #expect(
            house.responses.last?["error"]?.stringValue?.contains("cannot consist of blanks") == true, "\(house.data)")
    }

    @Test(
        "an invalid name is refused with the reason",
        arguments: [
            (#"{"id":"hall","to":"kitchen"}"#, #"another button is called "kitchen""#),
            (#"{"id":"hall","to":"BA00-K00001"}"#, #"another button is called "BA00-K00001""#),
            (#"{"id":"hall","to":"80e4da000001"}"#, #"another button is called "80e4da000001""#),
            (#"{"id":"hall","to":"a\nb"}"#, #""to" is the new name, at most 64 characters; "" removes the name"#),
            (#"{"id":"hall"}"#, #""to" is the new name, at most 64 characters; "" removes the name"#),
        ])
    func refusedNames(_ data: String, _ sentence: String) {
        var house = Self.house()
        house.ask(#"{"request":"button/rename","data":\#(data)}"#)
        #expect(house.responses.last?["error"] == .string(sentence))
    }

    @Test("options are all applied or none, and are stored")
    func options() {
        var house = Self.house()
        house.ask(
            #"{"request":"button/options","data":{"id":"hall","options":{"latency_mode":"low","trigger_mode":"tap"}}}"#)
        #expect(house.responses.last?["status"] == "error")
        #expect(house.store.state.buttons.first { $0.id == Household.hallID }?.settings == ButtonSettings())
        house.ask(
            #"{"request":"button/options","data":{"id":"hall","options":{"latency_mode":"low","auto_disconnect_time":60}}}"#
        )
        let kept = ButtonSettings(latencyMode: .low, autoDisconnectTime: 60)
        #expect(house.store.state.buttons.first { $0.id == Household.hallID }?.settings == kept)
        #expect(house.responses.last?["data"]?["latency_mode"] == "low")
        house.crash()
        house.ask(#"{"request":"button","data":{"id":"hall"}}"#)
        #expect(house.responses.last?["data"]?["auto_disconnect_time"] == 60)
    }

    @Test(
        "an invalid option is answered with the valid ones",
        arguments: [
            (#"{"colour":"red"}"#, "a Flic 2 has no option \"colour\""),
            (#"{"auto_disconnect_time":39}"#, "auto_disconnect_time must be 40 to 510 seconds, or null for never"),
            (#"{"auto_disconnect_time":511}"#, "auto_disconnect_time must be 40 to 510 seconds, or null for never"),
            (#"{"latency_mode":"lower"}"#, "latency_mode must be low, normal or high"),
            (#"{"nickname":7}"#, "nickname must be a text"),
            ("{}", "button/options takes"),
        ])
    func refusedOptions(_ options: String, _ beginning: String) {
        var house = Self.house()
        house.ask(#"{"request":"button/options","data":{"id":"hall","options":\#(options)}}"#)
        let sentence = house.responses.last?["error"]?.stringValue ?? ""
        #expect(sentence.hasPrefix(beginning), "\(sentence)")
    }

    @Test("a nickname that is too long for the button is cut, and the answer says so")
    func longNickname() {
        var house = Self.house()
        for (nickname, note) in [
            ("by the stove", JSONValue?.none),
            (
                "the button beside the stove",
                #"a button stores at most 23 bytes of a nickname: it is "the button beside the s" now"#
            ),
        ] {
            house.ask(#"{"request":"button/options","data":{"id":"hall","options":{"nickname":"\#(nickname)"}}}"#)
            #expect(house.responses.last?["status"] == "ok")
            #expect(house.responses.last?["data"]?["note"] == note)
        }
    }

    @Test("a disconnected button is not connected, also after a restart, until connect")
    func disconnectByHand() {
        var house = Self.house()
        house.ask(#"{"request":"button/disconnect","data":{"id":"kitchen"}}"#)
        house.wait(.seconds(10))
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        house.crash()
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        #expect(house.payloads(on: "lamp/kitchen/set") == [])
        house.ask(#"{"request":"button","data":{"id":"kitchen"}}"#)
        #expect(house.responses.last?["data"]?["state"] == "disconnected")
        #expect(house.responses.last?["data"]?["is_connection_wanted"] == false)
        house.ask(#"{"request":"button/connect","data":{"id":"kitchen"}}"#)
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        // The presses it had stored are too old for the rule; the new one is not.
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        #expect(house.violations == [])
    }

    @Test("the topic of a button says which radio has it, also after disconnect, a restart and connect")
    func radioInTopic() throws {
        func expectSame(_ house: inout Household, _ line: Int = #line) throws {
            house.wait(.seconds(10))
            house.ask(#"{"request":"button","data":{"id":"kitchen"}}"#)
            let shown = house.responses.last?["data"]?["radio"]
            let text = try #require(house.retained["tryck/\(Household.kitchenID)"])
            let retained = try JSONValue(parsing: text)["radio"]
            #expect(retained == shown && shown != nil, "line \(line)")
        }
        var house = Self.house()
        try expectSame(&house)
        house.ask(#"{"request":"button/disconnect","data":{"id":"kitchen"}}"#)
        try expectSame(&house)
        house.crash()
        try expectSame(&house)
        house.ask(#"{"request":"button/connect","data":{"id":"kitchen"}}"#)
        try expectSame(&house)
    }

    @Test("a low battery is reported once")
    func lowBattery() {
        var weak = Household.hall
        weak.batteryMillivolts = 2600
        var house = Household([Household.kitchen, weak])
        house.ask(#"{"request":"watch"}"#)
        house.pairAll()
        house.wait(.seconds(7 * 3600))
        let low = house.told.filter { $0["event"] == "battery_low" }
        #expect(low.map { $0["id"] } == [.string(Household.hallID.description)])
        house.crash()
        house.ask(#"{"request":"watch"}"#)
        house.wait(.seconds(7 * 3600))
        #expect(house.told.count { $0["event"] == "battery_low" } == 1, "nor again after a restart")
        house.ask(#"{"request":"button","data":{"id":"80e4da000002"}}"#)
        #expect(house.responses.last?["data"]?["battery_low"] == true)
        #expect(house.responses.last?["data"]?["battery"] == 12)
    }
}
