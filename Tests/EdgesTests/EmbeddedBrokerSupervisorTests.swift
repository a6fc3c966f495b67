import ButtonModel
import TestSupport
import Testing

@testable import Edges
@testable import TrialEdges

extension EmbeddedBrokerSupervisor: StateMachine {}

@Suite("When the embedded broker is started")
struct EmbeddedBrokerSupervisorTests {
    private typealias Supervisor = EmbeddedBrokerSupervisor

    private static func starting() -> Transcript<EmbeddedBrokerSupervisor> {
        var talk = Transcript(EmbeddedBrokerSupervisor(seed: 1))
        talk.given(.start)
        talk.given(.timerFired)
        talk.given(.launched)
        return talk
    }

    @Test("it is launched on the next turn, and probed every 20 ms until it answers")
    func start() {
        var talk = Transcript(EmbeddedBrokerSupervisor(seed: 1))
        talk.when(.start, expect: .setTimer(talk.now))
        talk.when(.start, expect: .nothing)
        talk.when(.timerFired, expect: .launch)
        talk.when(.launched, expect: .setTimer(talk.now + .milliseconds(20)))
        talk.wait(.milliseconds(20))
        talk.when(.timerFired, expect: .probe)
        talk.when(.probed(isListening: false), expect: .setTimer(talk.now + .milliseconds(20)))
        talk.wait(.milliseconds(20))
        talk.when(.timerFired, expect: .probe)
        talk.when(.probed(isListening: true), expect: .ready)
        talk.when(.timerFired, expect: .nothing)
    }

    @Test("a program that does not answer for ten seconds is killed, and its end is a failure like any other")
    func unanswered() {
        var talk = Self.starting()
        talk.wait(Supervisor.startTimeout)
        talk.when(.timerFired, expect: .probe)
        talk.given(.probed(isListening: false))
        talk.wait(.milliseconds(20))
        talk.when(.timerFired, expect: .kill)
        #expect(talk.given(.ended("signal 9")).last == .failed("mosquitto ended (signal 9); it will be restarted"))
    }

    @Test("a program that cannot be launched is tried again with growing delays")
    func retries() throws {
        var talk = Transcript(EmbeddedBrokerSupervisor(seed: 1))
        talk.given(.start)
        for most in [250, 500, 1000] as [Int64] {
            talk.when(.timerFired, expect: .launch)
            let effects = talk.given(.launchFailed("there is no pipe"))
            #expect(effects.last == .failed("there is no pipe"))
            guard case .setTimer(let deadline) = try #require(effects.first) else {
                Issue.record("no timer is set")
                return
            }
            #expect(deadline - talk.now > .milliseconds(most / 2) && deadline - talk.now <= .milliseconds(most))
            talk.wait(deadline - talk.now)
        }
    }

    @Test("after a run of more than ten seconds the delays are short again", arguments: [10, 11])
    func goodRun(seconds: Int64) throws {
        var talk = Transcript(EmbeddedBrokerSupervisor(seed: 1))
        talk.given(.start)
        for _ in 0..<5 {
            talk.given(.timerFired)
            talk.given(.launchFailed("no"))
        }
        talk.given(.timerFired)
        talk.given(.launched)
        talk.given(.timerFired)
        talk.given(.probed(isListening: true))
        talk.wait(.seconds(seconds))
        guard case .setTimer(let deadline) = try #require(talk.given(.ended("status 0")).first) else {
            Issue.record("no timer is set")
            return
        }
        #expect((deadline - talk.now <= .milliseconds(250)) == (seconds == 11))
    }

    @Test("stop ends it in every state, and what comes later changes nothing")
    func stop() {
        for isStarted in [false, true] {
            var talk = isStarted ? Self.starting() : Transcript(EmbeddedBrokerSupervisor(seed: 1))
            talk.when(.stop, expect: .cancelTimer, .end)
            for late in [.timerFired, .ended("status 0"), .probed(isListening: true)] as [Supervisor.Input] {
                talk.when(late, expect: .nothing)
            }
            talk.when(.start, expect: .setTimer(talk.now))
        }
    }
}
