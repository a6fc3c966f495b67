import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Restarts of the process")
struct RestartTests {
    static let stairs: Rule = {
        var rule = Rule.on(.click, id: "stairs", mode: .restart, onRestart: .resume, do: .pause("5m"), .say("off"))
        rule.fingerprint = "stairs"
        return rule
    }()

    /// The stored state of a run of `stairs` that began to wait at noon.
    static func waiting() -> WaitingRun? {
        var talk = House.talk(stairs)
        let effects = talk.given(.event(.pattern([.short]), at: talk.now))
        for case .store(.waiting(_, let waiting?)) in effects { return waiting }
        return nil
    }

    static func restarted(after pause: Duration, _ rules: Rule...) throws -> (Transcript<RuleEngine>, [String]) {
        let state = RuleState(waitingRuns: [try #require(waiting())])
        var talk = Transcript(RuleEngine(House.set(rules), state: state))
        talk.given(.buttonsChanged(House.identities))
        let told = talk.tell(.wallClock(House.noon + pause, isBelievable: true))
        return (talk, told)
    }

    @Test("a run is stored as soon as it waits, and removed when it goes on")
    func keep() {
        var talk = House.talk(RestartTests.stairs)
        #expect(talk.click() == ["started 1 stairs", "keep wait of 1 until 2026-01-15T12:05:00.000Z"])
        talk.wait(.seconds(1))
        #expect(
            talk.click() == [
                "keep wait of 1 nothing", "cancelled 1", "started 2 stairs",
                "keep wait of 2 until 2026-01-15T12:05:01.000Z",
            ])
        #expect(talk.pass(.seconds(300)) == ["2 says off", "keep wait of 2 nothing", "completed 2"])
    }

    @Test("a waiting run goes on after a restart with the time it had left")
    func resume() throws {
        var (talk, told) = try RestartTests.restarted(after: .seconds(120), RestartTests.stairs)
        #expect(told == ["info: run 1 of stairs continues"])
        #expect(talk.pass(.seconds(179)) == [])
        #expect(talk.pass(.seconds(1)) == ["1 says off", "keep wait of 1 nothing", "completed 1"])
        #expect(talk.click().first == "started 2 stairs")
    }

    @Test("a run overdue by up to ten minutes goes on at once after a restart, and by more is interrupted")
    func overdue() throws {
        var (talk, told) = try RestartTests.restarted(after: .seconds(900), RestartTests.stairs)
        #expect(told == ["info: run 1 of stairs continues"])
        #expect(talk.pass(.zero) == ["1 says off", "keep wait of 1 nothing", "completed 1"])
        (talk, told) = try RestartTests.restarted(after: .milliseconds(900_001), RestartTests.stairs)
        #expect(
            told == [
                "warning: run 1 of stairs is not resumed: it should have continued 10m1ms ago",
                "keep wait of 1 nothing",
                "interrupted 1 stairs",
            ])
        #expect(talk.machine.latestOutcome(of: "stairs") == .interrupted)
    }

    @Test("a run whose rule was changed, removed or set to drop does not go on after a restart")
    func changed() throws {
        var other = RestartTests.stairs
        other.fingerprint = "other"
        #expect(try RestartTests.restarted(after: .zero, other).1.first?.hasSuffix("its rule was changed") == true)
        other = RestartTests.stairs
        other.onRestart = .drop
        #expect(try RestartTests.restarted(after: .zero, other).1.first?.hasSuffix("its rule does not resume") == true)
        let told = try RestartTests.restarted(after: .zero).1
        #expect(told.first?.hasSuffix("there is no such rule any more") == true)
        #expect(told.last == "interrupted 1 stairs")
    }

    @Test("stored runs are restored only when the clock is plausible")
    func clock() throws {
        let state = RuleState(waitingRuns: [try #require(RestartTests.waiting())])
        var talk = Transcript(RuleEngine(House.set([RestartTests.stairs]), state: state))
        talk.when(.wallClock(UTCTime(milliseconds: 5), isBelievable: false), expect: .nothing)
        #expect(talk.tell(.wallClock(House.noon, isBelievable: true)) == ["info: run 1 of stairs continues"])
    }

    @Test("a stored run that cannot be read is dropped with a warning")
    func damaged() throws {
        var waiting = try #require(RestartTests.waiting())
        waiting.saved = "{"
        var talk = Transcript(RuleEngine(House.set([RestartTests.stairs]), state: RuleState(waitingRuns: [waiting])))
        #expect(
            talk.tell(.wallClock(House.noon, isBelievable: true)).first
                == "warning: run 1 of stairs is not resumed: its stored state cannot be read")
    }

    @Test("setting the clock changes the stored end of a wait, and not its length")
    func clockSet() {
        var talk = House.talk(RestartTests.stairs, .on(.down, id: "bell", cooldown: .seconds(60), do: .say("bell")))
        talk.given(.event(.pattern([.short]), at: talk.now))
        talk.given(.event(.down, at: talk.now))
        #expect(
            talk.tell(.wallClock(House.noon + .seconds(3600), isBelievable: true)) == [
                "keep wait of 1 until 2026-01-15T13:05:00.000Z",
                "keep cooldown of bell until 2026-01-15T13:01:00.000Z",
            ])
        #expect(talk.tell(.wallClock(House.noon + .milliseconds(3_600_010), isBelievable: true)) == [])
        #expect(talk.pass(.seconds(300)).first == "1 says off")
    }

    @Test("at the end stored runs stay, other runs are interrupted, and no rule starts any more")
    func stop() {
        var talk = House.talk(
            RestartTests.stairs, .on(.down, id: "slow", mode: .queued, max: 3, do: .work),
            .on(.up, id: "last", queued: .limited(maximumAge: .seconds(9), keepLast: true), do: .say("up")))
        talk.given(.event(.pattern([.short]), at: talk.now))
        talk.given(.event(.down, at: talk.now))
        talk.given(.event(.down, at: talk.now))
        talk.given(.event(.up, age: .seconds(1), at: talk.now))
        #expect(talk.tell(.stop) == ["interrupted 3", "cancel 2", "interrupted 2"])
        #expect(talk.machine.timer.armed == nil)
        #expect(talk.click() == [])
        #expect(talk.done(2) == [])
    }

    private static let lastClick: Rule = {
        var rule = Rule.on(
            .click, id: "last", queued: .limited(maximumAge: .seconds(10), keepLast: true), do: .say("hello"))
        rule.fingerprint = "last"
        return rule
    }()

    /// An engine that continues after a click, 5 s old, was kept for `lastClick`, and its first effects.
    private static func afterKeptClick(
        _ pause: Duration, _ rules: Rule..., damage: (inout KeptEvent) -> Void = { _ in }
    ) -> (Transcript<RuleEngine>, [String]) {
        var state = RuleState()
        var before = House.talk(lastClick)
        for case .store(let change) in before.given(.event(.pattern([.short]), age: .seconds(5), at: before.now)) {
            state.apply(change)
        }
        for index in state.keptEvents.indices { damage(&state.keptEvents[index]) }
        var talk = Transcript(RuleEngine(House.set(rules), state: state))
        talk.given(.buttonsChanged(House.identities))
        let told = talk.tell(.wallClock(House.noon + pause, isBelievable: true))
        return (talk, told)
    }

    @Test("an event that waits for later ones is kept over a restart, and judged again by its true age")
    func keptEvent() {
        var (talk, told) = Self.afterKeptClick(.seconds(5), Self.lastClick)
        #expect(told == ["keep nothing for last", "keep click for last"])
        #expect(talk.pass(.milliseconds(499)) == [])
        #expect(
            talk.pass(.milliseconds(1)) == ["keep nothing for last", "started 1 last", "1 says hello", "completed 1"])

        (talk, told) = Self.afterKeptClick(.milliseconds(5001), Self.lastClick)
        #expect(
            told == [
                "keep nothing for last",
                "stopped last, dropped_queued: stored by the button for 10s1ms, at most 10s",
            ])
        #expect(talk.pass(.seconds(1)) == [])
    }

    @Test("after a restart, a later stored event replaces one that was kept before")
    func keptEventIsReplaced() {
        var (talk, _) = Self.afterKeptClick(.seconds(1), Self.lastClick)
        #expect(
            talk.click(age: .seconds(2), isLast: true) == [
                "keep click for last",
                "stopped last, dropped_queued: a later stored event arrived, and only the last one is used",
                "keep nothing for last", "started 1 last", "1 says hello", "completed 1",
            ])
    }

    @Test("an event that was kept for a rule that was changed or removed meanwhile is dropped with a warning")
    func keptEventOfOtherRule() {
        var other = Self.lastClick
        other.fingerprint = "other"
        for rule in [other, RestartTests.stairs] {
            var (talk, told) = Self.afterKeptClick(.seconds(1), rule)
            #expect(told.count == 2 && told.first == "keep nothing for last")
            #expect(told.last?.hasPrefix("warning: rule last does not run for click of kitchen") == true)
            #expect(talk.pass(.seconds(1)) == [])
        }
    }

    @Test("a kept event of a damaged store starts nothing", arguments: [-1, 1, Int.max])
    func damagedTrigger(trigger: Int) {
        var (talk, told) = Self.afterKeptClick(.seconds(1), Self.lastClick) { $0.trigger = trigger }
        #expect(told.count == 2 && told.last?.hasPrefix("warning: rule last does not run") == true)
        #expect(talk.pass(.seconds(1)) == [])
    }

    @Test(
        "a kept event whose time is at the end of the range is too old, or was just now", arguments: [Int64.min, .max])
    func damagedTime(milliseconds: Int64) {
        let (_, told) = Self.afterKeptClick(.seconds(1), Self.lastClick) {
            $0.cause.at = UTCTime(milliseconds: milliseconds)
        }
        #expect(told.last?.hasPrefix(milliseconds < 0 ? "stopped last, dropped_queued" : "keep click for last") == true)
    }

    @Test("a cooldown ends after a restart when it would have, and never later than the rule now allows")
    func cooldown() {
        var talk = RestartTests.talkWithCooldown(endsIn: .seconds(5))
        #expect(talk.click() == ["stopped rule, dropped_cooldown: for another 5s"])
        talk.wait(.seconds(5))
        #expect(talk.click().first == "started 1 rule")
        talk = RestartTests.talkWithCooldown(endsIn: .seconds(86_400))
        #expect(talk.click() == ["stopped rule, dropped_cooldown: for another 1m"])
        talk = RestartTests.talkWithCooldown(endsIn: .seconds(-1))
        #expect(talk.click().first == "started 1 rule")
    }

    private static func talkWithCooldown(endsIn left: Duration) -> Transcript<RuleEngine> {
        let cooldown = Cooldown(rule: "rule", endsAt: House.noon + left)
        return House.talk(
            .on(.click, cooldown: .seconds(60), do: .say("hello")), given: RuleState(cooldowns: [cooldown]))
    }

    @Test("variables, enabled rules and cycles are restored, and what no longer fits is reset with a warning")
    func values() {
        let state = RuleState(
            variables: ["volume": .integer(70), "scene": .integer(1), "unknown": .boolean(true)],
            cycles: [
                "rule/actions[0].cycle": CyclePosition(next: 1, at: House.noon),
                "gone/actions[0].cycle": CyclePosition(next: 1, at: House.noon),
            ],
            enabled: [
                "rule": EnabledOverride(isEnabled: true, inFile: false),
                "other": EnabledOverride(isEnabled: false, inFile: false),
            ])
        let cycle = Step(.cycle([[.say("one")], [.say("two")]], resetAfter: nil))
        var talk = Transcript(
            RuleEngine(
                House.set([.on(.click, of: .any, isEnabled: false, do: cycle), .on(.down, id: "other", do: .work)]),
                state: state))
        #expect(
            talk.tell(.brokerChanged(isConnected: true)) == [
                "warning: variable scene cannot be 1 any more and is reset to day", "keep scene nothing",
                "keep other as in the file", "keep gone/actions[0].cycle nothing",
            ])
        #expect(talk.machine.value(of: "volume") == .integer(70))
        #expect(talk.machine.value(of: "scene") == .string("day"))
        #expect(talk.machine.isEnabled(rule: "other") == true)
        #expect(talk.click().contains("1 says two"))
    }

    @Test("a stored value outside new bounds is clamped to them")
    func clamped() {
        var talk = Transcript(RuleEngine(House.set([]), state: RuleState(variables: ["volume": .integer(700)])))
        #expect(talk.tell(.brokerChanged(isConnected: true)) == ["keep volume 100"])
        #expect(talk.machine.value(of: "volume") == .integer(100))
    }
}
