import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Repeats")
struct RunRepeatTests {
    @Test("a count repeats at once and then at each interval, and ends with the last iteration")
    func count() throws {
        var talk = Transcript<RunInWorld>(
            .count(3, every: .milliseconds(200), try .log("{{ repeat.index }} {{ repeat.elapsed }}")),
            try .log("behind"))
        talk.when(.begin, expect: .perform(0, .said("0 0s")))
        talk.whenTimerFires(after: .milliseconds(200), expect: .perform(1, .said("1 200ms")))
        talk.whenTimerFires(
            after: .milliseconds(200), expect: .perform(2, .said("2 400ms")), .perform(3, .said("behind")))
        #expect(talk.result == .completed)
    }

    @Test("ticks during an iteration are skipped, and a tick exactly at its end is not")
    func skipping() throws {
        var talk = Transcript<RunInWorld>(.count(4, every: .milliseconds(200), try .run("/bin/a")))
        talk.given(.begin)
        talk.wait(.milliseconds(50))
        talk.when(.finished(0, .completed()), expect: .nothing)
        talk.whenTimerFires(after: .milliseconds(150), expect: .perform(1, .program("/bin/a")))
        talk.wait(.milliseconds(450))
        talk.when(.finished(1, .completed()), expect: .nothing)
        talk.whenTimerFires(after: .milliseconds(150), expect: .perform(2, .program("/bin/a")))
        talk.wait(.milliseconds(400))
        talk.when(.finished(2, .completed()), expect: .perform(3, .program("/bin/a")))
    }

    @Test("a late timer skips the missed ticks and keeps to the interval")
    func lateness() throws {
        var talk = Transcript<RunInWorld>(.count(9, every: .milliseconds(200), try .log("{{ repeat.index }}")))
        talk.given(.begin)
        talk.wait(.milliseconds(730))
        talk.when(.timerFired, expect: .perform(1, .said("1")))
        talk.whenTimerFires(after: .milliseconds(70), expect: .perform(2, .said("2")))
    }

    @Test("a tick exactly at the limit does not run, and the run goes on")
    func limit() throws {
        for (limit, last) in [(400, 200), (401, 1)] {
            var talk = Transcript<RunInWorld>(
                .count(9, every: .milliseconds(200), limit: .milliseconds(limit), try .log("tick")), try .log("behind"))
            talk.given(.begin)
            talk.whenTimerFires(after: .milliseconds(200), expect: .perform(1, .said("tick")))
            if limit == 401 {
                talk.whenTimerFires(after: .milliseconds(200), expect: .perform(2, .said("tick")))
            }
            talk.whenTimerFires(after: .milliseconds(last), expect: .perform(limit == 401 ? 3 : 2, .said("behind")))
        }
    }

    @Test("an iteration that goes on at the limit is finished and is the last")
    func limitInside() throws {
        var talk = Transcript<RunInWorld>(
            .count(9, every: .milliseconds(200), limit: .milliseconds(300), try .run("/bin/a"), try .log("tick")),
            try .log("behind"))
        talk.given(.begin)
        talk.wait(.milliseconds(350))
        talk.when(.finished(0, .completed()), expect: .perform(1, .said("tick")), .perform(2, .said("behind")))
    }

    @Test("a repeat while held ends when the button is released")
    func released() throws {
        var talk = Transcript<RunInWorld>(
            .whileHeld(every: .milliseconds(200), try .log("tick")), try .log("behind"))
        talk.when(.begin, expect: .perform(0, .said("tick")))
        #expect(talk.machine.run.isRepeatingWhileHeld)
        talk.whenTimerFires(after: .milliseconds(200), expect: .perform(1, .said("tick")))
        talk.wait(.milliseconds(20))
        talk.when(.released, expect: .perform(2, .said("behind")))
        #expect(talk.result == .completed)
    }

    @Test("an iteration that goes on when the button is released is finished")
    func releasedInside() throws {
        var talk = Transcript<RunInWorld>(
            .whileHeld(every: .milliseconds(200), try .run("/bin/a"), try .log("tick")), try .log("behind"))
        talk.given(.begin)
        talk.when(.released, expect: .nothing)
        #expect(!talk.machine.run.isRepeatingWhileHeld)
        talk.wait(.seconds(1))
        talk.when(.finished(0, .completed()), expect: .perform(1, .said("tick")), .perform(2, .said("behind")))
    }

    @Test("a repeat with a count does not end when the button is released")
    func countGoesOn() throws {
        var talk = Transcript<RunInWorld>(.count(2, every: .milliseconds(200), try .log("tick")))
        talk.given(.begin)
        #expect(!talk.machine.run.isRepeatingWhileHeld)
        talk.when(.released, expect: .nothing)
        talk.whenTimerFires(after: .milliseconds(200), expect: .perform(1, .said("tick")))
    }

    @Test("a repeat with a count inside a repeat while held is finished after the release")
    func nested() throws {
        var talk = Transcript<RunInWorld>(
            .whileHeld(
                every: .seconds(1), .count(2, every: .milliseconds(100), try .log("{{ repeat.index }}"))),
            try .log("behind"))
        talk.when(.begin, expect: .perform(0, .said("0")))
        talk.when(.released, expect: .nothing)
        talk.whenTimerFires(
            after: .milliseconds(100), expect: .perform(1, .said("1")), .perform(2, .said("behind")))
    }

    @Test("a repeat while held does nothing for a stored press or a press that is over")
    func notHeld() throws {
        let step = Step.whileHeld(every: .milliseconds(200), try .log("tick"))
        var late = Transcript<RunInWorld>(step, try .log("behind"), cause: RunKit.late)
        late.when(
            .begin,
            expect: .perform(
                ActionID(run: RunKit.id, index: 0), .said("behind"), rule: RunKit.rule, RunKit.late))
        var over = Transcript<RunInWorld>(step, try .log("behind"))
        over.given(.released)
        over.when(.begin, expect: .perform(0, .said("behind")))
    }

    @Test("a repeat without steps takes its time")
    func empty() {
        var talk = Transcript<RunInWorld>(.count(2, every: .seconds(1)))
        talk.when(.begin, expect: .nothing)
        talk.whenTimerFires(after: .seconds(1))
        #expect(talk.result == .completed)
    }
}
