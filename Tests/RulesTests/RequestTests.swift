import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Requests from users")
struct RequestTests {
    @Test("a manual run has trigger.manual, and its other trigger fields are empty")
    func manual() throws {
        var talk = House.talk(
            .on(.click, do: try .tell("{{ trigger.manual }} [{{ trigger.button }}{{ trigger.event }}{{ trigger.at }}]"))
        )
        #expect(
            talk.tell(.requested(.run(rule: "rule", ignoringConditions: false, isDryRun: false))) == [
                "started 1 rule", "1 says true []", "completed 1",
            ])
        #expect(talk.tell(.requested(.run(rule: "nothing", ignoringConditions: false, isDryRun: false))) == [])
    }

    @Test("a manual run respects conditions and mode, and ignores enabled, cooldown and rate limit")
    func gatesOfManualRun() throws {
        let run = RuleEngine.Input.requested(.run(rule: "rule", ignoringConditions: false, isDryRun: false))
        var talk = House.talk(
            .on(
                .click, if: [try .that("states.lux < 50")], cooldown: .seconds(5),
                rate: Rule.Rate(count: 1, per: .seconds(60)), isEnabled: false, do: .work))
        #expect(talk.tell(run).first == "started 1 rule")
        #expect(talk.tell(run) == ["stopped rule, dropped_busy: single: a run is in progress"])
        #expect(talk.done(1) == ["completed 1"])
        #expect(talk.tell(run).first == "started 2 rule")
        #expect(talk.done(2) == ["completed 2"])
        talk.given(.given(.state("lux", .integer(90))))
        #expect(talk.tell(run) == ["stopped rule, dropped_conditions: states.lux < 50 is false (states.lux = 90)"])
        let unasked = RuleEngine.Input.requested(.run(rule: "rule", ignoringConditions: true, isDryRun: false))
        #expect(talk.tell(unasked).first == "started 3 rule")
    }

    @Test("a dry run performs and changes nothing, and does not cancel or block other runs")
    func dryRun() {
        let run = RuleEngine.Input.requested(.run(rule: "rule", ignoringConditions: false, isDryRun: true))
        var talk = House.talk(
            .on(
                .click, mode: .restart, cooldown: .seconds(5), do: .set(0, to: .integer(50)), .say("hello"),
                .pause("1s")))
        #expect(talk.tell(run) == ["started 1 rule"])
        #expect(talk.click().first == "started 2 rule")
        #expect(talk.tell(run) == ["started 3 rule"])
        #expect(talk.pass(.seconds(1)) == ["completed 1", "completed 2", "completed 3"])
        talk = House.talk(.on(.click, isDryRun: true, do: .set(0, to: .integer(50)), .work))
        #expect(talk.click() == ["started 1 rule", "completed 1"])
        #expect(talk.machine.value(of: "volume") == .integer(30))
    }

    @Test("a variable that is set is stored and published; an unknown variable or value changes nothing")
    func variables() {
        var talk = House.talk(House.set([]))
        #expect(talk.tell(.requested(.setVariable("volume", .integer(-5)))) == ["keep volume 0", "volume = 0"])
        #expect(talk.tell(.requested(.setVariable("volume", .integer(0)))) == [])
        #expect(
            talk.tell(.requested(.setVariable("scene", .string("dusk")))) == [
                "warning: variable scene keeps its value: scene cannot be dusk: it must be one of day, night"
            ])
        #expect(talk.tell(.requested(.setVariable("nothing", .integer(0)))) == [])
    }

    @Test("a variable that does not persist is published and not stored")
    func notPersisted() {
        let variable = DeclaredVariable(name: "count", type: .number, initial: .number(0), isPersisted: false)
        var talk = House.talk(House.set([], variables: [variable]))
        #expect(talk.tell(.requested(.setVariable("count", .integer(3)))) == ["count = 3"])
        #expect(talk.machine.value(of: "count") == .number(3))
    }

    @Test("disabling a rule lets its run go on and cancels its queued runs")
    func disable() {
        var talk = House.talk(.on(.click, mode: .queued, max: 3, do: .work))
        talk.given(.event(.pattern([.short]), at: talk.now))
        talk.given(.event(.pattern([.short]), at: talk.now))
        #expect(
            talk.tell(.requested(.setEnabled(rule: "rule", false))) == [
                "keep rule disabled", "rule disabled", "cancelled 2",
            ])
        #expect(talk.click() == ["stopped rule, disabled: disabled at run time"])
        #expect(talk.done(1) == ["completed 1"])
        #expect(
            talk.tell(.requested(.setEnabled(rule: "rule", true))) == ["keep rule as in the file", "rule enabled"])
    }

    @Test("a step enables a rule for later events, and repeats change nothing")
    func enableSteps() {
        var talk = House.talk(
            .on(.click, id: "switch", do: Step(.enable([1], true))),
            .on(.click, id: "light", isEnabled: false, do: .say("light")))
        #expect(
            talk.click() == [
                "started 1 switch", "stopped light, disabled: disabled", "keep light enabled", "light enabled",
                "completed 1",
            ])
        #expect(talk.click().contains("2 says light") == false)
        #expect(talk.click().contains("started 5 light"))
    }
}

@Suite("Trigger modes that rules need")
struct ListeningTests {
    static func listening(_ events: TriggerEvent..., times: DeclaredButton? = nil) -> ClickTiming {
        let rules = events.enumerated().map { place, event in Rule.on(event, id: "rule_\(place)", do: .say("hello")) }
        return House.talk(House.set(rules, buttons: [times ?? House.buttons[0]])).machine.clickTiming(of: House.kitchen)
    }

    @Test("a button gets the smallest trigger mode for its rules, and clicks wait no longer than they need")
    func modes() {
        let click = TriggerEvent.click, double = TriggerEvent.doubleClick, hold = TriggerEvent.hold(after: nil)
        #expect(ListeningTests.listening() == ClickTiming())
        #expect(
            ListeningTests.listening(click, .down)
                == ClickTiming(mode: .click, clickWait: .zero, gestures: [[.short]]))
        #expect(
            ListeningTests.listening(click, hold)
                == ClickTiming(mode: .clickAndHold, clickWait: nil, cause: "rule_1", gestures: [[.short]]))
        #expect(
            ListeningTests.listening(double, click)
                == ClickTiming(
                    mode: .clickAndDoubleClick, clickWait: .milliseconds(500), cause: "rule_0",
                    gestures: [[.short], [.short, .short]]))
        #expect(ListeningTests.listening(click, hold, double).mode == .clickAndDoubleClickAndHold)
        #expect(ListeningTests.listening(click, hold, double).cause == "rule_2")
        #expect(ListeningTests.listening(click, .holdRelease).mode == .clickAndHold)
    }

    @Test("three clicks, patterns, other holds and other times need raw events instead of a trigger mode")
    func raw() {
        let three = ListeningTests.listening(.click, .pattern([.short, .short, .short]))
        #expect(three.mode == nil && three.clickWait == .milliseconds(500) && three.cause == "rule_1")
        #expect(ListeningTests.listening(.click, .hold(after: .seconds(3))).mode == nil)
        #expect(ListeningTests.listening(.click, .pattern([.long, .short])).clickWait == nil)
        let times = DeclaredButton(name: "kitchen", hardware: .address(House.kitchen), clickGap: .milliseconds(300))
        let double = ListeningTests.listening(.doubleClick, times: times)
        #expect(double.mode == nil && double.clickWait == .milliseconds(300))
    }

    @Test("a chord makes clicks wait on its buttons and on no others")
    func chord() {
        let chord = Rule(
            id: "both", triggers: [Trigger(origin: .chord([0, 1], within: .milliseconds(250), .down))], steps: [])
        let talk = House.talk(.on(.click, of: .any, do: .say("hello")), chord)
        #expect(talk.machine.clickTiming(of: House.hall).clickWait == .milliseconds(250))
        #expect(talk.machine.clickTiming(of: House.hall).cause == "both")
        #expect(talk.machine.clickTiming(of: House.desk).clickWait == .zero)
    }

    @Test("rules for any button and disabled rules count for the trigger mode")
    func any() {
        let talk = House.talk(
            .on(.click, id: "click", do: .say("hello")),
            .on(.doubleClick, of: .any, id: "any", isEnabled: false, do: .say("hello")))
        #expect(talk.machine.clickTiming(of: House.kitchen).cause == "any")
        #expect(talk.machine.clickTiming(of: House.stranger).mode == .clickAndDoubleClick)
    }

    @Test("a trigger mode set at run time is refused if a rule needs an event it does not give")
    func refusal() {
        var talk = House.talk(
            .on(.click, id: "dim", do: .say("a")), .on(.hold(after: nil), id: "dim_hold", do: .say("b")))
        #expect(
            talk.machine.refusal(of: .clickAndDoubleClick, for: House.kitchen)
                == "rule dim_hold uses hold, which click_and_double_click does not report")
        #expect(talk.machine.refusal(of: .clickAndDoubleClickAndHold, for: House.kitchen) == nil)
        #expect(
            talk.tell(.requested(.setTriggerMode(House.kitchen, .click))) == [
                "warning: trigger mode click of kitchen is refused: rule dim_hold uses hold, which click does not report",
                "mode of 80e4da000001 dropped",
            ])
        #expect(talk.tell(.requested(.setTriggerMode(House.kitchen, .clickAndDoubleClickAndHold))) == [])
        #expect(talk.machine.clickTiming(of: House.kitchen).clickWait == .milliseconds(500))
        #expect(talk.tell(.requested(.setTriggerMode(House.kitchen, nil))) == [])
        #expect(talk.machine.clickTiming(of: House.kitchen).clickWait == nil)
    }

    @Test("a trigger mode that the rules file fixes cannot be changed at run time")
    func fixed() {
        let button = DeclaredButton(name: "kitchen", hardware: .address(House.kitchen), triggerMode: .clickAndHold)
        let talk = House.talk(House.set([.on(.click, do: .say("hello"))], buttons: [button]))
        #expect(talk.machine.clickTiming(of: House.kitchen).mode == .clickAndHold)
        #expect(talk.machine.clickTiming(of: House.kitchen).isFixed)
        #expect(talk.machine.refusal(of: .click, for: House.kitchen) == "the rules set it to click_and_hold")
        #expect(talk.machine.refusal(of: .clickAndHold, for: House.kitchen) == nil)
    }

    @Test("a reload whose rules need more sets the trigger mode back to auto, with a warning")
    func reload() {
        var talk = House.talk(.on(.click, do: .say("hello")))
        talk.given(.requested(.setTriggerMode(House.kitchen, .click)))
        #expect(
            talk.tell(
                .reloaded(
                    House.set([
                        .on(.click, do: .say("hello")),
                        .on(.pattern([.short, .short, .short]), id: "three", do: .say("3")),
                    ]))) == [
                    "warning: trigger mode of kitchen is auto again, not click: rule three uses clicks_3, which click does not report",
                    "mode of 80e4da000001 dropped",
                ])
        #expect(talk.machine.clickTiming(of: House.kitchen).mode == nil)
    }

    @Test("a new nickname that makes rules need more sets the trigger mode back to auto")
    func renamed() {
        var identities = House.identities
        identities[3].nickname = "bell"
        var talk = House.talk(.on(.doubleClick, of: .hardware(.nickname("bell")), id: "bell", do: .say("bell")))
        talk.given(.requested(.setTriggerMode(House.stranger, .click)))
        #expect(talk.tell(.buttonsChanged(identities)).last == "mode of 80e4da000009 dropped")
        #expect(talk.machine.clickTiming(of: House.stranger).mode == .clickAndDoubleClick)
    }

    @Test("a trigger mode set at run time applies to the next press")
    func presses() {
        var talk = House.talk(.on(.click, do: .say("hello")))
        talk.given(.requested(.setTriggerMode(House.kitchen, .clickAndHold)))
        var button = FakeButton(House.kitchen)
        #expect(talk.tell(button.down(at: talk.now)) == [])
        talk.wait(.milliseconds(80))
        #expect(talk.tell(button.up(at: talk.now)).first == "started 1 rule")
    }
}
