import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Retry")
struct RunRetryTests {
    @Test("each wait before a retry is longer by the factor, and the last failure is reported")
    func backOff() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/a").retrying(3, after: .milliseconds(500), backOff: 3))
        talk.when(.begin, expect: .perform(0, .program("/bin/a")))
        for (attempt, wait) in [500, 1500, 4500].enumerated() {
            talk.when(.finished(attempt, RunFailureTests.failure), expect: .nothing)
            talk.whenTimerFires(after: .milliseconds(wait), expect: .perform(attempt + 1, .program("/bin/a")))
        }
        talk.when(
            .finished(3, .failed(code: "R822", message: "exit status 9")),
            expect: .failed("actions[0].run", "R822", "exit status 9"))
    }

    @Test("a retry that succeeds continues the run")
    func success() throws {
        var talk = Transcript<RunInWorld>(try .publish("a").retrying(3), try .log("done"))
        talk.given(.begin)
        talk.given(.finished(0, .failed(code: "R824", message: "away")))
        talk.whenTimerFires(after: .seconds(1), expect: .perform(1, .message("a")))
        talk.when(.finished(0, .completed()), expect: .nothing)
        talk.when(.finished(1, .completed()), expect: .perform(2, .said("done")))
    }

    @Test("a step whose time is over is tried again, with the values of the first attempt")
    func timeout() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/a", "{{ states.lux }}").within(.seconds(2)).retrying(1))
        talk.given(.begin)
        talk.given(.state(RunKit.lux, .integer(31)))
        talk.whenTimerFires(after: .seconds(2), expect: .cancel(0))
        talk.whenTimerFires(after: .seconds(1), expect: .perform(1, .program("/bin/a", "30")))
        talk.whenTimerFires(
            after: .seconds(2), expect: .cancel(1), .failed("actions[0].run", "R821", "run did not finish within 2s"))
    }

    @Test("the wait before a retry is at most seven days for any factor")
    func bound() {
        let retry = Retry(count: 10, delay: .seconds(3 * 86_400), backOff: 10)
        #expect(Run.wait(before: 1, by: retry) == .seconds(3 * 86_400))
        #expect(Run.wait(before: 10, by: retry) == .seconds(7 * 86_400))
    }

    @Test("a run with seven days of delays is not retried again")
    func total() throws {
        var talk = Transcript<RunInWorld>(
            try .delay("6d"), try .run("/bin/a").retrying(2, after: .seconds(86_400), backOff: 1))
        talk.given(.begin)
        talk.whenTimerFires(after: .seconds(6 * 86_400), expect: .perform(0, .program("/bin/a")))
        talk.when(.finished(0, RunFailureTests.failure), expect: .nothing)
        talk.whenTimerFires(after: .seconds(86_400), expect: .perform(1, .program("/bin/a")))
        talk.when(
            .finished(1, RunFailureTests.failure), expect: .failed("actions[1].run", "R822", "exit status 1"))
    }
}

@Suite("on_error")
struct RunOnErrorTests {
    @Test("on_error sees the failed step, and the run fails")
    func facts() throws {
        let script = Script(name: "light", steps: [try .run("/bin/false").named("the lamp")])
        var talk = Transcript<RunInWorld>(
            .script(0), try .log("no"),
            onError: [
                try .log("{{ error.code }} {{ error.message }} {{ error.step }}"), try .delay("1s"), try .log("over"),
            ], scripts: [script])
        talk.given(.begin)
        talk.when(
            .finished(0, RunFailureTests.failure), expect: .failed("the lamp", "R822", "exit status 1"),
            .perform(1, .said("R822 exit status 1 the lamp")))
        #expect(talk.result == nil)
        talk.whenTimerFires(after: .seconds(1), expect: .perform(2, .said("over")))
        #expect(talk.result == .failed)
    }

    @Test("on_error sees the results of the rule, and not those of the script that failed")
    func results() throws {
        let script = Script(
            name: "ask", steps: [try .run("/bin/b").saving().continuing(), try .run("/bin/c")], resultCount: 1)
        var talk = Transcript<RunInWorld>(
            try .run("/bin/a").saving(), .script(0), onError: [try .log("{{ results.answer.stdout }}")],
            scripts: [script])
        talk.given(.begin)
        talk.given(.finished(0, .completed(ResultFacts(stdout: "a"))))
        talk.given(.finished(1, .completed(ResultFacts(stdout: "b"))))
        talk.when(
            .finished(2, RunFailureTests.failure), expect: .failed("ask.actions[1].run", "R822", "exit status 1"),
            .perform(3, .said("a")))
    }

    @Test("a failure in on_error ends on_error, which does not run again")
    func failure() throws {
        var talk = Transcript<RunInWorld>(
            try .run("/bin/a"), onError: [try .run("/bin/b").continuing(), try .run("/bin/c"), try .log("no")])
        talk.given(.begin)
        talk.when(
            .finished(0, RunFailureTests.failure), expect: .failed("actions[0].run", "R822", "exit status 1"),
            .perform(1, .program("/bin/b")))
        talk.when(
            .finished(1, RunFailureTests.failure),
            expect: .failed("on_error[0].run", "R822", "exit status 1", isFinal: false),
            .perform(2, .program("/bin/c")))
        talk.when(
            .finished(2, RunFailureTests.failure), expect: .failed("on_error[1].run", "R822", "exit status 1"))
        #expect(talk.result == .failed)
    }

    @Test("after a stop in on_error the run has still failed")
    func stop() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/a"), onError: [try .stop("enough"), try .log("no")])
        talk.given(.begin)
        talk.when(.finished(0, RunFailureTests.failure), expect: .failed("actions[0].run", "R822", "exit status 1"))
        #expect(talk.result == .failed)
    }

    @Test("on_error does not run for a run that succeeds or is cancelled")
    func others() throws {
        var good = Transcript<RunInWorld>(try .run("/bin/a"), onError: [try .log("no")])
        good.given(.begin)
        good.when(.finished(0, .completed()), expect: .nothing)
        var cancelled = Transcript<RunInWorld>(try .run("/bin/a"), onError: [try .log("no")])
        cancelled.given(.begin)
        cancelled.when(.cancel, expect: .cancel(0))
        #expect(cancelled.result == .cancelled)
    }
}
