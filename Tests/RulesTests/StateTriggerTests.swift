import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Triggers of states")
struct StateTriggerTests {
    private static let states = [
        DeclaredState(name: "door", topicName: "door"),
        DeclaredState(
            name: "lux", topicName: "lux", type: .integer, defaultValue: .integer(0), maximumAge: .seconds(600)),
        DeclaredState(name: "first", topicName: "both", pointer: "/a"),
        DeclaredState(name: "second", topicName: "both", pointer: "/b"),
    ]

    /// A rule with this trigger that says what has changed.
    private static func rule(_ trigger: StateTrigger, id: String = "changed", do steps: Step...) throws -> Rule {
        Rule(
            id: id, triggers: [Trigger(origin: .states(trigger), id: "it")],
            steps: steps.isEmpty ? [try .tell("{{ trigger.state }} {{ trigger.old }} {{ trigger.new }}")] : steps)
    }

    private static func talk(_ rules: Rule..., given state: RuleState = RuleState()) -> Transcript<RuleEngine> {
        House.talk(House.set(rules, states: states), given: state)
    }

    private static func message(_ topicName: String, _ text: String, isRetained: Bool = false) -> RuleEngine.Input {
        .message(topicName: topicName, payload: Array(text.utf8), isRetained: isRetained)
    }

    private static func ran(_ text: String, number: Int = 1) -> [String] {
        ["started \(number) changed", "\(number) says \(text)", "completed \(number)"]
    }

    @Test("it fires when a value changes, and says what has changed")
    func changes() throws {
        var talk = Self.talk(try Self.rule(StateTrigger(["door"])))
        #expect(talk.hears(Self.message("door", "closed")) == [])
        #expect(talk.hears(Self.message("door", "closed")) == [])
        #expect(talk.hears(Self.message("door", "open")) == Self.ran("door closed open"))
        #expect(talk.hears(Self.message("door", "open")) == [])
        #expect(talk.hears(Self.message("door", "closed")) == Self.ran("door open closed", number: 2))
        #expect(talk.hears(Self.message("lux", "3")) == [])
    }

    @Test("expressions see what fired")
    func facts() throws {
        var talk = Self.talk(
            try Self.rule(
                StateTrigger(["door"]),
                do: try .tell(
                    "{{ trigger.kind }} {{ trigger.event }} {{ trigger.id }} {{ trigger.late }}")))
        talk.given(Self.message("door", "closed"))
        #expect(talk.hears(Self.message("door", "open"))[1] == "1 says state state it 0s")
    }

    @Test("retained messages, the first value, a default and a value that expires fire nothing")
    func unknown() throws {
        var talk = Self.talk(try Self.rule(StateTrigger(["door", "lux"])))
        #expect(talk.hears(Self.message("door", "closed", isRetained: true)) == [])
        #expect(talk.hears(Self.message("door", "open", isRetained: true)) == [])
        #expect(talk.hears(Self.message("door", "closed")) == Self.ran("door open closed"))
        // The default is 0.
        #expect(talk.hears(Self.message("lux", "5")) == [])
        #expect(talk.hears(Self.message("lux", "bright")).filter { $0.contains("started") } == [])
        #expect(talk.hears(Self.message("lux", "6")) == [])
        #expect(talk.lets(.seconds(601)) == [])
        #expect(talk.hears(Self.message("lux", "7")) == [])
        #expect(talk.hears(Self.message("lux", "8")) == Self.ran("lux 7 8", number: 2))
    }

    @Test(
        "it fires only from and to the values that it names",
        arguments: [(1, 2, true), (1, 3, false), (2, 3, false), (4, 2, true), (4, 5, false), (3, 2, false)])
    func values(from: Int64, to: Int64, fires: Bool) throws {
        var talk = Self.talk(
            try Self.rule(StateTrigger(["lux"], from: [.integer(1), .integer(4)], to: [.integer(2)])))
        talk.given(Self.message("lux", "\(from)"))
        #expect(talk.hears(Self.message("lux", "\(to)")) == (fires ? Self.ran("lux \(from) \(to)") : []))
    }

    @Test("a message that changes two states is two events; two triggers of a rule that match one are one")
    func several() throws {
        var rule = try Self.rule(StateTrigger(["first", "second"]))
        rule.mode = .parallel
        rule.maximumRuns = 10
        rule.triggers.append(Trigger(origin: .states(StateTrigger(["second"]))))
        var talk = Self.talk(rule)
        talk.given(Self.message("both", #"{"a": 1, "b": 1}"#))
        let words = talk.hears(Self.message("both", #"{"a": 2, "b": 3}"#))
        #expect(words.filter { $0.contains("says") } == ["1 says first 1 2", "2 says second 1 3"])
    }

    // MARK: Expressions

    private static func expression(_ text: String) throws -> Expression {
        var scope = Scope()
        scope.change = ExpressionType(.integer)
        return try Expression(compiling: text, in: scope, expecting: .condition)
    }

    private static func crossing(for duration: Duration = .zero) throws -> StateTrigger {
        var trigger = StateTrigger(["lux"], for: duration)
        trigger.fromExpressions = [try expression("old <= 25")]
        trigger.toExpressions = [try expression("new > 25")]
        return trigger
    }

    @Test("a value that crosses a limit fires once, and again when it has come back")
    func crossing() throws {
        var talk = Self.talk(try Self.rule(Self.crossing()))
        talk.given(Self.message("lux", "20"))
        #expect(talk.hears(Self.message("lux", "25")) == [])
        #expect(talk.hears(Self.message("lux", "26")) == Self.ran("lux 25 26"))
        #expect(talk.hears(Self.message("lux", "40")) == [])
        #expect(talk.hears(Self.message("lux", "10")) == [])
        #expect(talk.hears(Self.message("lux", "30")) == Self.ran("lux 10 30", number: 2))
    }

    @Test("an expression compares both values, and a value beside it is enough")
    func jump() throws {
        var trigger = StateTrigger(["lux"], to: [.integer(0)])
        trigger.toExpressions = [try Self.expression("new > old + 5")]
        var talk = Self.talk(try Self.rule(trigger))
        talk.given(Self.message("lux", "10"))
        #expect(talk.hears(Self.message("lux", "15")) == [])
        #expect(talk.hears(Self.message("lux", "21")) == Self.ran("lux 15 21"))
        #expect(talk.hears(Self.message("lux", "0")) == Self.ran("lux 21 0", number: 2))
    }

    @Test("the time goes on while the expression of the new value holds, also after a restart")
    func crossingLasts() throws {
        var talk = Self.talk(try Self.rule(Self.crossing(for: .seconds(300))))
        talk.given(Self.message("lux", "20"))
        #expect(talk.hears(Self.message("lux", "30")) == ["stored changed/state/0/lux/"])
        talk.lets(.seconds(200))
        #expect(talk.hears(Self.message("lux", "40")) == [])
        #expect(talk.lets(.seconds(100)) == ["forgot changed/state/0/lux/"] + Self.ran("lux 20 40"))
        talk.given(Self.message("lux", "20"))
        talk.given(Self.message("lux", "30"))
        #expect(talk.hears(Self.message("lux", "25")) == ["forgot changed/state/0/lux/"])
        for (text, goesOn) in [("26", true), ("25", false)] {
            var talk = Self.talk(
                try Self.rule(Self.crossing(for: .seconds(300))),
                given: RuleState(dailyTimes: ["changed/state/0/lux/": House.noon]))
            #expect(
                talk.hears(Self.message("lux", text, isRetained: true))
                    == [goesOn ? "stored changed/state/0/lux/" : "forgot changed/state/0/lux/"])
        }
    }

    // MARK: for

    private static let lasting = StateTrigger(["door"], to: [.string("open"), .string("ajar")], for: .seconds(300))

    @Test("with a duration it fires when the value has lasted; another value of the list goes on")
    func lasts() throws {
        var talk = Self.talk(try Self.rule(Self.lasting))
        talk.given(Self.message("door", "closed"))
        #expect(talk.hears(Self.message("door", "open")) == ["stored changed/state/0/door/"])
        #expect(talk.lets(.seconds(200)) == [])
        #expect(talk.hears(Self.message("door", "ajar")) == [])
        #expect(talk.lets(.milliseconds(99_999)) == [])
        #expect(talk.lets(.milliseconds(1)) == ["forgot changed/state/0/door/"] + Self.ran("door closed ajar"))
        #expect(talk.lets(.seconds(3600)) == [])
    }

    @Test("a value that ends in time, also by a retained message, fires nothing")
    func ends() throws {
        for isRetained in [false, true] {
            var talk = Self.talk(try Self.rule(Self.lasting))
            talk.given(Self.message("door", "closed"))
            talk.given(Self.message("door", "open"))
            #expect(talk.lets(.seconds(299)) == [])
            #expect(
                talk.hears(Self.message("door", "closed", isRetained: isRetained)) == ["forgot changed/state/0/door/"])
            #expect(talk.lets(.seconds(3600)) == [])
        }
    }

    @Test("without to, another value begins the time again")
    func same() throws {
        var talk = Self.talk(try Self.rule(StateTrigger(["door"], for: .seconds(300))))
        talk.given(Self.message("door", "closed"))
        #expect(talk.hears(Self.message("door", "open")) == ["stored changed/state/0/door/open"])
        talk.lets(.seconds(200))
        #expect(
            talk.hears(Self.message("door", "ajar"))
                == ["forgot changed/state/0/door/open", "stored changed/state/0/door/ajar"])
        #expect(talk.lets(.seconds(299)) == [])
        #expect(talk.lets(.seconds(1)).last == "completed 1")
    }

    @Test("a value that expires ends the time")
    func expires() throws {
        var talk = Self.talk(try Self.rule(StateTrigger(["lux"], for: .seconds(900))))
        talk.given(Self.message("lux", "1"))
        talk.given(Self.message("lux", "2"))
        #expect(talk.lets(.seconds(599)) == [])
        #expect(talk.lets(.seconds(1)) == ["forgot changed/state/0/lux/2"])
        #expect(talk.lets(.seconds(3600)) == [])
    }

    @Test("after a restart the time begins again when the value is known, if it still holds")
    func restart() throws {
        for (text, goesOn) in [("open", true), ("closed", false)] {
            var talk = Self.talk(
                try Self.rule(Self.lasting), given: RuleState(dailyTimes: ["changed/state/0/door/": House.noon]))
            #expect(talk.lets(.seconds(3600)) == [])
            #expect(
                talk.hears(Self.message("door", text, isRetained: true))
                    == (goesOn ? ["stored changed/state/0/door/"] : ["forgot changed/state/0/door/"]))
            #expect(talk.lets(.milliseconds(299_999)) == [])
            #expect(
                talk.lets(.milliseconds(1))
                    == (goesOn ? ["forgot changed/state/0/door/"] + Self.ran("door  \(text)") : []))
        }
    }

    @Test("without to, only the value with which the time began goes on after a restart")
    func restartWithValue() throws {
        for (text, goesOn) in [("open", true), ("ajar", false)] {
            var talk = Self.talk(
                try Self.rule(StateTrigger(["door"], for: .seconds(300))),
                given: RuleState(dailyTimes: ["changed/state/0/door/open": House.noon]))
            #expect(
                talk.hears(Self.message("door", text, isRetained: true))
                    == [goesOn ? "stored changed/state/0/door/open" : "forgot changed/state/0/door/open"])
        }
    }

    @Test("a state that comes from another topic after a reload ends the time")
    func otherTopic() throws {
        let rule = try Self.rule(Self.lasting)
        var talk = Self.talk(rule)
        talk.given(Self.message("door", "closed"))
        talk.given(Self.message("door", "open"))
        let other = [DeclaredState(name: "door", topicName: "garage")]
        #expect(
            talk.hears(.reloaded(House.set([rule], states: other))).filter { $0.contains("/state/") }
                == ["forgot changed/state/0/door/"])
        #expect(talk.lets(.seconds(3600)) == [])
    }

    @Test("what was stored for another trigger is forgotten")
    func outdated() throws {
        var talk = Transcript(
            RuleEngine(
                House.set([try Self.rule(Self.lasting)], states: Self.states),
                state: RuleState(dailyTimes: [
                    "changed/state/1/door/": House.noon, "gone/state/0/door/": House.noon,
                    "changed/state/0/door/": House.noon,
                ])))
        #expect(
            talk.hears(.buttonsChanged([])).filter { $0.hasPrefix("forgot") }
                == ["forgot changed/state/1/door/", "forgot gone/state/0/door/"])
    }

    @Test("a reload fires nothing; the time of an unchanged rule goes on, that of a changed one ends")
    func reload() throws {
        let rule = try Self.rule(Self.lasting)
        var talk = Self.talk(rule)
        talk.given(Self.message("door", "closed"))
        talk.given(Self.message("door", "open"))
        talk.lets(.seconds(200))
        let other = try Self.rule(StateTrigger(["lux"]), id: "other")
        #expect(talk.hears(.reloaded(House.set([other, rule], states: Self.states.reversed()))) == [])
        #expect(talk.lets(.seconds(100)) == ["forgot changed/state/0/door/"] + Self.ran("door closed open"))

        talk.given(Self.message("door", "closed"))
        talk.given(Self.message("door", "open"))
        var changed = rule
        changed.steps = [.say("another")]
        #expect(
            talk.hears(.reloaded(House.set([changed], states: Self.states))) == ["forgot changed/state/0/door/"])
        #expect(talk.lets(.seconds(3600)) == [])
    }

    @Test("conditions and gates apply when it fires")
    func gates() throws {
        var rule = try Self.rule(Self.lasting)
        rule.conditions = [try .that("trigger.new == 'closed'")]
        var talk = Self.talk(rule)
        talk.given(Self.message("door", "closed"))
        talk.given(Self.message("door", "open"))
        #expect(
            talk.lets(.seconds(300)).last
                == "stopped changed, dropped_conditions: trigger.new == 'closed' is false (trigger.new = \"open\")")
    }
}

extension Transcript<RuleEngine> {
    /// The effects in words. A stored time is `stored KEY` or `forgot KEY`.
    fileprivate mutating func hears(_ input: RuleEngine.Input) -> [String] { tell(input).map(Self.short) }

    @discardableResult
    fileprivate mutating func lets(_ duration: Duration) -> [String] { pass(duration).map(Self.short) }

    private static func short(_ words: String) -> String {
        let prefix = "keep reset of "
        guard words.hasPrefix(prefix) else { return words }
        let key = words.dropFirst(prefix.count).prefix { $0 != " " }
        return (words.hasSuffix("no time") ? "forgot " : "stored ") + key
    }
}
