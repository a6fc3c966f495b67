import Almanac
import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Triggers at local times")
struct TimeTriggerTests {
    /// A rule that fires at 21:00 and says so, unless other times are given.
    private static func rule(
        at times: [TimeOfDay] = [.time(secondOfDay: 21 * 3600)], on days: Set<LocalTime.Weekday> = [],
        missed: Duration = .zero, id: String = "evening", do steps: Step...
    ) -> Rule {
        Rule(
            id: id, triggers: [Trigger(origin: .times(TimeTrigger(times, on: days, missed: missed)), id: "nine")],
            steps: steps.isEmpty ? [.say(id)] : steps)
    }

    /// Central European time, as a zone file (RFC 8536) that has only the rule for all years.
    private static let amsterdam: TimeZone? = {
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let block = header + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4] + [0, 0, 0x0E, 0x10, 0, 0] + Array("CET\0".utf8)
        return TimeZone(named: "Europe/Amsterdam", block + block + Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8))
    }()

    /// 2026-01-15 21:00:00 UTC
    private static let nine = House.noon + .seconds(9 * 3600)

    private static let ran = ["started 1 evening", "1 says evening", "completed 1"]

    @Test("it fires at its time, once a day, and not a moment before")
    func time() {
        var talk = House.talk(Self.rule())
        #expect(talk.pass(.seconds(9 * 3600) - .milliseconds(1)) == [])
        #expect(talk.pass(.milliseconds(1)) == Self.ran)
        #expect(talk.pass(.seconds(86_400) - .milliseconds(1)) == [])
        #expect(talk.pass(.milliseconds(1)).count == 3)
    }

    @Test("expressions see what fired, and when it was due")
    func facts() throws {
        var talk = House.talk(
            Self.rule(
                do: try .tell(
                    "{{ trigger.kind }} {{ trigger.event }} {{ trigger.id }} {{ trigger.at }} {{ trigger.late }}")))
        #expect(talk.pass(.seconds(9 * 3600))[1] == "1 says time at nine 2026-01-15T21:00:00+00:00 0s")
        var press = House.talk(.on(.click, do: try .tell("{{ trigger.kind }} {{ trigger.late }}")))
        #expect(press.click()[1] == "1 says button 0s")
        #expect(
            press.tell(.requested(.run(rule: "rule", ignoringConditions: false, isDryRun: false)))[1] == "2 says  0s")
    }

    @Test("it fires on its days only, and at each of its times")
    func days() {
        // 2026-01-15 is a Thursday.
        var talk = House.talk(
            Self.rule(at: [.time(secondOfDay: 0), .time(secondOfDay: 43_200)], on: [.sat]))
        #expect(talk.pass(.seconds(36 * 3600) - .milliseconds(1)) == [])
        #expect(talk.pass(.milliseconds(1)).count == 3)
        #expect(talk.pass(.seconds(43_200)).count == 3)
        #expect(talk.pass(.seconds(6 * 86_400)) == [])
    }

    @Test("gates apply as for presses")
    func gates() throws {
        var rule = Self.rule()
        rule.conditions = [try .that("states.lux < 20")]
        var talk = House.talk(rule)
        #expect(
            talk.pass(.seconds(9 * 3600)) == [
                "stopped evening, dropped_conditions: states.lux < 20 is false (states.lux = 30)"
            ])
        _ = talk.tell(.requested(.setEnabled(rule: "evening", false)))
        #expect(talk.pass(.seconds(86_400)) == ["stopped evening, disabled: disabled at run time"])
    }

    @Test("two rules at one time are one event, and a rule with two triggers at one time runs once")
    func together() {
        var both = Self.rule(id: "first")
        both.triggers.append(both.triggers[0])
        var talk = House.talk(both, Self.rule(id: "second"))
        #expect(
            talk.pass(.seconds(9 * 3600)) == [
                "started 1 first", "started 2 second", "1 says first", "completed 1", "2 says second", "completed 2",
            ])
    }

    // MARK: Starts, reloads and clocks

    @Test("nothing fires because of a start or a reload")
    func start() {
        var talk = House.talk(House.set([Self.rule()]), at: Self.nine)
        #expect(talk.pass(.seconds(3600)) == [])
        var other = House.set([Self.rule(at: [.time(secondOfDay: 20 * 3600)], missed: .seconds(43_200))])
        #expect(talk.tell(.reloaded(other)) == ["keep reset of evening/20:00 at 2026-01-15T22:00:00.000Z"])
        other.rules[0].steps = [.say("changed")]
        #expect(talk.tell(.reloaded(other)) == [])
        #expect(talk.pass(.seconds(22 * 3600)).suffix(2) == ["1 says changed", "completed 1"])
        #expect(talk.tell(.reloaded(House.set([]))) == ["keep reset of evening/20:00 at no time"])
        #expect(talk.pass(.seconds(86_400)) == [])
    }

    @Test("another time zone fires nothing")
    func zone() throws {
        let amsterdam = try #require(Self.amsterdam)
        var set = House.set([Self.rule(missed: .seconds(43_200))])
        var talk = House.talk(set, at: Self.nine - .seconds(1800))
        set.timeZone = amsterdam
        #expect(talk.tell(.reloaded(set)) == ["keep reset of evening/21:00 at 2026-01-15T20:30:00.000Z"])
        #expect(talk.pass(.seconds(23 * 3600)) == [])
        #expect(talk.pass(.seconds(3600)).count == 4)
    }

    @Test("a clock that is not believed fires nothing, and believed again it fires only what is due from then on")
    func implausible() {
        var talk = Transcript(RuleEngine(House.set([Self.rule()])))
        talk.given(.buttonsChanged(House.identities))
        _ = talk.tell(.wallClock(UTCTime(milliseconds: 21 * 3_600_000 - 5000), isBelievable: false))
        #expect(talk.pass(.seconds(60)) == [])
        _ = talk.tell(.wallClock(Self.nine - .seconds(60), isBelievable: true))
        #expect(talk.pass(.seconds(60)) == Self.ran)
    }

    @Test("a clock that jumps over the time does not fire it, and one that goes back fires nothing twice")
    func jumps() {
        var talk = House.talk(Self.rule())
        let missed = "info: rule evening has missed 2026-01-15T21:00:00+00:00 and does not run"
        #expect(talk.tell(.wallClock(Self.nine + .seconds(60), isBelievable: true)) == [missed])
        #expect(
            talk.tell(.wallClock(Self.nine - .seconds(60), isBelievable: true)) == [
                "keep reset of evening/21:00 at 2026-01-15T21:01:00.000Z"
            ])
        #expect(talk.pass(.seconds(3600)) == [])
        _ = talk.tell(.wallClock(Self.nine + .seconds(86_400), isBelievable: true))
        #expect(talk.pass(.seconds(3600)) == [])
        #expect(talk.pass(.seconds(23 * 3600)).count == 3)
    }

    @Test("times that the clock jumps over are reported with one effect, for the first rule")
    func jumpsOverSeveral() {
        var talk = House.talk(
            Self.rule(), Self.rule(at: [.time(secondOfDay: 20 * 3600)], id: "early"),
            Self.rule(at: [.time(secondOfDay: 22 * 3600)], id: "late"))
        #expect(
            talk.given(.wallClock(Self.nine + .seconds(3601), isBelievable: true)).filter { $0.words != nil } == [
                .timesMissed(MissedTimes(rule: "evening", time: "2026-01-15T21:00:00+00:00", count: 3))
            ])
        #expect(
            MissedTimes(rule: "early", time: "20:00", count: 3).sentence
                == "rule early has missed 20:00 and does not run, and 2 more")
    }

    @Test("nor does it after a restart of the program, which keeps the time until the clock has passed it again")
    func jumpsAndRestart() {
        var talk = House.talk(Self.rule())
        #expect(talk.pass(.seconds(9 * 3600)) == Self.ran)
        #expect(
            talk.tell(.wallClock(Self.nine - .seconds(3600), isBelievable: true)) == [
                "keep reset of evening/21:00 at 2026-01-15T21:00:00.000Z"
            ])
        var state = RuleState()
        state.dailyTimes["evening/21:00"] = Self.nine
        talk = Transcript(RuleEngine(House.set([Self.rule()]), state: state))
        #expect(talk.tell(.wallClock(Self.nine - .seconds(1800), isBelievable: true)) == [])
        #expect(talk.pass(.seconds(3600)) == [])
        #expect(
            talk.pass(.seconds(23 * 3600 + 1800)) == ["keep reset of evening/21:00 at no time"] + Self.ran)
    }

    @Test("a clock that is set to just the time does not fire")
    func justThen() {
        for missed in [Duration.zero, .seconds(3600)] {
            var talk = House.talk(Self.rule(missed: missed))
            #expect(!talk.tell(.wallClock(Self.nine, isBelievable: true)).contains("started 1 evening"))
            #expect(talk.pass(.seconds(3600)) == [])
        }
    }

    @Test("a clock that is corrected by a second does not lose the time")
    func correction() {
        var talk = House.talk(Self.rule())
        _ = talk.pass(.seconds(9 * 3600) - .milliseconds(300))
        #expect(talk.tell(.wallClock(Self.nine + .milliseconds(700), isBelievable: true)) == Self.ran)
    }

    @Test("a timer that fires some seconds late is in time, and one that fires minutes late is not")
    func late() {
        var talk = House.talk(Self.rule())
        talk.wait(.seconds(9 * 3600 + 10))
        #expect(talk.tell(.timerFired) == Self.ran)
        talk.wait(.seconds(86_400 + 1))
        #expect(talk.tell(.timerFired).first?.hasPrefix("info: rule evening has missed 2026-01-16T21:00:00") == true)
    }

    // MARK: Missed times

    /// What happens when the clock becomes known after a start.
    private func start(handled: UTCTime?, at time: UTCTime, _ rule: Rule) -> [String] {
        var state = RuleState()
        state.dailyTimes["evening/21:00"] = handled
        var talk = Transcript(RuleEngine(House.set([rule]), state: state))
        talk.given(.buttonsChanged(House.identities))
        return talk.tell(.wallClock(time, isBelievable: true))
    }

    @Test("a time that was missed fires once, at most as late as the rule permits")
    func missed() throws {
        let rule = Self.rule(missed: .seconds(3600), do: try .tell("{{ trigger.at }} {{ trigger.late }}"))
        let days = Self.nine - .seconds(3 * 86_400)
        #expect(
            start(handled: days, at: Self.nine + .seconds(3600), rule) == [
                "keep reset of evening/21:00 at 2026-01-15T22:00:00.000Z", "started 1 evening",
                "1 says 2026-01-15T21:00:00+00:00 1h", "completed 1",
            ])
        #expect(
            start(handled: days, at: Self.nine + .seconds(3601), rule) == [
                "keep reset of evening/21:00 at 2026-01-15T22:00:01.000Z",
                "info: rule evening has missed 2026-01-15T21:00:00+00:00 and does not run",
            ])
        #expect(start(handled: Self.nine, at: Self.nine + .seconds(3600), rule) == [])
        // A start at just the time. A rule without `missed` has nothing stored and misses it.
        #expect(
            start(handled: days, at: Self.nine, rule) == [
                "keep reset of evening/21:00 at 2026-01-15T21:00:00.000Z", "started 1 evening",
                "1 says 2026-01-15T21:00:00+00:00 0s", "completed 1",
            ])
        #expect(!start(handled: days, at: Self.nine, Self.rule()).contains("started 1 evening"))
        #expect(start(handled: nil, at: Self.nine + .seconds(60), rule).count == 1)
    }

    @Test("what an earlier version of the rule stored is removed, and fires nothing")
    func removed() {
        var state = RuleState()
        state.dailyTimes["evening/21:00"] = House.noon
        var talk = Transcript(RuleEngine(House.set([Self.rule()]), state: state))
        #expect(
            talk.tell(.wallClock(Self.nine + .seconds(60), isBelievable: true)) == [
                "keep reset of evening/21:00 at no time"
            ])
    }

    @Test("a stored time at the end of its range fires at most once", arguments: [Int64.min, 0, .max])
    func hostile(milliseconds: Int64) {
        let said = start(
            handled: UTCTime(milliseconds: milliseconds), at: Self.nine + .seconds(60),
            Self.rule(missed: .seconds(3600)))
        #expect(said.filter { $0.hasPrefix("started") }.count <= 1)
    }

    @Test("a rule that begins to have missed is stored from then on")
    func begins() {
        var talk = House.talk(Self.rule())
        #expect(
            talk.tell(.reloaded(House.set([Self.rule(missed: .seconds(60))]))) == [
                "keep reset of evening/21:00 at 2026-01-15T12:00:00.000Z"
            ])
    }

    // MARK: Summer time

    @Test("a time that summer time leaves out fires when the clock has passed it, and one that is repeated fires once")
    func summerTime() throws {
        // The local days begin at 2026-03-28T23:00Z and 2026-10-24T22:00Z, and the rule fires at 02:30.
        for (midnight, minutes) in [(1_774_738_800_000, 120), (1_792_879_200_000, 150)] as [(Int64, Int64)] {
            var set = House.set([Self.rule(at: [.time(secondOfDay: 9000)])])
            set.timeZone = try #require(Self.amsterdam)
            var talk = House.talk(set, at: UTCTime(milliseconds: midnight))
            #expect(talk.pass(.seconds(minutes * 60) - .milliseconds(1)) == [])
            #expect(talk.pass(.milliseconds(1)).count == 3)
            #expect(talk.pass(.seconds(20 * 3600)) == [])
        }
    }

    // MARK: Many

    @Test("ten thousand triggers have one deadline, and between their times the engine does nothing for them")
    func many() {
        let rules = (0..<10_000).map { Self.rule(at: [.time(secondOfDay: $0)], id: "rule_\($0)") }
        var talk = House.talk(House.set(rules))
        #expect(talk.machine.timer.armed == talk.now + .seconds(43_200))
        #expect(talk.pass(.seconds(43_200)).count == 3)
        #expect(talk.machine.timer.armed == talk.now + .seconds(1))
    }

    @Test("a press keeps its plan in a rule that fires at a time, too")
    func plan() {
        var rule = Rule.on(.click, do: .say("x"))
        rule.triggers.append(Trigger(origin: .times(TimeTrigger([.time(secondOfDay: 0)]))))
        var talk = House.talk(rule)
        #expect(talk.click().count == 3)
        #expect(talk.pass(.seconds(43_200)).count == 3)
    }
}
