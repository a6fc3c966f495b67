import ButtonModel
import Rules
import TestSupport
import Testing

extension RuleEngine: StateMachine {}

@Suite("A rule and its run")
struct RuleEngineTranscriptTests {
    @Test("a publish is done when the broker has it, and then the next step begins")
    func steps() {
        var talk = Transcript(House.engine([House.rule("toggle", actions: [House.publish, House.log, House.program])]))
        let click = House.kitchen(.click)
        talk.when(
            .occurred(click), expect: .started(House.run(1), rule: "toggle", click),
            .perform(House.step(1, 0), House.publish, rule: "toggle", click), .setTimer(talk.now + .seconds(10)))
        talk.wait(.milliseconds(3))
        talk.when(
            .stepFinished(House.step(1, 0), .completed),
            expect: .perform(House.step(1, 1), House.log, rule: "toggle", click),
            .perform(House.step(1, 2), House.program, rule: "toggle", click), .setTimer(talk.now + .seconds(30)))
        talk.when(
            .stepFinished(House.step(1, 2), .completed),
            expect: .finished(House.run(1), rule: "toggle", completed: true), .cancelTimer)
    }

    @Test("a run of nothing but log lines is over at once")
    func log() {
        var talk = Transcript(House.engine([House.rule("say", actions: [House.log])]))
        let click = House.kitchen(.click)
        talk.when(
            .occurred(click), expect: .started(House.run(1), rule: "say", click),
            .perform(House.step(1, 0), House.log, rule: "say", click),
            .finished(House.run(1), rule: "say", completed: true))
    }

    @Test("a step that fails ends the run")
    func failure() {
        var talk = Transcript(House.engine([House.rule("toggle", actions: [House.program, House.publish])]))
        talk.given(.occurred(House.kitchen(.click)))
        talk.when(
            .stepFinished(House.step(1, 0), .failed(code: "R822", message: "exit status 1")),
            expect: .stepFailed(House.step(1, 0), rule: "toggle", code: "R822", message: "exit status 1"),
            .finished(House.run(1), rule: "toggle", completed: false), .cancelTimer)
    }

    @Test("a program is given up after 30 seconds, not before")
    func timeout() {
        var talk = Transcript(House.engine([House.rule("slow", actions: [House.program, House.log])]))
        talk.given(.occurred(House.kitchen(.click)))
        talk.wait(.milliseconds(29_999))
        talk.when(.timerFired, expect: .setTimer(talk.now + .milliseconds(1)))
        talk.wait(.milliseconds(1))
        talk.when(
            .timerFired, expect: .cancel(House.step(1, 0)),
            .stepFailed(House.step(1, 0), rule: "slow", code: "R821", message: "run did not finish within 30s"),
            .finished(House.run(1), rule: "slow", completed: false))
        talk.when(.stepFinished(House.step(1, 0), .completed))
    }

    @Test("an answer for a step that is not waited for is ignored")
    func strayAnswers() {
        var talk = Transcript(House.engine([House.rule("two", actions: [House.program, House.program])]))
        talk.when(.stepFinished(House.step(7, 0), .completed))
        talk.given(.occurred(House.kitchen(.click)))
        talk.when(.stepFinished(House.step(1, 1), .completed))
        talk.when(.stepFinished(House.step(2, 0), .completed))
    }

    @Test("while a run goes on its rule is busy, and other rules are not")
    func single() {
        var talk = Transcript(
            House.engine([
                House.rule("slow", actions: [House.program]), House.rule("say", actions: [House.log]),
            ]))
        talk.given(.occurred(House.kitchen(.click)))
        let second = House.kitchen(.click)
        talk.when(
            .occurred(second), expect: .stopped(rule: "slow", .mode, second),
            .started(House.run(3), rule: "say", second), .perform(House.step(3, 0), House.log, rule: "say", second),
            .finished(House.run(3), rule: "say", completed: true))
    }

    @Test("a rule that one event triggers in several ways starts once")
    func once() {
        let triggers = [
            Trigger(buttons: [.any], events: [.gesture(.click), .gesture(.click)]),
            Trigger(buttons: [.named("kitchen"), .hardware(.address(House.kitchenID))], events: [.gesture(.click)]),
        ]
        var talk = Transcript(House.engine([Rule(id: "once", triggers: triggers, actions: [House.log])]))
        #expect(talk.given(.occurred(House.kitchen(.click))).count == 3)
    }

    @Test("runs are numbered on from where the last process stopped")
    func numbering() {
        var engine = RuleEngine(
            RuleSet(buttons: House.declared, rules: [House.rule("say", actions: [House.log])]),
            nextRun: House.run(41))
        _ = engine.handle(.buttonsChanged(House.identities), at: House.start)
        let click = House.kitchen(.click)
        #expect(
            engine.handle(.occurred(click), at: House.start).first == .started(House.run(41), rule: "say", click))
    }

    @Test("600 runs may begin in a minute; the next waits until one of them is a minute old")
    func rateLimit() {
        var talk = Transcript(House.engine([House.rule("say", actions: [House.log])]))
        let click = House.kitchen(.click)
        for _ in 0..<600 { #expect(talk.given(.occurred(click)).count == 3) }
        talk.wait(.milliseconds(59_999))
        talk.when(.occurred(click), expect: .stopped(rule: "say", .rateLimit, click))
        talk.wait(.milliseconds(1))
        #expect(talk.given(.occurred(click)).count == 3)
    }

    @Test("at most 1 000 runs go on at once")
    func bound() {
        let rules = (0...1000).map { House.rule("rule_\($0)", actions: [House.program]) }
        var talk = Transcript(House.engine(rules))
        let click = House.kitchen(.click)
        let effects = talk.given(.occurred(click))
        #expect(effects.count == 2 * 1000 + 1 + 1)
        #expect(effects.contains(.stopped(rule: "rule_1000", .mode, click)))
    }
}
