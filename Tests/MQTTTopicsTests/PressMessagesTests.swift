import ButtonModel
import JSON
import MQTTTopics
import TestSupport
import Testing

@Suite("MQTT messages for a press")
struct PressMessagesTests {
    private let topics = Topics(base: "home/tryck")
    private let report = PressReport(
        button: ButtonID(BluetoothAddress(rawValue: 0x80E4_DA7A_1B2C)), name: "Bedside \"button\"", sequence: 1042,
        pressCount: 412, at: UTCTime(milliseconds: 1_795_228_200_123),
        facts: PressFacts(wasQueued: true, age: .milliseconds(1500)))

    @Test("a gesture is published as a plain word and as a JSON object, at QoS 1, not retained")
    func gesture() {
        let messages = topics.messages("double_click", report)
        #expect(messages.map(\.topicName) == ["home/tryck/80e4da7a1b2c/action", "home/tryck/80e4da7a1b2c/event"])
        #expect(
            messages.map { String(decoding: $0.payload, as: UTF8.self) } == [
                "double_click",
                #"{"event_type":"double_click","id":"80e4da7a1b2c","name":"Bedside \"button\"","seq":1042,"#
                    + #""ts":"2026-11-21T02:30:00.123Z","queued":true,"age_ms":1500,"press_count":412}"#,
            ])
        #expect(messages.allSatisfy { $0.qos == 1 && !$0.retain })
    }

    @Test("gestures of a Duo's small button have topics of their own")
    func small() {
        var report = report
        report.facts.part = .small
        #expect(
            (topics.messages("click", report) + [topics.rawMessage("up", report)]).map(\.topicName) == [
                "home/tryck/80e4da7a1b2c/small/action", "home/tryck/80e4da7a1b2c/small/event",
                "home/tryck/80e4da7a1b2c/small/raw",
            ])
    }

    @Test(
        "the part and the turn of a dial are the last fields",
        arguments: [
            (ButtonPart.big, nil, #""press_count":412,"part":"big"}"#),
            (
                .push, (-3, 40, 5),
                #""press_count":412,"part":"push","steps":-3,"position":40,"slot":5}"#
            ),
            (
                .small, (7, 0, 0),
                #""press_count":412,"part":"small","steps":7,"position":0}"#
            ),
        ] as [(ButtonPart, (steps: Int, position: Int, slot: Int)?, String)])
    func parts(part: ButtonPart, turn: (steps: Int, position: Int, slot: Int)?, end: String) {
        var report = report
        report.facts.part = part
        report.steps = turn?.steps
        report.facts.position = turn?.position ?? 0
        report.facts.slot = turn?.slot ?? 0
        let payload = String(decoding: topics.messages("click", report)[1].payload, as: UTF8.self)
        #expect(payload.hasSuffix(end))
    }

    @Test("the event payload equals the encoding of the same JSON value", arguments: UInt64(0)..<200)
    func sameAsValue(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var report = report
        report.button = ButtonID(BluetoothAddress(rawValue: random.next()))
        report.name = Self.name(&random)
        report.sequence = Int64(bitPattern: random.next()) >> (random.next() % 64)
        report.pressCount = Int64(bitPattern: random.next()) >> (random.next() % 64)
        report.at = UTCTime(milliseconds: Int64(bitPattern: random.next()) >> (random.next() % 64))
        report.facts.wasQueued = Bool.random(using: &random)
        report.facts.age = .milliseconds(Int64.random(in: 0...1 << 40, using: &random))
        let value: JSONValue = [
            "event_type": "clicks_3", "id": .string(report.button.description), "name": .string(report.name),
            "seq": .integer(report.sequence), "ts": .string(report.at.description),
            "queued": .bool(report.facts.wasQueued), "age_ms": .integer(report.facts.age.milliseconds),
            "press_count": .integer(report.pressCount),
        ]
        #expect(topics.messages("clicks_3", report).last?.payload == value.encoded())
        #expect(topics.rawMessage("clicks_3", report).payload == value.encoded())
        let stale: JSONValue = ["type": "stale_event", "data": value]
        #expect(topics.staleMessage("clicks_3", report).payload == stale.encoded())
        #expect(try JSONValue(parsing: value.encoded()) == value)
    }

    /// A name with many characters that JSON has to escape.
    private static func name(_ random: inout SeededGenerator) -> String {
        var name = ""
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: name += ["\"", "\\", "\n", "\r", "\t", "/", "🛏️", "é"].randomElement(using: &random) ?? ""
            case 1: name.unicodeScalars.append(UnicodeScalar(UInt8.random(in: 0..<0x20, using: &random)))
            case 2: name.unicodeScalars.append(UnicodeScalar(UInt8.random(in: .min ... .max, using: &random)))
            default: name += String(decoding: random.bytes(3), as: UTF8.self)
            }
        }
        return name
    }

    @Test("down and up are published on their own topic, not retained")
    func raw() {
        let message = topics.rawMessage("down", report)
        #expect(message.topicName == "home/tryck/80e4da7a1b2c/raw")
        #expect(!message.retain)
    }

    @Test("a late gesture is published on bridge/event")
    func stale() throws {
        let message = topics.staleMessage("click", report)
        #expect(message.topicName == "home/tryck/bridge/event")
        let payload = try JSONValue(parsing: message.payload)
        #expect(payload["type"] == "stale_event")
        #expect(payload["data"]?["event_type"] == "click")
    }

    @Test("the bridge's state is plain text and retained")
    func bridgeState() {
        #expect(
            topics.bridgeStateMessage(isOnline: false)
                == MQTTMessage(
                    topicName: "home/tryck/bridge/state", payload: Array("offline".utf8), qos: 1, retain: true))
    }

    @Test(
        "the name of a request is the rest of the topic after bridge/request/",
        arguments: [
            ("home/tryck/bridge/request/permit_join", "permit_join"),
            ("home/tryck/bridge/request/button/rename", "button/rename"),
            ("home/tryck/bridge/request/", nil),
            ("home/tryck/bridge/request/permit+join", nil),
            ("home/tryck/bridge/request/" + String(repeating: "x", count: 64), String(repeating: "x", count: 64)),
            ("home/tryck/bridge/request/" + String(repeating: "x", count: 65), nil),
            ("home/tryck/bridge/requests/x", nil),
            ("tryck/bridge/request/x", nil),
        ] as [(String, String?)])
    func requests(_ topicName: String, _ request: String?) {
        #expect(topics.request(of: topicName) == request)
    }
}
