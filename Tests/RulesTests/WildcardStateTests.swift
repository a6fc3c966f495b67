import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("States with wildcards in their topics")
struct WildcardStateTests {
    private static let open = DeclaredState(
        name: "open", topicName: "window/+", type: .integer, maximumAge: .seconds(60), combination: .count)
    private static let last = DeclaredState(
        name: "last", topicName: "room/#", pointer: "/lux", type: .integer, defaultValue: .integer(-1),
        combination: .last)

    private static func message(_ topicName: String, _ text: String, isRetained: Bool = false) -> RuleEngine.Input {
        .message(topicName: topicName, payload: Array(text.utf8), isRetained: isRetained)
    }

    private static func value(_ talk: Transcript<RuleEngine>, _ name: String = "open") -> Value? {
        #expect(talk.machine.problems() == [])
        return talk.machine.value(ofState: name)
    }

    @Test(
        "a filter matches whole levels, and topics with $ only if it says so",
        arguments: [
            ("a/+", "a/b", true), ("a/+", "a/", true), ("a/+", "a", false), ("a/+", "a/b/c", false), ("+", "a", true),
            ("+/b", "a/b", true), ("+/b", "a/c", false), ("a/#", "a", true), ("a/#", "a/b/c", true),
            ("a/#", "ab", false),
            ("#", "a/b", true), ("#", "$SYS/a", false), ("+/a", "$SYS/a", false), ("$SYS/#", "$SYS/a", true),
            ("a/+/c/#", "a/b/c", true), ("a/+/c/#", "a/b/d", false), ("a/b", "a/b", true), ("/+", "/a", true),
            ("+", "/a", false), ("+/+", "/a", true), ("a", "A", false),
        ])
    func filter(filter: String, topicName: String, matches: Bool) {
        #expect(TopicFilter(filter).matches(topicName) == matches)
        #expect(TopicFilter.misplacedLevel(of: filter) == nil)
    }

    @Test(
        "wildcards stand for whole levels, and # is the last one",
        arguments: [("a+", "a+"), ("a/#/b", "#"), ("a/b#", "b#"), ("+a/b", "+a"), ("#/#", "#"), ("a/++", "++")])
    func misplaced(filter: String, level: String) {
        #expect(TopicFilter.misplacedLevel(of: filter) == level)
    }

    @Test("a count is the number of true values, and 0 before the first message")
    func count() {
        var talk = House.talk(House.set([], states: [Self.open]))
        #expect(talk.machine.subscriptions == ["window/+"])
        #expect(Self.value(talk) == .integer(0))
        for (topicName, text, count) in [
            ("window/a", "ON", 1), ("window/a", "true", 1), ("window/b", "1", 2), ("window/c", "OFF", 2),
            ("window/a", "off", 1), ("window/b", "", 0), ("door/a", "ON", 0), ("window/a/b", "ON", 0),
        ] as [(String, String, Int64)] {
            talk.given(Self.message(topicName, text))
            #expect(Self.value(talk) == .integer(count), "\(topicName) \(text)")
        }
        #expect(talk.machine.isState("window/d") && !talk.machine.isState("window") && !talk.machine.isState("door"))
    }

    @Test("each topic has its own age")
    func age() {
        var talk = House.talk(House.set([], states: [Self.open]))
        talk.given(Self.message("window/a", "ON"))
        _ = talk.pass(.seconds(30))
        talk.given(Self.message("window/b", "ON"))
        _ = talk.pass(.seconds(29))
        #expect(Self.value(talk) == .integer(2))
        _ = talk.pass(.seconds(1))
        #expect(Self.value(talk) == .integer(1))
        talk.given(Self.message("window/b", "ON"))
        _ = talk.pass(.seconds(59))
        #expect(Self.value(talk) == .integer(1))
        _ = talk.pass(.seconds(1))
        #expect(Self.value(talk) == .integer(0))
        #expect(talk.machine.timer.armed == nil)
    }

    @Test("the last value is the one that arrived last and is still known")
    func latest() {
        var talk = House.talk(House.set([], states: [Self.last]))
        #expect(Self.value(talk, "last") == .integer(-1))
        talk.given(Self.message("room/a", #"{"lux": 1}"#))
        talk.given(Self.message("room/b/c", #"{"lux": 2}"#))
        talk.given(Self.message("room/d", #"{"battery": 2}"#))
        #expect(Self.value(talk, "last") == .integer(2))
        talk.given(Self.message("room/a", #"{"lux": 3}"#))
        #expect(Self.value(talk, "last") == .integer(3))
        talk.given(Self.message("room/a", "no JSON"))
        #expect(Self.value(talk, "last") == .integer(2))
        talk.given(Self.message("room/b/c", ""))
        #expect(Self.value(talk, "last") == .integer(-1))
    }

    @Test("a message that does not fit is reported with its topic, and has no type to suggest in a count")
    func fault() {
        var talk = House.talk(House.set([], states: [Self.open, Self.last]))
        let faults = talk.given(Self.message("window/a", "ajar")).compactMap { effect in
            if case .stateFault(let fault) = effect { fault.message } else { nil }
        }
        #expect(faults == [#""ajar" on window/a is no boolean"#])
        #expect(Self.value(talk) == .integer(0))
    }

    @Test("at most 256 topics have a value, and the log says once which one is ignored")
    func many() {
        var talk = House.talk(House.set([], states: [Self.open]))
        for number in 0..<256 { #expect(talk.tell(Self.message("window/\(number)", "ON")) == []) }
        let words = talk.given(Self.message("window/256", "ON"))
        #expect(words.contains(.log(.warning, "state open has values of 256 topics, so window/256 is ignored")))
        let more = talk.given(Self.message("window/257", "ON"))
        #expect(!more.contains { if case .log = $0 { true } else { false } })
        #expect(Self.value(talk) == .integer(256))
        talk.given(Self.message("window/7", ""))
        talk.given(Self.message("window/257", "ON"))
        #expect(Self.value(talk) == .integer(256))
    }

    @Test("messages that are too long are reported for 64 topics, so invented topics do not fill the memory")
    func tooLong() {
        let contact = DeclaredState(
            name: "open", topicName: "window/+", pointer: "/contact", type: .integer, combination: .count)
        var talk = House.talk(House.set([], states: [contact]))
        let long = String(repeating: " ", count: RuleEngine.maximumStateLength + 1)
        var reported = 0
        for number in 0..<200 {
            reported += talk.given(Self.message("window/\(number)", long)).count {
                if case .oversizedState = $0 { true } else { false }
            }
        }
        #expect(reported == 64)
    }

    @Test("a count that changes fires a trigger, and what a start brings does not")
    func trigger() throws {
        let rule = Rule(
            id: "changed", triggers: [Trigger(origin: .states(StateTrigger(["open"])), id: "it")],
            steps: [try .tell("{{ trigger.old }} {{ trigger.new }}")])
        var talk = House.talk(House.set([rule], states: [Self.open]))
        #expect(talk.tell(Self.message("window/a", "ON", isRetained: true)) == [])
        #expect(talk.tell(Self.message("window/b", "ON", isRetained: true)) == [])
        #expect(talk.tell(Self.message("window/b", "ON")) == [])
        #expect(talk.tell(Self.message("window/b", "OFF")).contains("1 says 2 1"))
        #expect(talk.tell(Self.message("window/c", "ON")).contains("2 says 1 2"))
        // Without a known value, the count is 0 by default, which is no known value.
        var fresh = House.talk(House.set([rule], states: [Self.open]))
        #expect(fresh.tell(Self.message("window/a", "ON")) == [])
    }

    @Test("a reload keeps the values of topics, and another way to combine them begins anew")
    func reload() {
        var talk = House.talk(House.set([], states: [Self.open]))
        talk.given(Self.message("window/a", "ON"))
        _ = talk.pass(.seconds(10))
        talk.given(Self.message("window/b", "ON"))
        var renamed = Self.open
        renamed.name = "windows"
        renamed.maximumAge = .seconds(40)
        talk.given(.reloaded(House.set([], states: [renamed])))
        #expect(Self.value(talk, "windows") == .integer(2))
        _ = talk.pass(.seconds(30))
        #expect(Self.value(talk, "windows") == .integer(1))
        var other = Self.open
        other.combination = .last
        let effects = talk.given(.reloaded(House.set([], states: [other])))
        #expect(effects.contains(.subscribe(["window/+"])))
        #expect(Self.value(talk) == .unknown)
    }

    @Test("several states may read one topic, with and without wildcards")
    func severalStates() {
        let one = DeclaredState(name: "one", topicName: "window/a")
        var talk = House.talk(House.set([], states: [one, Self.open]))
        talk.given(Self.message("window/a", "ON"))
        #expect(Self.value(talk, "one") == .string("ON") && Self.value(talk) == .integer(1))
        talk.given(.given(.state("open", .integer(3))))
        #expect(Self.value(talk) == .integer(3))
    }

    @Test("random messages of many topics give what a model gives", arguments: 0..<30)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var talk = House.talk(House.set([], states: [Self.open]))
        var known: [String: (isOn: Bool, at: Instant)] = [:]
        for _ in 0..<200 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: _ = talk.pass(.seconds(Int64.random(in: 1...40, using: &random)))
            case 1: talk.given(.reloaded(House.set([], states: [Self.open])))
            default:
                let topicName = "window/\(Int.random(in: 0..<12, using: &random))"
                let text = ["ON", "ON", "OFF", "", "?"].randomElement(using: &random) ?? ""
                talk.given(Self.message(topicName, text))
                known[topicName] = text == "ON" || text == "OFF" ? (text == "ON", talk.now) : nil
            }
            known = known.filter { talk.now - $0.value.at < .seconds(60) }
            #expect(Self.value(talk) == .integer(Int64(known.values.count { $0.isOn })))
        }
    }
}
