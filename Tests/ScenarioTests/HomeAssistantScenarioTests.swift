import ButtonModel
import Hub
import JSON
import MQTTTopics
import Rules
import Simulator
import Testing

@Suite("Home Assistant's discovery")
struct HomeAssistantScenarioTests {
    private static let config = "homeassistant/device/tryck_80e4da000001/config"

    private static func house(rules: HouseRules = .none, control: MQTTControl = .settings) -> Household {
        var house = Household(
            [Household.kitchen], rules: rules, control: control, discoveryPrefix: "homeassistant")
        house.pairAll()
        house.wait(.seconds(10))
        house.forgetWhatHappened()
        return house
    }

    private static func components(_ text: String?) throws -> [String: JSONValue] {
        let message = try JSONValue(parsing: Array(try #require(text).utf8))
        return Dictionary((message["components"]?.objectValue ?? []).map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static let threeClicks: HouseRules = """
        version: 1
        rules:
          - {id: three, triggers: {button: any, clicks: 3}, actions: {log: three}}
        """

    @Test("a button is announced after its status and before the bridge is online")
    func announced() throws {
        var house = Self.house()
        #expect(try Self.components(house.retained[Self.config])["event"]?["platform"] == "event")
        house.loseBroker()
        house.clearRetained()
        house.bringBrokerBack()
        let topics = house.published.filter(\.retain).map(\.topicName)
        let state = try #require(topics.firstIndex(of: "tryck/80e4da000001"))
        let config = try #require(topics.firstIndex(of: Self.config))
        let online = try #require(topics.firstIndex(of: "tryck/bridge/state"))
        #expect(state < config && config < online)
        #expect(topics.contains { $0.hasPrefix("homeassistant/device/tryck_bridge_") })
    }

    @Test("without discovery nothing is announced when buttons are added or removed")
    func notAnnounced() {
        var house = Household([Household.kitchen])
        house.pairAll()
        house.ask(#"{"request":"button/remove","data":{"id":"80e4da000001"}}"#)
        house.wait(.seconds(5))
        #expect(house.store.state.buttons.isEmpty)
        #expect(house.published.allSatisfy { $0.topicName.hasPrefix("tryck/") })
    }

    @Test("after Home Assistant's start everything is announced again within five seconds, without events")
    func birth() {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.forgetWhatHappened()
        house.say("online", on: "homeassistant/status")
        #expect(house.published.isEmpty)
        house.wait(.seconds(5))
        #expect(
            house.published.count == 2 && house.published.allSatisfy { $0.topicName.hasSuffix("/config") && $0.retain })
        house.forgetWhatHappened()
        house.say("offline", on: "homeassistant/status")
        house.tell(.messageReceived(topicName: "homeassistant/status", payload: Array("online".utf8), retained: true))
        house.wait(.seconds(6))
        #expect(house.published.isEmpty)
    }

    @Test("a rename publishes new announcements on the same topics")
    func rename() throws {
        var house = Self.house()
        let before = Set(house.retained.keys)
        house.ask(#"{"request":"button/rename","data":{"id":"80e4da000001","to":"By the \"door\""}}"#)
        house.wait(.seconds(1))
        #expect(Set(house.retained.keys) == before)
        let message = try JSONValue(parsing: Array(try #require(house.retained[Self.config]).utf8))
        #expect(message["device"]?["name"] == "By the \"door\"")
    }

    @Test(
        "a rename with homeassistant_rename removes the entities, keeps the triggers, and announces new entity ids once"
    )
    func renameEntities() throws {
        var house = Self.house()
        let usual = try Self.components(house.retained[Self.config])
        house.forgetWhatHappened()
        house.ask(
            #"{"request":"button/rename","data":{"id":"80e4da000001","to":"Böden No. 2","homeassistant_rename":true}}"#)
        house.wait(.seconds(1))
        let configs = try house.published.filter { $0.topicName == Self.config }.map {
            try Self.components(String(decoding: $0.payload, as: UTF8.self))
        }
        // The last one is for the new name.
        try #require(configs.count == 3)
        #expect(configs[2] == usual)
        #expect(configs[0]["event"] == ["platform": "event"])
        #expect(configs[0]["battery"] == ["platform": "sensor"])
        #expect(configs[0]["trigger_hold"] == usual["trigger_hold"])
        #expect(configs[1]["trigger_hold"] == usual["trigger_hold"])
        #expect(configs[1]["event"]?["default_entity_id"] == "event.Böden No. 2 Action")
        #expect(configs[1]["connected"]?["default_entity_id"] == "binary_sensor.Böden No. 2 connectivity")
        #expect(configs[1]["event"]?["unique_id"] == usual["event"]?["unique_id"])
        house.say("online", on: "homeassistant/status")
        house.wait(.seconds(6))
        #expect(try Self.components(house.retained[Self.config]) == usual)
    }

    @Test("entities are removed and named again if the connection is lost before the broker has acknowledged that")
    func interruptedRenaming() throws {
        var house = Self.house()
        house.brokerIsSilent = true
        house.ask(#"{"request":"button/rename","data":{"id":"80e4da000001","to":"a","homeassistant_rename":true}}"#)
        house.loseBroker()
        house.forgetWhatHappened()
        house.brokerIsSilent = false
        house.bringBrokerBack()
        house.wait(.seconds(2))
        let configs = try house.published.filter { $0.topicName == Self.config }.map {
            try Self.components(String(decoding: $0.payload, as: UTF8.self))
        }
        #expect(configs.first?["event"] == ["platform": "event"])
        #expect(configs.last?["event"]?["default_entity_id"] == "event.a Action")
    }

    @Test("homeassistant_rename is true or false")
    func wrongRenaming() {
        var house = Self.house()
        house.ask(#"{"request":"button/rename","data":{"id":"80e4da000001","to":"a","homeassistant_rename":1}}"#)
        #expect(house.responses.last?["error"] == #""homeassistant_rename" must be true or false"#)
    }

    @Test("a triple click is announced while a rule uses it, and withdrawn afterwards, also over a restart")
    func gestures() throws {
        var house = Self.house(rules: Self.threeClicks)
        #expect(try Self.components(house.retained[Self.config])["trigger_clicks_3"] != nil)
        house.rulesOnDisk = HouseRules("version: 1\n")
        house.tell(.reloadRules)
        house.wait(.seconds(1))
        let configs = house.published.filter { $0.topicName == Self.config }.map {
            String(decoding: $0.payload, as: UTF8.self)
        }
        #expect(try Self.components(configs.first)["trigger_clicks_3"] == ["platform": "device_automation"])
        #expect(try Self.components(configs.last)["trigger_clicks_3"] == nil)

        var other = Self.house(rules: Self.threeClicks)
        other.rulesOnDisk = HouseRules("version: 1\n")
        other.forgetWhatHappened()
        other.crash()
        let after = other.published.filter { $0.topicName == Self.config }.map {
            String(decoding: $0.payload, as: UTF8.self)
        }
        #expect(
            try after.contains { try Self.components($0)["trigger_clicks_3"] == ["platform": "device_automation"] })
        #expect(try Self.components(other.retained[Self.config])["trigger_clicks_3"] == nil)
    }

    @Test("a trigger mode that the rules fix is announced as the only option, as long as they fix it")
    func fixedTriggerMode() throws {
        var house = Self.house(
            rules: """
                version: 1
                buttons:
                  kitchen: {address: "80:E4:DA:00:00:01", trigger_mode: click}
                """)
        #expect(
            try Self.components(house.retained[Self.config])["trigger_mode"]?["options"]
                == ["Clicks (fixed by the rules)"])
        house.rulesOnDisk = HouseRules("version: 1\n")
        house.tell(.reloadRules)
        house.wait(.seconds(1))
        let options = try Self.components(house.retained[Self.config])["trigger_mode"]?["options"]?.arrayValue
        #expect(options?.count == 5)
    }

    @Test("a device that was deleted in Home Assistant is not announced until a restart, and its button stays paired")
    func deleted() throws {
        var house = Self.house()
        house.retain("", on: Self.config)
        house.say("", on: Self.config)
        house.say("online", on: "homeassistant/status")
        house.wait(.seconds(6))
        #expect(!house.published.contains { $0.topicName == Self.config })
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.published.contains { $0.topicName == "tryck/80e4da000001/action" })
        house.crash()
        #expect(try Self.components(house.retained[Self.config])["event"] != nil)
    }

    @Test("the announcements of a removed button are cleared, also those from before a restart")
    func removed() throws {
        var house = Self.house()
        let payload = try #require(house.retained[Self.config])
        house.ask(#"{"request":"button/remove","data":{"id":"80e4da000001"}}"#)
        house.wait(.seconds(5))
        #expect(house.retained[Self.config] == nil)
        house.loseBroker()
        house.retain(payload, on: "homeassistant/device/tryck_80e4da0000ff/config")
        house.retain(
            payload.replacing("tryck_bridge_", with: "tryck_bridge_f"),
            on: "homeassistant/device/tryck_80e4da0000fe/config")
        house.bringBrokerBack()
        #expect(house.retained["homeassistant/device/tryck_80e4da0000ff/config"] == nil)
        #expect(house.retained["homeassistant/device/tryck_80e4da0000fe/config"] != nil)
    }

    @Test("the announcements of other programs are not changed")
    func others() {
        var house = Self.house()
        house.loseBroker()
        let others = ["homeassistant/device/zigbee_1/config", "homeassistant/device/tryck_bridge_0000/config"]
        for topic in others { house.retain(#"{"device":{},"components":{"a":{"platform":"sensor"}}}"#, on: topic) }
        let before = house.retained
        house.bringBrokerBack()
        for topic in others { #expect(house.retained[topic] == before[topic]) }
    }

    @Test("firmware in the state directory is offered, installed on request, and its progress is published")
    func firmware() throws {
        var house = Self.house()
        let image = [UInt8](repeating: 7, count: 8 + 400)
        let file = FirmwareFile(model: "flic2", version: 12)
        house.firmware[file] = image
        house.tell(
            .firmwareFiles([FirmwareFile(model: "flic2", version: 3), file, FirmwareFile(model: "duo", version: 99)]))
        #expect(try Self.components(house.retained[Self.config])["firmware"]?["platform"] == "update")
        let offered = try JSONValue(parsing: Array(try #require(house.retained["tryck/80e4da000001"]).utf8))
        #expect(offered["firmware"]?["latest_version"] == "12")
        house.say(#"{"id":"80e4da000001","image":"00"}"#, on: "tryck/bridge/request/button/update")
        house.say(#"{"id":"80e4da000001"}"#, on: "tryck/bridge/request/button/update")
        house.wait(.seconds(60))
        let answers = house.published.filter { $0.topicName == "tryck/bridge/response/button/update" }
            .map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(answers.count == 2 && answers[0].contains("error") && answers[1].contains(#""status":"ok""#))
        let states = house.published.filter { $0.topicName == "tryck/80e4da000001" }.map {
            String(decoding: $0.payload, as: UTF8.self)
        }
        #expect(states.contains { $0.contains(#""in_progress":true"#) })
        #expect(states.last?.contains(#""in_progress":false"#) == true)

        house.tell(.firmwareFiles([]))
        #expect(try Self.components(house.retained[Self.config])["firmware"] == nil)
        house.say(#"{"id":"80e4da000001"}"#, on: "tryck/bridge/request/button/update")
        #expect(house.published.last?.payload.isEmpty == false)
        #expect(
            house.published.contains { String(decoding: $0.payload, as: UTF8.self).contains("there is no firmware") })
    }
}
