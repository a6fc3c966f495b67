import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Events a button had stored")
struct LateEventTests {
    static let lastOnly = Rule.on(
        .click, id: "last", queued: .limited(maximumAge: .seconds(10), keepLast: true), do: .say("hello"))

    @Test("by default, a stored event is accepted up to an age of three seconds")
    func standard() {
        var talk = House.talk(.on(.click, do: .say("hello")))
        #expect(talk.click(age: .seconds(3)).first == "started 1 rule")
        #expect(
            talk.click(age: .milliseconds(3001)) == [
                "stopped rule, dropped_queued: stored by the button for 3s1ms, at most 3s"
            ])
    }

    @Test("the rule's policy for stored events overrides the button's, and the button's overrides the set's")
    func policies() {
        let button = DeclaredButton(name: "kitchen", hardware: .address(House.kitchen), queued: .drop)
        var talk = House.talk(
            House.set(
                [
                    .on(.click, of: .any, id: "by_button", do: .say("hello")),
                    .on(
                        .click, of: .any, id: "own", queued: .limited(maximumAge: .seconds(9), keepLast: false),
                        do: .work),
                ], buttons: [button], queued: .accept))
        let told = talk.click(age: .seconds(9))
        #expect(
            told.prefix(2) == [
                "stopped by_button, dropped_queued: stored by the button; stored events are dropped", "started 1 own",
            ])
        #expect(talk.click(of: House.hall, age: .seconds(3600)).first == "started 2 by_button")
        #expect(talk.machine.queuedPolicy(of: House.kitchen) == .drop)
        #expect(talk.machine.queuedPolicy(of: House.hall) == .accept)
    }

    @Test("a live event is never too old")
    func live() {
        var talk = House.talk(.on(.click, queued: .drop, do: .say("hello")))
        #expect(talk.click().first == "started 1 rule")
    }

    @Test("a rule that ran for a hold also runs for its end, however late the end is and whatever is stored after it")
    func holdEnd() {
        for (policy, isKept) in [(QueuedPolicy.drop, false), (.limited(maximumAge: .seconds(1), keepLast: true), true)]
        {
            for hold in [
                RecognisedEvent.Lateness(wasQueued: false, age: .zero), .init(wasQueued: true, age: .seconds(20)),
            ] {
                var talk = House.talk(.on(.holdRelease, queued: policy, do: .say("stop")))
                let end = RecognisedEvent(
                    button: House.kitchen, kind: .holdRelease, wasQueued: true, age: .seconds(20), at: talk.now,
                    hold: hold)
                let told = talk.tell(.given(.recognised(end)))
                if hold.wasQueued {
                    #expect(told.first?.hasPrefix("stopped rule, dropped_queued") == true, "\(isKept)")
                } else {
                    #expect(told == ["started 1 rule", "1 says stop", "completed 1"], "\(isKept)")
                }
            }
        }
    }

    @Test("a hold without a reported release ends when the link times out, the button reboots or the button is removed")
    func lostHold() {
        for loss in [
            RuleEngine.Input.linkTimedOut(House.kitchen), .rebooted(House.kitchen), .buttonsChanged([]),
        ] {
            var button = FakeButton(House.kitchen)
            var talk = House.talk(.on(.hold(after: nil), .holdRelease, queued: .drop, do: .say("hello")))
            talk.given(button.down(at: talk.now))
            talk.wait(.seconds(1))
            #expect(talk.tell(button.hold(at: talk.now)).contains("1 says hello"))
            #expect(talk.tell(loss).contains("2 says hello"), "\(loss)")
            #expect(!talk.tell(loss).contains("3 says hello"), "\(loss)")
        }
    }

    @Test(
        "for a stored event, time conditions and trigger.at use the time of the press, and states have their present values"
    )
    func time() throws {
        var talk = House.talk(
            .on(
                .click, if: [try .that("now.minute == 59"), try .that("states.lux == 5")], queued: .accept,
                do: try .tell("{{ trigger.at }} {{ now.time }} {{ trigger.queued }} {{ trigger.age }}")))
        talk.given(.given(.state("lux", .integer(5))))
        #expect(talk.click(age: .seconds(10))[1] == "1 says 2026-01-15T11:59:50+00:00 12:00:00 true 10s")
    }

    @Test("with keep: last, the rule runs once, when the last stored gesture has arrived")
    func keepLast() {
        var talk = House.talk(LateEventTests.lastOnly)
        #expect(talk.click(age: .seconds(5)) == ["keep click for last"])
        talk.wait(.milliseconds(100))
        #expect(
            talk.click(age: .seconds(2), isLast: true) == [
                "keep click for last",
                "stopped last, dropped_queued: a later stored event arrived, and only the last one is used",
                "keep nothing for last", "started 1 last",
                "1 says hello", "completed 1",
            ])
        #expect(talk.pass(.seconds(1)) == [])
    }

    @Test("with keep: last and no event marked as last, the rule runs after 500 ms without a stored event")
    func silence() {
        var talk = House.talk(LateEventTests.lastOnly)
        #expect(talk.click(age: .seconds(5)) == ["keep click for last"])
        talk.wait(.milliseconds(400))
        #expect(talk.event(.hold(after: .seconds(1)), age: .seconds(1)) == [])
        #expect(talk.pass(.milliseconds(499)) == [])
        #expect(
            talk.pass(.milliseconds(1)) == ["keep nothing for last", "started 1 last", "1 says hello", "completed 1"])
    }

    @Test("with keep: last, an up that is marked as last does not start the rule for an earlier gesture")
    func lastUp() {
        var talk = House.talk(LateEventTests.lastOnly)
        talk.given(.event(.pattern([.short]), age: .seconds(5), at: talk.now))
        #expect(talk.event(.up, age: .seconds(2), isLast: true) == [])
        #expect(talk.click(age: .seconds(2), isLast: true).contains("started 1 last"))
    }

    @Test("a live event shows that all stored events have arrived, and starts its run after theirs")
    func liveEvent() throws {
        var talk = House.talk(
            .on(
                .click, queued: .limited(maximumAge: .seconds(10), keepLast: true),
                do: try .tell("{{ trigger.queued }}")))
        talk.given(.event(.pattern([.short]), age: .seconds(5), at: talk.now))
        #expect(talk.click().filter { $0.contains("says") } == ["1 says true", "2 says false"])
    }

    @Test("with keep: last, the gates after queued are checked when the wait is over")
    func later() throws {
        var talk = House.talk(
            .on(
                .click, if: [try .that("states.lux < 50")],
                queued: .limited(maximumAge: .seconds(10), keepLast: true), do: .say("hello")))
        talk.given(.event(.pattern([.short]), age: .seconds(5), at: talk.now))
        talk.given(.given(.state("lux", .integer(90))))
        #expect(
            talk.pass(.seconds(1)) == [
                "keep nothing for rule",
                "stopped rule, dropped_conditions: states.lux < 50 is false (states.lux = 90)",
            ])
    }

    @Test("a fallback rule with keep: last does not run if an ordinary rule with keep: last runs")
    func fallback() throws {
        let policy = QueuedPolicy.limited(maximumAge: .seconds(10), keepLast: true)
        var talk = House.talk(
            .on(.click, id: "nothing", queued: policy, fallback: true, do: .say("nothing")),
            .on(.click, id: "dark", if: [try .that("states.lux < 50")], queued: policy, do: .say("dark")))
        talk.given(.event(.pattern([.short]), press: 1, age: .seconds(5), at: talk.now))
        #expect(talk.pass(.seconds(1)) == ["keep nothing for dark", "started 1 dark", "1 says dark", "completed 1"])
    }
}
