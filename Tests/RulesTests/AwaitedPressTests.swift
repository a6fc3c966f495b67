import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Runs that wait for a press")
struct AwaitedPressTests {
    private static func step(
        _ trigger: Trigger = Trigger(buttons: [.declared(1)], events: [.click]), claims: Bool = false
    ) -> Step {
        Step(
            .waitFor(
                WaitForStep(
                    [trigger], timeout: .seconds(5), claims: claims, then: [.say("pressed")], otherwise: [.say("over")])
            ))
    }

    private static let ownClick = Trigger(buttons: [.declared(0)], events: [.click])

    @Test("the press continues the run with then, and a press of another button does not")
    func press() {
        var talk = House.talk(.on(.click, do: Self.step(), .say("end")))
        #expect(talk.click() == ["started 1 rule"])
        #expect(talk.click(of: House.desk) == [])
        #expect(talk.event(.pattern([.short, .short]), of: House.hall) == [])
        #expect(talk.click(of: House.hall) == ["1 says pressed", "1 says end", "completed 1"])
        #expect(talk.click(of: House.hall) == [])
    }

    @Test("the end of the time is no failure, and a press at that very instant still counts")
    func timeout() {
        var talk = House.talk(.on(.click, do: Self.step(), .say("end")))
        _ = talk.click()
        #expect(talk.pass(.seconds(5)) == ["1 says over", "1 says end", "completed 1"])
        _ = talk.click()
        talk.wait(.seconds(5))
        #expect(talk.click(of: House.hall) == ["2 says pressed", "2 says end", "completed 2"])
        #expect(talk.machine.statistics(of: "rule")?.counts == [.started: 2, .completed: 2])
    }

    @Test("only a press after the step began counts, by the time of the press")
    func late() {
        var talk = House.talk(.on(.click, do: Self.step()))
        talk.wait(.seconds(10))
        _ = talk.click()
        talk.wait(.seconds(2))
        #expect(talk.click(of: House.hall, age: .seconds(3)) == [])
        #expect(talk.click(of: House.hall, age: .seconds(1)) == ["1 says pressed", "completed 1"])
    }

    @Test("a gesture of the press that started the run does not count, and its release does")
    func samePress() {
        var talk = House.talk(
            .on(.down, do: Self.step(Self.ownClick)),
            .on(
                .down, of: .declared(1), id: "hold",
                do: Self.step(Trigger(buttons: [.declared(1)], events: [.up]))))
        #expect(talk.event(.down) == ["started 1 rule"])
        #expect(talk.click() == [])
        talk.wait(.seconds(1))
        #expect(talk.click() == ["1 says pressed", "completed 1"])
        #expect(talk.event(.down, of: House.hall) == ["started 2 hold"])
        talk.wait(.milliseconds(80))
        #expect(talk.event(.up, of: House.hall) == ["2 says pressed", "completed 2"])
    }

    @Test("a press for which a run waits does not start or restart the rule of the run", arguments: Rule.Mode.allCases)
    func ownRule(mode: Rule.Mode) {
        var talk = House.talk(.on(.click, mode: mode, max: 2, do: Self.step(Self.ownClick)))
        #expect(talk.click() == ["started 1 rule"])
        talk.wait(.seconds(1))
        let told = talk.click()
        switch mode {
        case .single:
            #expect(
                told == [
                    "1 says pressed", "completed 1",
                    "stopped rule, dropped_busy: single: its run waited for this press",
                ])
        case .restart:
            #expect(
                told == [
                    "1 says pressed", "completed 1",
                    "stopped rule, dropped_busy: restart: its run waited for this press",
                ])
        case .queued, .parallel: #expect(told == ["1 says pressed", "completed 1", "started 2 rule"])
        }
        talk.wait(.seconds(1))
        #expect(talk.click().isEmpty == false)
    }

    @Test("runs go first, then the rules, which are judged against the values before the press")
    func order() throws {
        let wait = WaitForStep(
            [Trigger(buttons: [.declared(1)], events: [.click])], timeout: .seconds(5),
            then: [.set(0, to: .integer(50))])
        var talk = House.talk(
            .on(.click, of: .declared(1), id: "loud", if: [try .that("variables.volume == 50")], do: .say("loud")),
            .on(.click, of: .declared(1), id: "quiet", if: [try .that("variables.volume == 30")], do: .say("quiet")),
            .on(.click, of: .any, id: "other", fallback: true, do: .say("fallback")),
            .on(.click, do: Step(.waitFor(wait))))
        #expect(talk.click().last == "started 1 rule")
        let told = talk.click(of: House.hall)
        #expect(
            told.filter { !$0.contains("volume") } == ["completed 1", "started 2 quiet", "2 says quiet", "completed 2"])
    }

    @Test("the oldest run that claims the press is the only one that sees it")
    func claim() {
        var talk = House.talk(
            .on(.click, id: "first", do: Self.step()),
            .on(.doubleClick, id: "second", do: Self.step(claims: true)),
            .on(.up, id: "third", do: Self.step(claims: true)),
            .on(.click, of: .declared(1), id: "other", do: .say("other")))
        _ = talk.click()
        _ = talk.event(.pattern([.short, .short]))
        _ = talk.event(.up)
        talk.wait(.seconds(1))
        #expect(talk.click(of: House.hall) == ["2 says pressed", "completed 2"])
        #expect(talk.click(of: House.hall) == ["3 says pressed", "completed 3"])
        #expect(
            talk.click(of: House.hall) == [
                "1 says pressed", "completed 1", "started 4 other", "4 says other", "completed 4",
            ])
    }

    @Test("with keep: last, a stored press that continues a run neither ends this run nor starts its rule again")
    func keepLast() throws {
        for mode in [Rule.Mode.single, .restart] {
            let wait = WaitForStep([Self.ownClick], timeout: .seconds(9), then: [try .delay("1s"), .say("open")])
            var talk = House.talk(
                .on(
                    .click, mode: mode, queued: .limited(maximumAge: .seconds(60), keepLast: true),
                    do: Step(.waitFor(wait))))
            talk.wait(.seconds(100))
            _ = talk.click()
            talk.wait(.seconds(2))
            #expect(
                talk.click(age: .seconds(1), isLast: true) == [
                    "stopped rule, dropped_busy: \(mode.rawValue): its run waited for this press"
                ])
            #expect(talk.pass(.seconds(1)) == ["1 says open", "completed 1"])
        }
    }

    @Test("if the run that claims a press is ended by an older stored press, the press starts rules as usual")
    func claimIsOver() {
        let doubleClick = Trigger(buttons: [.declared(0)], events: [.doubleClick])
        var talk = House.talk(
            .on(
                .click, id: "first", mode: .restart, queued: .limited(maximumAge: .seconds(60), keepLast: true),
                do: Self.step(doubleClick, claims: true)),
            .on(.doubleClick, id: "second", do: .say("second")))
        talk.wait(.seconds(100))
        _ = talk.click()
        talk.wait(.seconds(2))
        #expect(talk.click(age: .seconds(1)) == ["keep click for first"])
        #expect(
            talk.event(.pattern([.short, .short])) == [
                "keep nothing for first", "cancelled 1", "started 2 first", "started 3 second", "3 says second",
                "completed 3",
            ])
    }

    @Test("a run whose rule was disabled ends when it comes to a wait for a press, unless it was requested")
    func disabledBefore() throws {
        var talk = House.talk(.on(.click, do: try .delay("1s"), Self.step()))
        _ = talk.click()
        _ = talk.tell(.requested(.setEnabled(rule: "rule", false)))
        #expect(talk.pass(.seconds(1)) == ["cancelled 1"])
        _ = talk.tell(.requested(.run(rule: "rule", ignoringConditions: false, isDryRun: false)))
        #expect(talk.pass(.seconds(1)) == [])
        #expect(talk.click(of: House.hall) == ["2 says pressed", "completed 2"])
    }

    @Test("a rule that waits for two parts of a dial uses both")
    func parts() {
        func turn(_ part: ButtonPart) -> Step {
            Self.step(
                Trigger(
                    buttons: [.declared(2)], events: [.rotate(.clockwise, collect: .milliseconds(100))], parts: [part]))
        }
        let talk = House.talk(.on(.click, do: turn(.dial), turn(.push)))
        #expect(talk.machine.index.turnedParts(of: House.desk) == [.dial, .push])
    }

    @Test("a run can wait for a hold, a chord, a turn, a swipe, a part and a connection")
    func kinds() {
        func ends(_ trigger: Trigger, _ input: (Instant) -> RuleEngine.Input) -> Bool {
            var talk = House.talk(.on(.click, do: Self.step(trigger)))
            _ = talk.tell(.linkChanged(House.hall, isConnected: true))
            _ = talk.click()
            talk.wait(.seconds(1))
            return talk.tell(input(talk.now)).first == "1 says pressed"
        }
        let hall = ButtonSelector.declared(1)
        #expect(
            ends(Trigger(buttons: [hall], events: [.hold(after: nil)])) {
                .event(.hold(after: .seconds(1)), of: House.hall, at: $0)
            })
        #expect(
            ends(Trigger(buttons: [hall], events: [.hold(after: .seconds(2))])) {
                .event(.hold(after: .seconds(2)), of: House.hall, at: $0)
            })
        #expect(
            !ends(Trigger(buttons: [hall], events: [.hold(after: .seconds(2))])) {
                .event(.hold(after: .seconds(1)), of: House.hall, at: $0)
            })
        #expect(
            ends(Trigger(origin: .chord([0, 1], within: .milliseconds(300), .down))) {
                .event(.chord(0), of: House.hall, at: $0)
            })
        #expect(
            ends(Trigger(buttons: [.any], events: [.swipe(.left)])) {
                .event(.swipe(.left), of: House.stranger, at: $0)
            })
        let turn = Trigger(
            buttons: [.declared(2)], events: [.rotate(.clockwise, collect: .milliseconds(100))], parts: [.dial])
        #expect(
            ends(turn) { .event(.rotation(steps: 3, collect: .milliseconds(100)), of: House.desk, part: .dial, at: $0) }
        )
        #expect(
            !ends(turn) {
                .event(.rotation(steps: 3, collect: .milliseconds(100)), of: House.desk, part: .push, at: $0)
            })
        #expect(
            ends(Trigger(buttons: [hall], events: [.disconnected])) { _ in .linkChanged(House.hall, isConnected: false)
            })
        #expect(
            ends(Trigger(buttons: [.hardware(.serial("BA00-A00009"))], events: [.click])) {
                .event(.pattern([.short]), of: House.stranger, at: $0)
            })
    }

    @Test("a run waits with the trigger mode that a rule would need, before it waits, and also in a script")
    func mode() {
        func timing(_ step: Step, scripts: [Script] = []) -> ClickTiming {
            var set = House.set([.on(.click, do: step)])
            set.scripts = scripts
            return House.talk(set).machine.clickTiming(of: House.kitchen)
        }
        let double = Self.step(Trigger(buttons: [.declared(0)], events: [.doubleClick]))
        #expect(timing(.say("x")).mode == .click)
        #expect(timing(double).mode == .clickAndDoubleClick && timing(double).cause == "rule")
        let script = Script(name: "ask", steps: [double])
        #expect(timing(Step(.script(0, with: [])), scripts: [script]).mode == .clickAndDoubleClick)
        #expect(timing(Step(.script(0, with: [])), scripts: []).mode == .click)
    }

    @Test("disabling the rule, a restart of its run, a reload that changes it and the end of the program end the wait")
    func ends() {
        let rule = Rule.on(.click, mode: .restart, do: Self.step())
        var talk = House.talk(rule)
        _ = talk.click()
        #expect(talk.tell(.requested(.setEnabled(rule: "rule", false))).last == "cancelled 1")
        _ = talk.tell(.requested(.setEnabled(rule: "rule", true)))
        _ = talk.click()
        #expect(talk.click() == ["cancelled 2", "started 3 rule"])
        var same = House.set([.on(.up, id: "new", do: .say("x")), rule])
        same.rules[1].fingerprint = rule.fingerprint
        #expect(talk.tell(.reloaded(same)) == [])
        #expect(talk.click(of: House.hall) == ["3 says pressed", "completed 3"])
        _ = talk.click()
        var changed = same
        changed.rules[1].fingerprint = "another"
        #expect(talk.tell(.reloaded(changed)) == ["cancelled 4"])
        _ = talk.click()
        #expect(talk.tell(.stop) == ["interrupted 5"])
    }

    @Test(
        "after a restart the wait goes on with the time that is left, and a press while the program was stopped counts")
    func restart() {
        let set = House.set([.on(.click, onRestart: .resume, do: Self.step())])
        var state = RuleState()
        var before = House.talk(set)
        before.wait(.seconds(100))
        for effect in before.given(.event(.pattern([.short]), at: before.now)) {
            if case .store(let change) = effect { state.apply(change) }
        }
        #expect(state.waitingRuns.count == 1)

        func resumed() -> Transcript<RuleEngine> {
            var talk = Transcript(RuleEngine(set, state: state))
            talk.wait(.seconds(100))
            talk.given(.buttonsChanged(House.identities))
            talk.given(.wallClock(House.noon + .seconds(103), isBelievable: true))
            return talk
        }
        var over = resumed()
        #expect(over.pass(.milliseconds(1999)) == [])
        #expect(over.pass(.milliseconds(1)).first == "1 says over")
        var pressed = resumed()
        pressed.wait(.seconds(1))
        #expect(pressed.click(of: House.hall, age: .seconds(5)) == [])
        #expect(pressed.click(of: House.hall, age: .seconds(3)).first == "1 says pressed")
        state.enabled["rule"] = EnabledOverride(isEnabled: false, inFile: true)
        var disabled = resumed()
        #expect(disabled.click(of: House.hall) == [])
        #expect(disabled.machine.runCount == 0)
    }

    @Test("a rule whose run waits for a press at once has no plan, and while it waits no press has an early effect")
    func plan() throws {
        func previews(_ steps: Step..., afterwards: Bool = false) throws -> Bool {
            var rule = Rule.on(.down, do: .say("x"))
            rule.steps = steps
            var talk = House.talk(rule, .on(.down, of: .declared(1), id: "hall", do: try Self.publish()))
            talk.given(.brokerChanged(isConnected: true))
            if afterwards { _ = talk.event(.down, of: House.kitchen) }
            var engine = talk.machine
            for button in [House.kitchen, House.hall] { engine.preparePlan(of: button) }
            var button = FakeButton(afterwards ? House.hall : House.kitchen)
            guard case .pressed(let events) = button.down(at: talk.now), let event = events.first else { return false }
            return engine.preview(event, at: talk.now) != nil
        }
        #expect(try previews(Self.publish()))
        #expect(try !previews(Self.step()))
        #expect(try !previews(Self.publish(), Self.step()))
        #expect(try previews(Self.publish(), afterwards: true))
        #expect(try !previews(Self.step(), afterwards: true))
    }

    private static func publish() throws -> Step {
        Step(.publish(PublishStep(topicName: Template(literal: "lamp"), payload: .nothing)))
    }
}
