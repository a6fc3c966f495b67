import ButtonModel
import Rules
import TestSupport
import Testing

@Suite("Events a button had stored")
struct LateEventTests {
    @Test("without a word about them, three seconds is not too old and more is")
    func standard() {
        var talk = Transcript(House.engine([House.rule("say", actions: [House.log])]))
        #expect(talk.given(.occurred(House.kitchen(.click, age: .seconds(3)))).count == 3)
        let old = House.kitchen(.click, age: .milliseconds(3001))
        talk.when(.occurred(old), expect: .stopped(rule: "say", .queued, old))
    }

    @Test("the rule's policy goes before the button's")
    func policies() {
        let buttons = [DeclaredButton(name: "kitchen", hardware: .address(House.kitchenID), queued: .drop)]
        var talk = Transcript(
            House.engine(
                [
                    House.rule("buttons", actions: [House.log]),
                    House.rule("own", queued: .accept, actions: [House.log]),
                ], buttons: buttons))
        let old = House.kitchen(.click, age: .seconds(3600))
        let effects = talk.given(.occurred(old))
        #expect(effects.first == .stopped(rule: "buttons", .queued, old))
        #expect(effects.count == 4)
        #expect(talk.machine.queuedPolicy(of: House.kitchenID) == .drop)
        #expect(talk.machine.queuedPolicy(of: House.hallID) == .standard)
    }

    @Test("a live event is never too old")
    func live() {
        var talk = Transcript(House.engine([House.rule("say", queued: .drop, actions: [House.log])]))
        #expect(talk.given(.occurred(House.kitchen(.click))).count == 3)
    }

    @Test("keep: last runs once, when the last stored gesture has come")
    func keepLast() {
        var talk = Transcript(House.engine([House.lastOnly]))
        let first = House.kitchen(.click, age: .seconds(5))
        let last = House.kitchen(.click, age: .seconds(2), last: true)
        talk.when(.occurred(first), expect: .setTimer(talk.now + .milliseconds(500)))
        talk.wait(.milliseconds(100))
        talk.when(
            .occurred(last), expect: .stopped(rule: "last", .queued, first), .started(House.run(1), rule: "last", last),
            .perform(House.step(1, 0), House.log, rule: "last", last),
            .finished(House.run(1), rule: "last", completed: true), .cancelTimer)
    }

    @Test("without a last one it runs after 500 ms of silence")
    func silence() {
        var talk = Transcript(House.engine([House.lastOnly]))
        let click = House.kitchen(.click, age: .seconds(5))
        talk.when(.occurred(click), expect: .setTimer(talk.now + .milliseconds(500)))
        talk.wait(.milliseconds(400))
        let other = House.kitchen(.hold, age: .seconds(1))
        talk.when(.occurred(other), expect: .setTimer(talk.now + .milliseconds(500)))
        talk.wait(.milliseconds(500))
        talk.when(
            .timerFired, expect: .started(House.run(1), rule: "last", click),
            .perform(House.step(1, 0), House.log, rule: "last", click),
            .finished(House.run(1), rule: "last", completed: true))
    }

    @Test("the last up does not decide for a rule whose gesture it completes")
    func lastUp() {
        var talk = Transcript(House.engine([House.lastOnly]))
        let first = House.kitchen(.click, age: .seconds(5))
        talk.given(.occurred(first))
        var up = first
        up.event = .raw(.up)
        up.wasQueuedLast = true
        talk.when(.occurred(up))
        let last = House.kitchen(.click, age: .seconds(2), last: true)
        #expect(talk.given(.occurred(last)).contains(.started(House.run(1), rule: "last", last)))
    }

    @Test("a live event says that the stored ones have all come, and follows them")
    func liveEvent() {
        var talk = Transcript(House.engine([House.lastOnly]))
        let stored = House.kitchen(.click, age: .seconds(5))
        talk.given(.occurred(stored))
        let started = talk.given(.occurred(House.kitchen(.click))).compactMap { effect -> Bool? in
            if case .started(_, _, let occurrence) = effect { occurrence.wasQueued } else { nil }
        }
        #expect(started == [true, false])
    }
}
