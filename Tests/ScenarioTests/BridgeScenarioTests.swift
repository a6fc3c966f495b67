import ButtonModel
import Hub
import JSON
import MQTTTopics
import Rules
import Simulator
import Testing

@Suite("The bridge topics")
struct BridgeScenarioTests {
    private static let status = "tryck/80e4da000001"

    private static func house(_ control: MQTTControl = .settings, rules: HouseRules = .none) -> Household {
        var house = Household([Household.kitchen], rules: rules, control: control)
        house.pairAll()
        house.wait(.seconds(10))
        house.forgetWhatHappened()
        return house
    }

    private static func parsed(_ text: String?) throws -> JSONValue {
        try JSONValue(parsing: Array(try #require(text).utf8))
    }

    @Test("all retained topics are published at every connection, and the bridge's online state comes last")
    func order() throws {
        var house = Self.house()
        house.loseBroker()
        house.clearRetained()
        house.bringBrokerBack()
        let topics = house.published.filter(\.retain).map(\.topicName)
        #expect(
            topics == [
                "tryck/bridge/info", "tryck/bridge/devices", "tryck/bridge/pairing", "tryck/bridge/health",
                "tryck/bridge/radios", "tryck/bridge/rules", Self.status,
                Self.status + "/availability", "tryck/bridge/state",
            ])
        #expect(house.published.filter { $0.topicName != "tryck/bridge/rules" && $0.retain }.allSatisfy { $0.qos == 1 })
        #expect(house.retained["tryck/bridge/state"] == "online")
        #expect(house.retained[Self.status + "/availability"] == "online")
        let info = try Self.parsed(house.retained["tryck/bridge/info"])
        #expect(info["buttons"] == 1 && info["permit_join"] == false && info["adapter"]?["state"] == "powered_on")
        let devices = try Self.parsed(house.retained["tryck/bridge/devices"]).arrayValue
        #expect(devices?.first?["serial"] == "BA00-K00001")
        let state = try Self.parsed(house.retained[Self.status])
        #expect(state["state"] == "ready" && state["trigger_mode"] == "auto" && state["battery_low"] == false)
    }

    @Test("a request of 16 KiB is read; one octet more is refused unread")
    func longRequest() throws {
        var house = Self.house()
        func answer(_ count: Int) -> String? {
            let padding = String(repeating: " ", count: count - 2)
            house.forgetWhatHappened()
            house.say("{}" + padding, on: "tryck/bridge/request/health_check")
            return house.payloads(on: "tryck/bridge/response/health_check").first
        }
        #expect(try Self.parsed(answer(16 * 1024))["status"] == "ok")
        let refusal = try Self.parsed(answer(16 * 1024 + 1))
        #expect(refusal["error"] == "a request has at most 16 KiB, and this one has 16385 octets")
    }

    @Test("a press is published as action, event and then one status update")
    func press() throws {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        let topics = house.published.map(\.topicName).filter { $0.hasPrefix(Self.status) }
        let gesture = try #require(topics.firstIndex(of: Self.status + "/action"))
        #expect(topics[gesture + 1] == Self.status + "/event")
        #expect(topics.last == Self.status)
        #expect(topics.count { $0 == Self.status } <= 2)
        #expect(house.published.filter { $0.topicName != Self.status }.allSatisfy { !$0.retain })
        let state = try Self.parsed(house.retained[Self.status])
        #expect(state["press_count"] == 1 && state["last_seen"] != .null)
    }

    @Test("the RSSI is in a button's status once it is ready, also after it is gone; /get measures it again")
    func signal() throws {
        var house = Self.house()
        #expect(try Self.parsed(house.retained[Self.status])["rssi"] == -60)
        house.ask(#"{"request":"button","data":{"id":"80e4da000001"}}"#)
        #expect(house.responses.last?["data"]?["rssi"] == -60)

        house.forgetWhatHappened()
        house.say("", on: Self.status + "/get")
        #expect(house.journal.contains("send"), "the adapter is asked")
        house.wait(.seconds(1))
        #expect(house.published.map(\.topicName) == [Self.status])

        house.reach("kitchen", false)
        house.wait(.seconds(30))
        var state = try Self.parsed(house.retained[Self.status])
        #expect(state["state"] == "connecting" && state["rssi"] == -60)
        house.crash()
        #expect(try Self.parsed(house.retained[Self.status])["rssi"] == .null)
        house.forgetWhatHappened()
        house.reach("kitchen", true)
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        state = try Self.parsed(house.retained[Self.status])
        #expect(state["state"] == "ready" && state["rssi"] == -60)
    }

    @Test("a new RSSI alone is published, and an unchanged one is not")
    func signalAlone() throws {
        var house = Self.house()
        house.ask(#"{"request":"button/disconnect","data":{"id":"80e4da000001"}}"#)
        house.wait(.seconds(10))
        house.crash()
        #expect(try Self.parsed(house.retained[Self.status])["rssi"] == .null)
        // The disconnected button is heard only while it advertises.
        for count in [1, 0] {
            house.press("kitchen", .click)
            house.forgetWhatHappened()
            house.ask(#"{"request":"permit_join","data":{"time":5}}"#)
            house.wait(.seconds(10))
            let state = try Self.parsed(house.retained[Self.status])
            #expect(state["state"] == "disconnected" && state["rssi"] == -60)
            #expect(house.published.count { $0.topicName == Self.status } == count)
        }
    }

    @Test("the log level of a reloaded configuration is published")
    func logLevel() throws {
        var house = Self.house()
        house.tell(.logLevel(.debug))
        #expect(house.logLevel == .debug)
        #expect(try Self.parsed(house.retained["tryck/bridge/info"])["log_level"] == "debug")
    }

    @Test("a thousand rules are published, a few after each acknowledgement")
    func many() {
        let rules = (0..<1000).map { "  - {id: r\($0), triggers: {button: any, event: down}, actions: {log: x}}\n" }
        var house = Household([Household.kitchen], rules: HouseRules("version: 1\nrules:\n" + rules.joined()))
        house.pairAll()
        house.loseBroker()
        house.forgetWhatHappened()
        house.brokerIsSilent = true
        house.bringBrokerBack()
        for _ in 0..<100 where !house.unacknowledged.isEmpty { house.acknowledge() }
        #expect(house.retained["tryck/rules/r999/enabled"] == "true")
        #expect(house.published.filter(\.retain).count == 9 + 1000)
    }

    @Test("a message that the broker refuses is published again, and given up in the end")
    func refused() {
        var house = Self.house()
        house.brokerIsSilent = true
        house.say("{}", on: Self.status + "/get")
        house.wait(.milliseconds(100))
        for attempt in 1...3 {
            #expect(house.published.count { $0.topicName == Self.status } == attempt)
            let id = house.unacknowledged.last ?? .logLine
            house.tell(.publishFailed(id, "not today"))
            house.wait(.seconds(2))
        }
        #expect(house.published.count { $0.topicName == Self.status } == 3)
        #expect(house.logged.contains { $0.contains("could not be published: not today") })
    }

    @Test("a button is configured on its own topic, and its status is published also after a refusal")
    func set() throws {
        var house = Self.house()
        house.say(#"{"trigger_mode":"click","latency_mode":"low","nickname":"Åsa"}"#, on: Self.status + "/set")
        house.wait(.seconds(1))
        var state = try Self.parsed(house.retained[Self.status])
        #expect(state["trigger_mode"] == "click" && state["latency_mode"] == "low" && state["nickname"] == "Åsa")
        for wrong in [#"{"trigger_mode":"often"}"#, #"{"tune":1}"#, "[]", "", "\"x"] {
            // This line is logged at most once a minute.
            house.wait(.seconds(60))
            house.forgetWhatHappened()
            house.say(wrong, on: Self.status + "/set")
            #expect(house.published.contains { $0.topicName == Self.status }, "\(wrong)")
            #expect(house.logged.contains { $0.hasPrefix(Self.status + "/set: ") }, "\(wrong)")
        }
        state = try Self.parsed(house.retained[Self.status])
        #expect(state["trigger_mode"] == "click")
        house.say(#"{"trigger_mode":"auto"}"#, on: Self.status + "/set")
        #expect(try Self.parsed(house.retained[Self.status])["trigger_mode"] == "auto")
    }

    @Test("a request that is retained, for an unknown button or not allowed changes nothing")
    func ignored() throws {
        var house = Self.house()
        let mode = Array(#"{"trigger_mode":"click"}"#.utf8)
        house.tell(.messageReceived(topicName: Self.status + "/set", payload: mode, retained: true))
        house.say(#"{"trigger_mode":"click"}"#, on: "tryck/80e4da0000ff/set")
        #expect(try Self.parsed(house.retained[Self.status])["trigger_mode"] == "auto")
        #expect(house.logged.contains { $0.contains("a retained request is ignored") })
        var closed = Self.house(.none)
        closed.say(#"{"trigger_mode":"click"}"#, on: Self.status + "/set")
        closed.say(#"{"time":5}"#, on: "tryck/bridge/request/permit_join")
        #expect(closed.published.isEmpty)
        #expect(
            closed.subscriptions.allSatisfy {
                !$0.hasSuffix("/set") && !$0.hasSuffix("/get") && !$0.contains("request")
            })
    }

    @Test("an invalid request is logged once, and does not displace other errors from the status")
    func flood() throws {
        var house = Self.house()
        house.tell(.recordFailed(RecordToken(rawValue: 9), "the disk is full"))
        house.forgetWhatHappened()
        func status(_ house: inout Household) -> [String] {
            house.ask(#"{"request":"status"}"#)
            return house.data["last_errors"]?.arrayValue?.compactMap { $0["message"]?.stringValue } ?? []
        }
        for number in 0..<500 {
            house.say("{\"tune\":\(number)}", on: Self.status + "/set")
            house.say("{\"trigger_mode\":\"click\"}", on: "tryck/80e4da00\(1000 + number)/set")
            house.tell(
                .messageReceived(topicName: "tryck/bridge/request/\(number)", payload: [], retained: true))
        }
        for length in 262_145..<262_645 {
            house.tell(.messageDropped("a message of \(length) octets on x was dropped: 262144 is the limit"))
        }
        #expect(house.logged.count == 4, "\(house.logged)")
        for number in 0..<500 {
            house.tell(.subscriptionRefused(topicFilter: "home/\(number)", reason: "not authorized"))
            house.tell(.brokerDisconnected("mqtt: the broker closed the connection after \(number) ms"))
            house.tell(.brokerConnected)
        }
        // Each subscription and each fault of the broker may need another remedy, so several are written.
        #expect(house.logged.count { $0.contains("refuses the subscription to home/") } == 20)
        #expect(house.logged.count { $0.contains("refuses the subscription to home/4: not authorized") } == 1)
        #expect(house.logged.count { $0.contains("closed the connection after") } == 5)
        #expect(house.logged.count { $0.contains("connected to mqtt") } <= 6)
        #expect(status(&house).contains { $0.hasPrefix("the disk is full") })
        house.wait(.seconds(60))
        house.say("{\"tune\":1}", on: Self.status + "/set")
        #expect(
            house.logged.last?.hasSuffix(" (499 more like this since the last line of it)") == true, "\(house.logged)")
        for _ in 0..<100 {
            house.wait(.seconds(61))
            house.say("{\"tune\":1}", on: Self.status + "/set")
        }
        #expect(status(&house).contains { $0.hasPrefix("the disk is full") })
    }

    @Test("a restart over MQTT needs control.mqtt: all, and is possible a minute after the start")
    func restartOverMQTT() throws {
        var house = Self.house()
        house.wait(.seconds(120))
        house.say(#"{"transaction":1}"#, on: "tryck/bridge/request/restart")
        var answer = try Self.parsed(house.payloads(on: "tryck/bridge/response/restart").last)
        #expect(answer["error"]?.stringValue?.contains("control.mqtt: all") == true, "\(answer)")
        #expect(!house.isFinished)
        var open = Household([Household.kitchen], control: .all)
        open.say("", on: "tryck/bridge/request/restart")
        answer = try Self.parsed(open.payloads(on: "tryck/bridge/response/restart").last)
        #expect(answer["error"]?.stringValue?.contains("once a minute") == true, "\(answer)")
        open.wait(.seconds(60))
        open.say("", on: "tryck/bridge/request/restart")
        answer = try Self.parsed(open.payloads(on: "tryck/bridge/response/restart").last)
        #expect(answer["status"] == "ok", "\(answer)")
        open.wait(.seconds(5))
        #expect(open.isFinished)
    }

    @Test("settings that are not JSON are answered with an example for /set")
    func notJSON() {
        var house = Self.house()
        house.say("often", on: Self.status + "/set")
        let line = house.logged.last ?? ""
        #expect(line.hasPrefix(Self.status + "/set: ") && line.contains("not JSON") && !line.contains("button/options"))
        var other = Self.house()
        other.say("[]", on: Self.status + "/set")
        #expect(other.logged.last?.contains("button/options") == false, "\(other.logged)")
    }

    @Test("permit_join is published with its end, and again when the search is over")
    func permitJoin() throws {
        var house = Self.house()
        house.say("120", on: "tryck/bridge/request/permit_join")
        var info = try Self.parsed(house.retained["tryck/bridge/info"])
        #expect(info["permit_join"] == true)
        #expect(info["permit_join_end"]?.stringValue?.hasSuffix("Z") == true)
        house.say(#"{"time":0}"#, on: "tryck/bridge/request/permit_join")
        info = try Self.parsed(house.retained["tryck/bridge/info"])
        #expect(info["permit_join"] == false && info["permit_join_end"] == .null)
    }

    @Test("pairing is a retained step with a sentence, and its result stays after the search")
    func pairingStatus() throws {
        var house = Household([Household.kitchen])
        let topic = "tryck/bridge/pairing"
        #expect(try Self.parsed(house.retained[topic])["step"] == "idle")
        house.say("120", on: "tryck/bridge/request/permit_join")
        #expect(try Self.parsed(house.retained[topic])["step"] == "searching")
        house.say("0", on: "tryck/bridge/request/permit_join")
        #expect(try Self.parsed(house.retained[topic])["step"] == "idle")
        house.pairAll()
        house.say("0", on: "tryck/bridge/request/permit_join")
        let paired = try Self.parsed(house.retained[topic])
        #expect(paired["step"] == "paired" && paired["text"]?.stringValue?.hasPrefix("Paired: ") == true)
        #expect(paired["serial"] == "BA00-K00001")
    }

    @Test("a refused request and refused settings are events of the bridge, at most ten in a minute")
    func refusals() throws {
        var house = Self.house()
        func refusals() -> [JSONValue] {
            house.payloads(on: "tryck/bridge/event").compactMap { try? JSONValue(parsing: Array($0.utf8)) }
                .filter { $0["type"] == "refused" }
        }
        house.say(#"{"trigger_mode":"loud"}"#, on: Self.status + "/set")
        house.say("4000", on: "tryck/bridge/request/permit_join")
        house.say("120", on: "tryck/bridge/request/permit_join")
        #expect(
            refusals().map { $0["data"]?["topic"] } == [
                .string(Self.status + "/set"), "tryck/bridge/request/permit_join",
            ])
        #expect(refusals().first?["data"]?["message"]?.stringValue?.hasPrefix("trigger_mode must be one of") == true)
        for _ in 0..<20 { house.say("4000", on: "tryck/bridge/request/permit_join") }
        #expect(refusals().count == 10)
        house.wait(.seconds(60))
        house.say("4000", on: "tryck/bridge/request/permit_join")
        #expect(refusals().count == 11)
    }

    @Test("a request over the control socket that is refused is no event of the bridge")
    func localRefusal() {
        var house = Self.house()
        house.ask(#"{"request":"permit_join","data":{"time":4000}}"#)
        #expect(house.payloads(on: "tryck/bridge/event").isEmpty)
    }

    @Test("a position of a dial may have decimals, and is rounded")
    func decimals() throws {
        var house = Household([DuoScenarioTests.sofa])
        house.pairAll()
        house.wait(.seconds(10))
        let topic = try #require(house.retained.keys.first { $0.hasSuffix("/availability") })
        let status = String(topic.dropLast("/availability".count))
        for (payload, position) in [("33.4", 33), ("33.0", 33), ("66.5", 67), ("100.0", 100), ("0", 0)]
            as [(String, Int64)]
        {
            house.say(#"{"positions":{"big":\#(payload)}}"#, on: status + "/set")
            house.wait(.seconds(1))
            #expect(try Self.parsed(house.retained[status])["positions"]?["big"] == .integer(position), "\(payload)")
        }
        for payload in ["100.4", "-0.1", #""50""#, "1e300"] {
            house.say(#"{"positions":{"big":\#(payload)}}"#, on: status + "/set")
            house.wait(.seconds(1))
            #expect(try Self.parsed(house.retained[status])["positions"]?["big"] == 0, "\(payload)")
        }
    }

    @Test("bridge/devices has the modes as they are now")
    func modes() throws {
        var house = Self.house()
        func modes() throws -> JSONValue? {
            try Self.parsed(house.retained["tryck/bridge/devices"]).arrayValue?.first?["modes"]
        }
        #expect(try modes()?["effective_trigger_mode"] == "click_and_double_click_and_hold")
        house.say(#"{"trigger_mode":"click","latency_mode":"low"}"#, on: Self.status + "/set")
        #expect(
            try modes() == ["trigger_mode": "click", "effective_trigger_mode": "click", "latency_mode": "low"])
    }

    @Test("bridge/health has counters, and is published again when it is ten minutes old and something happens")
    func health() throws {
        var house = Self.house()
        var health = try Self.parsed(house.retained["tryck/bridge/health"])
        #expect(health["healthy"] == true && health["version"] == "test" && health["rules"]?["loaded"] == 0)
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(house.payloads(on: "tryck/bridge/health").isEmpty)
        house.wait(.seconds(600))
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        health = try Self.parsed(house.retained["tryck/bridge/health"])
        #expect(house.payloads(on: "tryck/bridge/health").count == 1)
        #expect(health["buttons"] == ["paired": 1, "ready": 1, "presses": 2, "battery_low": 0])
        #expect(health["uptime_s"]?.integerValue.map { $0 >= 600 } == true)
    }

    @Test("the log level is an option, and log lines are published without repetitions")
    func logging() throws {
        var house = Self.house()
        house.say(#"{"options":{"log_level":"debug"},"transaction":3}"#, on: "tryck/bridge/request/options")
        #expect(house.logLevel == .debug)
        #expect(try Self.parsed(house.retained["tryck/bridge/info"])["log_level"] == "debug")
        house.say(#"{"options":{"log_level":"loud"}}"#, on: "tryck/bridge/request/options")
        house.say(#"{"options":{"colour":"red"}}"#, on: "tryck/bridge/request/options")
        let answers = house.published.filter { $0.topicName == "tryck/bridge/response/options" }
            .map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(answers.first?.contains(#""transaction":3"#) == true)
        #expect(answers.dropFirst().allSatisfy { $0.contains(#""status":"error""#) })
        #expect(house.logLevel == .debug)
        house.forgetWhatHappened()
        for _ in 0..<3 { house.say("{}", on: "tryck/80e4da0000ff/get") }
        let lines = house.published.filter { $0.topicName == "tryck/bridge/logging" }
        #expect(lines.count == 1 && lines.allSatisfy { !$0.retain && $0.qos == 0 })
    }

    @Test("a restart on request answers, disconnects the buttons, publishes offline and ends")
    func restart() {
        var house = Self.house(.all)
        house.wait(.seconds(60))
        house.say("{}", on: "tryck/bridge/request/restart")
        house.wait(.seconds(4))
        #expect(house.published.contains { $0.topicName == "tryck/bridge/response/restart" })
        #expect(house.isFinished && house.isRestarting)
        #expect(house.retained["tryck/bridge/state"] == "offline")
    }

    @Test("topics of former buttons, rules and variables are cleared, and no others")
    func leftovers() {
        var house = Self.house()
        house.loseBroker()
        for topic in [
            "tryck/80e4da0000ff", "tryck/80e4da0000ff/availability", "tryck/rules/old/enabled", "tryck/rules/old/stats",
            "tryck/rules/old/last_run", "tryck/variables/old",
        ] { house.retain("x", on: topic) }
        let others = ["tryck/notes", "tryck/80e4da0000ff/other", "other/rules/old/enabled"]
        for topic in others { house.retain("x", on: topic) }
        house.bringBrokerBack()
        #expect(
            house.retained.keys.filter { $0.contains("old") || $0.contains("ff") }.sorted()
                == others.filter { $0 != "tryck/notes" }.sorted())
        #expect(house.retained["tryck/notes"] == "x")
        #expect(!house.subscriptions.contains("tryck/+"))
    }

    @Test(
        "a rule keeps its subscription to a filter by which leftovers are searched for",
        arguments: ["tryck/+", "tryck/variables/+"])
    func leftoverFilterOfRule(filter: String) {
        let rules = HouseRules(
            """
            version: 1
            states:
              notes: {topic: "\(filter)", as: count}
            rules:
              - {id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, payload: "on"}}}
            """)
        var house = Self.house(rules: rules)
        #expect(house.subscriptions.contains(filter))
        house.loseBroker()
        house.bringBrokerBack()
        #expect(house.subscriptions.contains(filter))
        // A second subscription with the same filter would replace that of the rule.
        #expect(house.subscribed.filter { $0.topicFilter == filter } == [Subscription(filter)])
        #expect(!house.subscriptions.contains("tryck/+/availability"))
    }

    @Test("all topics of a removed button are cleared")
    func removed() {
        var house = Self.house()
        house.ask(#"{"request":"button/remove","data":{"id":"80e4da000001"}}"#)
        house.wait(.seconds(5))
        #expect(!house.retained.keys.contains { $0.hasPrefix(Self.status) })
        #expect(house.retained["tryck/bridge/devices"] == "[]")
        #expect(house.published.contains { String(decoding: $0.payload, as: UTF8.self).contains("button_removed") })
    }

    @Test("topics that were removed while the broker was disconnected are cleared when it is back")
    func removedMeanwhile() {
        var house = Self.house()
        house.loseBroker()
        house.ask(#"{"request":"button/remove","data":{"id":"80e4da000001"}}"#)
        house.wait(.seconds(5))
        #expect(house.retained.keys.contains(Self.status))
        house.bringBrokerBack()
        #expect(!house.retained.keys.contains { $0.hasPrefix(Self.status) })
    }
}
