import ButtonModel
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Run modes of a rule")
struct ModeTests {
    @Test("mode single drops an event while a run goes on, without effect on other rules")
    func single() {
        var talk = House.talk(.on(.click, id: "slow", do: .work), .on(.click, id: "other", do: .say("hello")))
        #expect(talk.click() == ["started 1 slow", "started 2 other", "1 works", "2 says hello", "completed 2"])
        #expect(
            talk.click() == [
                "stopped slow, dropped_busy: single: a run is in progress", "started 3 other", "3 says hello",
                "completed 3",
            ])
        #expect(talk.machine.latestOutcome(of: "slow") == .droppedBusy)
        #expect(talk.done(1) == ["completed 1"])
        #expect(talk.machine.latestOutcome(of: "slow") == .completed)
        #expect(talk.click().first == "started 4 slow")
    }

    @Test("mode restart cancels the run that goes on, then starts the new one")
    func restart() {
        var talk = House.talk(.on(.click, mode: .restart, do: .work))
        #expect(talk.click() == ["started 1 rule", "1 works"])
        #expect(talk.click() == ["cancel 1", "cancelled 1", "started 2 rule", "2 works"])
        #expect(talk.done(1) == [])
        #expect(talk.done(2) == ["completed 2"])
        #expect(talk.machine.statistics(of: "rule")?.counts == [.started: 2, .cancelled: 1, .completed: 1])
    }

    @Test("mode queued runs one after another in order, and drops an event beyond max")
    func queued() {
        var talk = House.talk(.on(.click, mode: .queued, max: 3, do: .work))
        #expect(talk.click() == ["started 1 rule", "1 works"])
        #expect(talk.click() == ["started 2 rule"])
        #expect(talk.click() == ["started 3 rule"])
        #expect(talk.click() == ["stopped rule, dropped_busy: queued: 3 runs are in progress or wait"])
        #expect(talk.done(1) == ["completed 1", "2 works"])
        #expect(talk.click() == ["started 4 rule"])
        #expect(talk.done(2, .failed(code: "R822", message: "exit status 1")).last == "3 works")
        #expect(talk.done(3) == ["completed 3", "4 works"])
        #expect(talk.done(4) == ["completed 4"])
    }

    @Test("mode parallel runs side by side, and drops an event beyond max")
    func parallel() {
        var talk = House.talk(.on(.click, mode: .parallel, max: 2, do: .work))
        #expect(talk.click() == ["started 1 rule", "1 works"])
        #expect(talk.click() == ["started 2 rule", "2 works"])
        #expect(talk.click() == ["stopped rule, dropped_busy: parallel: 2 runs are in progress"])
        #expect(talk.done(2) == ["completed 2"])
        #expect(talk.click() == ["started 3 rule", "3 works"])
    }

    @Test("with scope: button a run for one button does not block runs for other buttons")
    func scope() {
        var talk = House.talk(.on(.click, of: .any, mode: .restart, scope: .button, do: .work))
        #expect(talk.click() == ["started 1 rule", "1 works"])
        #expect(talk.click(of: House.hall) == ["started 2 rule", "2 works"])
        #expect(talk.click() == ["cancel 1", "cancelled 1", "started 3 rule", "3 works"])
    }

    @Test("at most 1000 runs go on or wait at once, and an event beyond them is dropped")
    func bound() {
        let rules = (0..<1000).map { Rule.on(.click, id: "rule_\($0)", do: .work) }
        var talk = House.talk(
            House.set(rules + [.on(.click, id: "late", do: .work), .on(.down, id: "down", do: .work)]))
        let told = talk.click()
        #expect(told.count == 2001)
        #expect(told.contains("stopped late, dropped_busy: 1000 runs are in progress"))
        #expect(talk.event(.down) == ["stopped down, dropped_busy: 1000 runs are in progress"])
        #expect(talk.done(1) == ["completed 1"])
        #expect(talk.event(.down) == ["started 1001 down", "1001 works"])
    }

    @Test("run numbers continue after those of the last process")
    func numbering() {
        var talk = Transcript(
            RuleEngine(House.set([.on(.click, of: .any, do: .say("hello"))]), nextRun: RunID(rawValue: 41)))
        #expect(talk.click().first == "started 41 rule")
    }

    @Test("an answer for a step that is not awaited is ignored")
    func strayAnswers() {
        var talk = House.talk(.on(.click, do: .work, .work))
        #expect(talk.done(7) == [])
        #expect(talk.click() == ["started 1 rule", "1 works"])
        #expect(talk.done(1, step: 1) == [])
        #expect(talk.done(2) == [])
        #expect(talk.done(1) == ["1 works"])
    }
}

@Suite("Rotation while the rule runs")
struct TurnTests {
    static func turn(_ steps: Int) -> RecognisedEvent.Kind { .rotation(steps: steps, collect: .milliseconds(100)) }

    static func talk(mode: Rule.Mode = .single, id: String = "turn") throws -> Transcript<RuleEngine> {
        let collect = Duration.milliseconds(100)
        return House.talk(
            Rule(
                id: id,
                triggers: [
                    Trigger(buttons: [.declared(2)], events: [.rotate(.clockwise, collect: collect)], id: "up"),
                    Trigger(
                        buttons: [.declared(2)], events: [.rotate(.counterClockwise, collect: collect)], id: "down"),
                ],
                steps: [try .tell("{{ trigger.event }} {{ trigger.id }} {{ trigger.steps }}"), .work], mode: mode,
                maximumRuns: 10))
    }

    @Test(
        "rotation during a run is summed and starts the rule when the run has ended",
        arguments: [Rule.Mode.single, .queued])
    func sum(mode: Rule.Mode) throws {
        var talk = try TurnTests.talk(mode: mode)
        #expect(
            talk.event(TurnTests.turn(3), of: House.desk) == [
                "started 1 turn", "1 says rotate_clockwise up 3", "1 works",
            ])
        #expect(talk.event(TurnTests.turn(2), of: House.desk) == [])
        #expect(talk.event(TurnTests.turn(-6), of: House.desk) == [])
        #expect(
            talk.done(1, step: 1) == [
                "completed 1", "started 2 turn", "2 says rotate_counter_clockwise down -4", "2 works",
            ])
        #expect(talk.done(2, step: 1) == ["completed 2"])
    }

    @Test("rotation during a run that sums to zero starts no run")
    func nothing() throws {
        var talk = try TurnTests.talk()
        talk.given(.event(TurnTests.turn(3), of: House.desk, at: talk.now))
        talk.given(.event(TurnTests.turn(-2), of: House.desk, at: talk.now))
        talk.given(.event(TurnTests.turn(2), of: House.desk, at: talk.now))
        #expect(talk.done(1, step: 1) == ["completed 1"])
    }

    @Test("rotation during a run is summed for each part of the dial")
    func parts() throws {
        var talk = try TurnTests.talk()
        talk.given(.event(TurnTests.turn(1), of: House.desk, part: .dial, at: talk.now))
        talk.given(.event(TurnTests.turn(2), of: House.desk, part: .dial, at: talk.now))
        talk.given(.event(TurnTests.turn(4), of: House.desk, part: .push, at: talk.now))
        #expect(talk.done(1, step: 1).prefix(3) == ["completed 1", "started 2 turn", "2 says rotate_clockwise up 2"])
        #expect(talk.done(2, step: 1).prefix(3) == ["completed 2", "started 3 turn", "3 says rotate_clockwise up 4"])
    }

    @Test("rotation during a run is summed for each slot of a selector")
    func slots() throws {
        var talk = try TurnTests.talk()
        talk.given(.event(TurnTests.turn(1), of: House.desk, part: .dial, slot: 1, at: talk.now))
        talk.given(.event(TurnTests.turn(2), of: House.desk, part: .dial, slot: 1, at: talk.now))
        talk.given(.event(TurnTests.turn(4), of: House.desk, part: .dial, slot: 2, at: talk.now))
        talk.given(.event(TurnTests.turn(8), of: House.desk, part: .dial, slot: 1, at: talk.now))
        let first = talk.done(1, step: 1)
        let second = talk.done(2, step: 1)
        #expect(
            [first.dropFirst(2).first, second.dropFirst(2).first]
                == ["2 says rotate_clockwise up 10", "3 says rotate_clockwise up 4"])
    }

    @Test("summed rotation starts the trigger of its own part")
    func partOfTrigger() throws {
        let events = RotationDirection.allCases.map { TriggerEvent.rotate($0, collect: TriggerEvent.standardCollect) }
        var talk = House.talk(
            Rule(
                id: "turn",
                triggers: [
                    Trigger(buttons: [.declared(2)], events: events, parts: [.dial], id: "volume"),
                    Trigger(buttons: [.declared(2)], events: events, parts: [.push], id: "balance"),
                ],
                steps: [try .tell("{{ trigger.id }} {{ trigger.steps }}"), .work]))
        talk.given(.event(TurnTests.turn(1), of: House.desk, part: .push, at: talk.now))
        talk.given(.event(TurnTests.turn(2), of: House.desk, part: .push, at: talk.now))
        #expect(talk.done(1, step: 1).prefix(3) == ["completed 1", "started 2 turn", "2 says balance 2"])
    }

    @Test("with mode restart each turn starts a run of its own")
    func restart() throws {
        var talk = try TurnTests.talk(mode: .restart)
        talk.given(.event(TurnTests.turn(1), of: House.desk, at: talk.now))
        #expect(talk.event(TurnTests.turn(2), of: House.desk).contains("cancelled 1"))
    }
}

@Suite("Rules that disable themselves")
struct SelfDisablingTests {
    @Test("a run that disables its own rule between two iterations ends, and leaves no timer behind")
    func whileHeld() throws {
        var talk = House.talk(.on(.down, do: .repeatWhileHeld(Step(.enable([0], false)))))
        #expect(talk.event(.down).suffix(1) == ["completed 1"])
        try #require(talk.machine.timer.armed == nil)
        #expect(talk.pass(.seconds(1)) == [])
    }
}

@Suite("Window of a rate limit")
struct RateWindowTests {
    /// Compares `RateWindow` with a plain list of all starts.
    @Test("the window counts the starts that a plain list counts", arguments: UInt64(0)..<20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rate = Rule.Rate(count: Int.random(in: 1...200, using: &random), per: .seconds(10))
        var window = RateWindow()
        var starts: [Instant] = []
        var now = Instant(nanoseconds: 0)
        for _ in 0..<2000 {
            now = now + .milliseconds(Int.random(in: 0...120, using: &random))
            let count = starts.count { now - $0 < rate.per }
            #expect(window.count(rate, at: now) == count)
            #expect(window.hasRoom(rate, at: now) == (count < rate.count))
            guard count < rate.count else { continue }
            window.record(rate, at: now)
            starts.append(now)
        }
    }
}
