import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("States from messages")
struct StateTests {
    static func engine(_ states: DeclaredState...) -> Transcript<RuleEngine> {
        House.talk(House.set([], states: states))
    }

    @Test(
        "a payload becomes a value of the state's type, or nothing",
        arguments: [
            ("ON", ExpressionType.Scalar.boolean, Value.boolean(true)), ("off", .boolean, .boolean(false)),
            ("1", .boolean, .boolean(true)), ("true", .boolean, .boolean(true)), ("0", .boolean, .boolean(false)),
            ("True", .boolean, .unknown), ("yes", .boolean, .unknown), ("", .boolean, .unknown),
            ("12", .integer, .integer(12)), ("12.0", .integer, .integer(12)), ("12.5", .integer, .unknown),
            ("-7", .number, .number(-7)), ("1e3", .number, .number(1000)), ("1e999", .number, .unknown),
            ("nan", .number, .unknown), ("warm", .number, .unknown), ("closed", .string, .string("closed")),
            ("", .string, .string("")),
        ])
    func conversion(payload: String, type: ExpressionType.Scalar, value: Value) {
        var talk = StateTests.engine(DeclaredState(name: "state", topicName: "topic", type: type))
        talk.given(.message(topicName: "topic", payload: Array(payload.utf8)))
        #expect(talk.machine.value(ofState: "state") == value)
    }

    @Test(
        "a pointer finds the value in JSON",
        arguments: [
            (#"{"lamp": {"on": true}}"#, ExpressionType.Scalar.boolean, Value.boolean(true)),
            (#"{"lamp": {"on": "OFF"}}"#, .boolean, .boolean(false)),
            (#"{"lamp": {"on": 1}}"#, .boolean, .boolean(true)),
            (#"{"lamp": {"on": 21.5}}"#, .string, .string("21.5")), (#"{"lamp": {"on": null}}"#, .string, .unknown),
            (#"{"lamp": {"on": [1, 2]}}"#, .string, .string("[1,2]")), ("on", .string, .unknown),
        ])
    func pointer(payload: String, type: ExpressionType.Scalar, value: Value) {
        var talk = StateTests.engine(DeclaredState(name: "state", topicName: "topic", pointer: "/lamp/on", type: type))
        talk.given(.message(topicName: "topic", payload: Array(payload.utf8)))
        #expect(talk.machine.value(ofState: "state") == value)
    }

    @Test(
        "a JSON message without the state's value leaves the state unchanged, and a message that is not JSON makes it unknown"
    )
    func silence() {
        var talk = StateTests.engine(DeclaredState(name: "lux", topicName: "sensor", pointer: "/lux", type: .integer))
        talk.given(.message(topicName: "sensor", payload: Array(#"{"lux": 7}"#.utf8)))
        talk.given(.message(topicName: "sensor", payload: Array(#"{"battery": 90}"#.utf8)))
        #expect(talk.machine.value(ofState: "lux") == .integer(7))
        talk.given(.message(topicName: "sensor", payload: Array("gone".utf8)))
        #expect(talk.machine.value(ofState: "lux") == .unknown)
    }

    @Test("several states read one topic, which is subscribed to once")
    func severalOfOneTopic() {
        var talk = StateTests.engine(
            DeclaredState(name: "lux", topicName: "sensor", pointer: "/lux", type: .integer),
            DeclaredState(name: "text", topicName: "sensor"), DeclaredState(name: "door", topicName: "door"))
        #expect(talk.machine.subscriptions == ["door", "sensor"])
        talk.given(.message(topicName: "sensor", payload: Array(#"{"lux": 7}"#.utf8)))
        #expect(talk.machine.value(ofState: "lux") == .integer(7))
        #expect(talk.machine.value(ofState: "text") == .string(#"{"lux": 7}"#))
        #expect(talk.machine.value(ofState: "door") == .unknown)
    }

    @Test("a state has its default before the first value, after an invalid value, and when its value is too old")
    func fallback() {
        var talk = StateTests.engine(
            DeclaredState(
                name: "lux", topicName: "lux", type: .integer, defaultValue: .integer(30), maximumAge: .seconds(60)))
        #expect(talk.machine.value(ofState: "lux") == .integer(30))
        talk.given(.message(topicName: "lux", payload: Array("7".utf8)))
        #expect(talk.machine.timer.armed == talk.now + .seconds(60))
        talk.wait(.seconds(59))
        talk.given(.message(topicName: "lux", payload: Array("8".utf8)))
        talk.wait(.seconds(59))
        talk.when(.timerFired, expect: .setTimer(talk.now + .seconds(1)))
        #expect(talk.machine.value(ofState: "lux") == .integer(8))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .nothing)
        #expect(talk.machine.value(ofState: "lux") == .integer(30))
        talk.given(.message(topicName: "lux", payload: Array("7".utf8)))
        #expect(talk.given(.message(topicName: "lux", payload: Array("bright".utf8))).last == .cancelTimer)
        #expect(talk.machine.value(ofState: "lux") == .integer(30))
    }

    @Test("a text of 64 KiB is a state's value, and a longer text is not")
    func bound() {
        var talk = StateTests.engine(DeclaredState(name: "text", topicName: "text"))
        talk.given(.message(topicName: "text", payload: Array(repeating: UInt8(ascii: "a"), count: 65_536)))
        #expect(talk.machine.value(ofState: "text") == .string(String(repeating: "a", count: 65_536)))
        talk.given(.message(topicName: "text", payload: Array(repeating: UInt8(ascii: "a"), count: 65_537)))
        #expect(talk.machine.value(ofState: "text") == .unknown)
    }

    @Test("JSON of 64 KiB is read; one octet more makes the state unknown, which is logged once")
    func longJSON() {
        var talk = StateTests.engine(
            DeclaredState(name: "lamp", topicName: "topic", pointer: "/on", type: .boolean))
        func json(_ count: Int) -> [UInt8] {
            let start = Array(#"{"on": true, "x": ""#.utf8)
            return start + [UInt8](repeating: 0x78, count: count - start.count - 2) + Array(#""}"#.utf8)
        }
        func logged(_ count: Int) -> Int {
            talk.given(.message(topicName: "topic", payload: json(count))).count {
                if case .oversizedState = $0 { true } else { false }
            }
        }
        #expect(logged(65_536) == 0)
        #expect(talk.machine.value(ofState: "lamp") == .boolean(true))
        #expect(logged(65_537) == 1)
        #expect(talk.machine.value(ofState: "lamp") == .unknown)
        #expect(logged(65_537) == 0)
        #expect(logged(100) == 0)
        #expect(talk.machine.value(ofState: "lamp") == .boolean(true))
        #expect(logged(65_537) == 1)
    }

    @Test(
        "a message that does not convert is reported with the type that would take it",
        arguments: [
            ("300.5", .integer, #"lux: R830 "300.5" on lux is no integer; type: number would take it"#),
            ("ON", .number, #"lux: R830 "ON" on lux is no number; type: boolean would take it"#),
            ("warm", .boolean, #"lux: R830 "warm" on lux is no boolean; type: string would take it"#),
            ("300.0", .integer, nil), ("", .integer, nil), ("warm", .string, nil), ("null", .integer, nil),
            ("null", .boolean, nil),
        ] as [(String, ExpressionType.Scalar, String?)])
    func fault(payload: String, type: ExpressionType.Scalar, words: String?) {
        var talk = StateTests.engine(DeclaredState(name: "lux", topicName: "lux", type: type))
        #expect(talk.tell(.message(topicName: "lux", payload: Array(payload.utf8))) == (words.map { [$0] } ?? []))
        #expect(talk.machine.stateFaultCount == (words == nil ? 0 : 1))
    }

    @Test("a message without JSON for a state with a pointer is reported, and a JSON null is not")
    func faultOfPointer() {
        var talk = StateTests.engine(DeclaredState(name: "lux", topicName: "s", pointer: "/lux", type: .integer))
        func tell(_ text: String) -> [String] { talk.tell(.message(topicName: "s", payload: Array(text.utf8))) }
        #expect(tell(#"{"lux": null}"#) == [])
        #expect(tell("gone") == [#"lux: R830 "gone" on s is no JSON, in which value: could be found"#])
    }

    @Test("faulty messages of a state are reported at the first and then once in ten minutes, and all are counted")
    func faultRate() {
        var talk = StateTests.engine(
            DeclaredState(name: "lux", topicName: "lux", type: .integer, defaultValue: .integer(30)),
            DeclaredState(name: "level", topicName: "level", type: .integer))
        func tell(_ topicName: String) -> Int {
            talk.tell(.message(topicName: topicName, payload: Array("x".utf8))).count
        }
        #expect(tell("lux") == 1)
        #expect(talk.machine.value(ofState: "lux") == .integer(30))
        #expect(tell("level") == 1)
        talk.wait(.seconds(599))
        #expect(tell("lux") == 0)
        talk.wait(.seconds(1))
        #expect(tell("lux") == 1)
        #expect(talk.machine.stateFaultCount == 4)
        talk.given(.reloaded(PreparedRules(talk.machine.set)))
        #expect(talk.machine.stateFaultCount == 4)
        // A reload does not begin the ten minutes anew.
        #expect(tell("lux") == 0)
        talk.wait(.seconds(600))
        #expect(tell("lux") == 1)
    }

    @Test("a message starts no rule, but continues a run that waits for it")
    func wait() throws {
        var talk = House.talk(
            .on(.click, do: try .wait(until: "states.door == 'open'"), .say("open")),
            .on(.doubleClick, id: "other", do: try .wait(until: "broker.connected"), .say("online")))
        #expect(talk.tell(.message(topicName: "door", payload: Array("closed".utf8))) == [])
        #expect(talk.click() == ["started 1 rule"])
        #expect(talk.event(.pattern([.short, .short])) == ["started 2 other"])
        #expect(talk.tell(.message(topicName: "door", payload: Array("open".utf8))) == ["1 says open", "completed 1"])
        #expect(talk.tell(.brokerChanged(isConnected: true)) == ["2 says online", "completed 2"])
    }

    @Test("a waiting run continues when another run, a rule or a button makes its condition true")
    func waitForOthers() throws {
        let ids = ["volume", "rule", "button"]
        var talk = House.talk(
            .on(.click, id: "volume", do: try .wait(until: "variables.volume == 50"), .say("loud")),
            .on(.click, id: "rule", do: try .wait(until: "rules.volume.running == 0", rules: ids), .say("free")),
            .on(.click, id: "button", do: try .wait(until: "buttons.hall.last_event == 'click'"), .say("clicked")),
            .on(.click, of: .declared(1), id: "set", do: .set(0, to: .integer(50))))
        #expect(talk.click() == ["started 1 volume", "started 2 rule", "started 3 button"])
        #expect(
            talk.click(of: House.hall) == [
                "started 4 set", "keep volume 50", "volume = 50", "completed 4", "1 says loud", "completed 1",
                "2 says free", "completed 2", "3 says clicked", "completed 3",
            ])
    }
}
