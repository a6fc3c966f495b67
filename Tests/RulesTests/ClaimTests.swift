import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Claimed presses")
struct ClaimTests {
    /// A rule whose run waits for an event of the hall, and claims it.
    private static func claiming(_ event: TriggerEvent, id: String = "claims", then steps: Step...) -> Rule {
        let wait = WaitForStep(
            [Trigger(buttons: [.declared(1)], events: [event])], timeout: .seconds(60), claims: true,
            then: [.say("claimed")])
        var rule = Rule.on(.click, id: id, do: Step(.waitFor(wait)))
        rule.steps += steps
        return rule
    }

    private static func awaiting(_ event: TriggerEvent) -> Step {
        Step(
            .waitFor(
                WaitForStep(
                    [Trigger(buttons: [.declared(1)], events: [event])], timeout: .seconds(60), then: [.say("seen")])))
    }

    private static func hall(_ event: TriggerEvent, id: String, fallback: Bool = false) -> Rule {
        .on(event, of: .declared(1), id: id, fallback: fallback, do: .say(id))
    }

    @Test("after a claimed down, no gesture of the press starts a rule or continues another run")
    func down() {
        var talk = House.talk(
            Self.claiming(.down), .on(.click, id: "waits", do: Self.awaiting(.click)), Self.hall(.click, id: "click"),
            Self.hall(.up, id: "up"), Self.hall(.doubleClick, id: "double"),
            Self.hall(.click, id: "fallback", fallback: true))
        _ = talk.click()
        talk.wait(.seconds(1))
        #expect(talk.event(.down, of: House.hall, press: 7) == ["1 says claimed", "completed 1"])
        #expect(talk.event(.up, of: House.hall, press: 7) == [])
        #expect(talk.event(.pattern([.short]), of: House.hall, press: 7) == [])
        #expect(
            talk.tell(
                .given(
                    .recognised(
                        RecognisedEvent(
                            button: House.hall, kind: .pattern([.short, .short]), presses: 7...8, at: talk.now)))) == []
        )
        #expect(talk.event(.up, of: House.hall, press: 9).first == "started 3 up")
        #expect(talk.event(.pattern([.short]), of: House.hall, press: 9).prefix(2) == ["2 says seen", "completed 2"])
    }

    @Test("after a claimed hold, no later hold, up or hold_release starts a rule")
    func hold() {
        var talk = House.talk(
            Self.claiming(.hold(after: nil)), Self.hall(.hold(after: .seconds(3)), id: "longer"),
            Self.hall(.holdRelease, id: "released"), Self.hall(.up, id: "up"))
        _ = talk.click()
        talk.wait(.seconds(1))
        #expect(
            talk.event(.hold(after: .seconds(1)), of: House.hall, press: 1) == ["1 says claimed", "completed 1"])
        #expect(talk.event(.hold(after: .seconds(3)), of: House.hall, press: 1) == [])
        #expect(talk.event(.up, of: House.hall, press: 1) == [])
        #expect(talk.event(.holdRelease, of: House.hall, press: 1) == [])
        #expect(talk.event(.holdRelease, of: House.hall, press: 2).first == "started 2 released")
    }

    @Test("a hold that started a rule before the claim still gets its hold_release")
    func begunHold() {
        var talk = House.talk(
            Self.claiming(.hold(after: .seconds(3))), Self.hall(.hold(after: nil), id: "held"),
            Self.hall(.holdRelease, id: "released"), Self.hall(.up, id: "up"))
        _ = talk.click()
        talk.wait(.seconds(1))
        #expect(talk.event(.hold(after: .seconds(1)), of: House.hall, press: 1).first == "started 2 held")
        #expect(
            talk.event(.hold(after: .seconds(3)), of: House.hall, press: 1) == ["1 says claimed", "completed 1"])
        #expect(talk.event(.up, of: House.hall, press: 1) == [])
        #expect(talk.event(.holdRelease, of: House.hall, press: 1).first == "started 3 released")
    }

    @Test("the run that claimed a press sees the rest of it, also when it waits without a claim")
    func claimant() {
        var talk = House.talk(
            Self.claiming(.down, then: Self.awaiting(.hold(after: nil)), Self.awaiting(.holdRelease)),
            Self.hall(.holdRelease, id: "released"))
        _ = talk.click()
        talk.wait(.seconds(1))
        #expect(talk.event(.down, of: House.hall, press: 1) == ["1 says claimed"])
        talk.wait(.seconds(1))
        #expect(talk.event(.hold(after: .seconds(1)), of: House.hall, press: 1) == ["1 says seen"])
        talk.wait(.seconds(1))
        #expect(talk.event(.holdRelease, of: House.hall, press: 1) == ["1 says seen", "completed 1"])
    }

    @Test("a claim stays when the rules are reloaded, and ends when its button is gone")
    func reload() {
        let set = House.set([Self.claiming(.down), Self.hall(.click, id: "click")])
        var talk = House.talk(set)
        _ = talk.click()
        talk.wait(.seconds(1))
        #expect(talk.event(.down, of: House.hall, press: 1) == ["1 says claimed", "completed 1"])
        var changed = set
        changed.rules[1].fingerprint = "another"
        #expect(talk.tell(.reloaded(changed)) == [])
        #expect(talk.event(.pattern([.short]), of: House.hall, press: 1) == [])
        _ = talk.tell(.buttonsChanged([]))
        _ = talk.tell(.buttonsChanged(House.identities))
        #expect(talk.event(.pattern([.short]), of: House.hall, press: 1).first == "started 2 click")
    }

    @Test("a claimed press has no early effect")
    func preview() throws {
        let publish = Step(.publish(PublishStep(topicName: Template(literal: "lamp"), payload: .nothing)))
        for claims in [false, true] {
            var talk = House.talk(
                Self.claiming(.down),
                .on(.up, of: .declared(1), id: "up", mode: .parallel, do: publish))
            talk.given(.brokerChanged(isConnected: true))
            var engine = talk.machine
            engine.preparePlan(of: House.hall)
            var button = FakeButton(House.hall)
            if claims {
                _ = engine.handle(.event(.pattern([.short]), at: talk.now), at: talk.now)
                talk.wait(.seconds(1))
            }
            _ = engine.handle(button.down(at: talk.now), at: talk.now)
            #expect(engine.runCount == 0)
            talk.wait(.milliseconds(80))
            let release = button.up(at: talk.now)
            guard case .pressed(let events) = release, let event = events.first else { return }
            let previewed = engine.preview(event, at: talk.now)
            let told = engine.handle(release, at: talk.now)
            #expect((previewed == nil) == claims)
            #expect(told.contains { if case .started = $0 { true } else { false } } != claims)
        }
    }
}
