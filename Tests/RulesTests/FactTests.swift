import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("What rules know of buttons and of other rules")
struct FactTests {
    @Test(
        "a link that changes is an event, but not its first report after the start and not a repeated report"
    )
    func links() {
        var talk = House.talk(
            .on(.connected, id: "in", do: .say("in")), .on(.disconnected, of: .any, id: "out", do: .say("out")))
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: false)) == [])
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: true)) == [])
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: true)) == [])
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: false)).first == "started 1 out")
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: true)).first == "started 2 in")
        talk.given(.reloaded(House.set([.on(.connected, of: .any, id: "new", do: .say("new"))])))
        #expect(talk.tell(.linkChanged(House.hall, isConnected: true)) == [])
        talk.given(.linkChanged(House.kitchen, isConnected: false))
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: true)).first == "started 3 new")
    }

    @Test("in a test of rules each connection that the test gives is an event")
    func givenLinks() {
        var talk = House.talk(.on(.connected, do: .say("in")))
        #expect(talk.tell(.given(.linkChanged(House.kitchen, isConnected: true))).first == "started 1 rule")
        #expect(talk.tell(.given(.linkChanged(House.kitchen, isConnected: true))).first == "started 2 rule")
    }

    @Test("a low battery is an event of its button")
    func batteryLow() throws {
        var talk = House.talk(
            .on(
                .batteryLow, of: .any, scope: .button, cooldown: .seconds(86_400),
                do: try .tell("{{ trigger.button }} {{ trigger.event }}")))
        #expect(talk.tell(.batteryLow(House.hall)).contains("1 says hall battery_low"))
        #expect(talk.tell(.batteryLow(House.hall)) == ["stopped rule, dropped_cooldown: for another 1d"])
        #expect(talk.tell(.batteryLow(House.kitchen)).contains("2 says kitchen battery_low"))
    }

    @Test("a rule can read whether a button is connected and held, its battery and its last event")
    func buttons() throws {
        let text =
            "{{ buttons.kitchen.connected }} {{ buttons.kitchen.held }} {{ buttons.kitchen.battery ?? 0 }} "
            + "{{ buttons.kitchen.last_event }} {{ buttons.kitchen.last_event_age ?? 0s }}"
        var talk = House.talk(.on(.click, of: .declared(1), do: try .tell(text)))
        #expect(talk.click(of: House.hall).contains("1 says false false 0  0s"))
        talk.given(.linkChanged(House.kitchen, isConnected: true))
        talk.given(.battery(House.kitchen, 87))
        talk.given(.event(.pattern([.short, .short]), at: talk.now))
        talk.wait(.seconds(3))
        talk.given(.event(.down, at: talk.now))
        #expect(talk.click(of: House.hall).contains("2 says true true 87 double_click 3s"))
        talk.given(.linkChanged(House.kitchen, isConnected: false))
        #expect(talk.click(of: House.hall).contains("3 says false false 87 double_click 3s"))
        talk.given(.reloaded(House.set([.on(.click, of: .declared(1), id: "new", do: try .tell(text))])))
        talk.wait(.seconds(1))
        #expect(talk.click(of: House.hall).contains("4 says false false 87 double_click 4s"))
    }

    @Test("conditions see the button's last event before this one, and steps see this one")
    func lastEvent() throws {
        var talk = House.talk(
            .on(
                .click, .doubleClick, if: [try .that("buttons.kitchen.last_event == 'double_click'")],
                do: try .tell("{{ buttons.kitchen.last_event }}")))
        #expect(talk.event(.pattern([.short, .short])).first?.hasPrefix("stopped") == true)
        #expect(talk.click().contains("1 says click"))
    }

    @Test("a rule can read whether another rule is enabled and running, when it last ran and with what result")
    func rules() throws {
        let ids = ["slow", "ask"]
        let text =
            "{{ rules.slow.enabled }} {{ rules.slow.running }} {{ rules.slow.last_run_age ?? 0s }} "
            + "[{{ rules.slow.last_result }}]"
        var talk = House.talk(
            .on(.click, id: "slow", do: .work), .on(.doubleClick, id: "ask", do: try .tell(text, rules: ids)))
        #expect(talk.event(.pattern([.short, .short])).contains("1 says true 0 0s []"))
        talk.given(.event(.pattern([.short]), at: talk.now))
        talk.wait(.seconds(2))
        #expect(talk.event(.pattern([.short, .short])).contains("3 says true 1 2s []"))
        #expect(talk.done(2, .failed(code: "R822", message: "exit status 1")).last == "failed 2")
        talk.given(.requested(.setEnabled(rule: "slow", false)))
        #expect(talk.event(.pattern([.short, .short])).contains("4 says false 0 2s [failed]"))
    }

    @Test("a trigger has the button's identity, part, steps, position and slot")
    func trigger() throws {
        let text =
            "{{ trigger.button }} {{ trigger.uuid }} {{ trigger.serial }} {{ trigger.address }} {{ trigger.nickname }} "
            + "{{ trigger.part }} {{ trigger.steps }} {{ trigger.position }} {{ trigger.slot }}"
        var talk = House.talk(.on(.rotate(.clockwise, collect: .milliseconds(100)), of: .any, do: try .tell(text)))
        let turned = RecognisedEvent(
            button: House.desk, part: .dial, kind: .rotation(steps: 4, collect: .milliseconds(100)), at: talk.now,
            position: 40, slot: 7)
        #expect(
            talk.tell(.given(.recognised(turned)))[1]
                == "1 says desk \(String(repeating: "3", count: 32)) BA00-A00003 80:E4:DA:00:00:03 Button 3 dial 4 40 7"
        )
        let stranger = RecognisedEvent(
            button: House.stranger, kind: .rotation(steps: 1, collect: .milliseconds(100)), at: talk.now)
        #expect(
            talk.tell(.given(.recognised(stranger)))[1].hasPrefix("2 says \(String(repeating: "9", count: 32)) "))
    }

    @Test("a button that no rule declares, and whose uuid is not known, is called by its id")
    func remoteButton() throws {
        var talk = House.talk(
            .on(.rotate(.clockwise, collect: .milliseconds(100)), of: .any, do: try .tell("{{ trigger.button }}")))
        var identity = try #require(House.identities.last)
        identity.uuid = ""
        talk.given(.buttonsChanged([identity]))
        let turned = RecognisedEvent(
            button: House.stranger, kind: .rotation(steps: 1, collect: .milliseconds(100)), at: talk.now)
        #expect(talk.tell(.given(.recognised(turned)))[1] == "1 says 80e4da000009")
    }
}

@Suite("Repeating while a button is held")
struct HoldTests {
    @Test("a repeat while held ends with the release, and the rules for hold_release run after it")
    func release() {
        var talk = House.talk(
            .on(.hold(after: nil), id: "dim", do: .repeatWhileHeld(.say("dim")), .say("end")),
            .on(.holdRelease, id: "turn", do: .say("turn")))
        var button = FakeButton(House.kitchen)
        talk.given(button.down(at: talk.now))
        talk.wait(.seconds(1))
        #expect(talk.tell(button.hold(at: talk.now)) == ["started 1 dim", "1 says dim"])
        #expect(talk.pass(.milliseconds(300)) == ["1 says dim"])
        #expect(
            talk.tell(button.up(at: talk.now)) == [
                "1 says end", "completed 1", "started 2 turn", "2 says turn", "completed 2",
            ])
    }

    @Test("a repeat while held ends when the link is lost, the rule is disabled or a reload changes the rule")
    func otherEnds() {
        func held() -> Transcript<RuleEngine> {
            var talk = House.talk(.on(.hold(after: nil), do: .repeatWhileHeld(.say("dim"))))
            talk.given(.linkChanged(House.kitchen, isConnected: true))
            talk.given(.event(.hold(after: .seconds(1)), at: talk.now))
            return talk
        }
        var talk = held()
        #expect(talk.pass(.milliseconds(400)) == ["1 says dim", "1 says dim"])
        #expect(talk.tell(.linkChanged(House.kitchen, isConnected: false)) == ["completed 1"])
        talk = held()
        #expect(talk.tell(.requested(.setEnabled(rule: "rule", false))).last == "completed 1")
        talk = held()
        #expect(talk.tell(.reloaded(House.set([]))).first == "cancelled 1")
        talk = held()
        #expect(talk.event(.up, of: House.hall) == [])
        #expect(talk.event(.up) == ["completed 1"])
    }

    @Test("the release of one part of a button ends only the repeats of that part")
    func parts() {
        var talk = House.talk(.on(.down, scope: .button, do: .repeatWhileHeld(.say("dim"))))
        #expect(talk.event(.down, part: .big) == ["started 1 rule", "1 says dim"])
        talk.given(.event(.down, part: .small, at: talk.now))
        #expect(talk.event(.up, part: .small) == [])
        #expect(talk.event(.up, part: .big) == ["completed 1"])
    }

    @Test("a stored press repeats nothing while held")
    func late() {
        var talk = House.talk(.on(.down, do: .repeatWhileHeld(.say("dim")), .say("end")))
        #expect(talk.event(.down, age: .seconds(1)) == ["started 1 rule", "1 says end", "completed 1"])
    }
}

@Suite("From button events to runs")
struct PressTests {
    @Test(
        "a click with a possible double click starts its rule at the click timeout, after its down and up were reported"
    )
    func click() {
        var talk = House.talk(
            .on(.click, id: "click", do: .say("click")), .on(.doubleClick, id: "double", do: .say("double")))
        var button = FakeButton(House.kitchen)
        #expect(talk.tell(button.down(at: talk.now)) == [])
        talk.wait(.milliseconds(80))
        let up = talk.given(button.up(at: talk.now))
        #expect(up.contains { if case .recognised(let seen) = $0 { seen.kind == .up } else { false } })
        talk.wait(.milliseconds(420))
        let effects = talk.given(button.clickTimeout(at: talk.now))
        #expect(
            effects.contains { if case .recognised(let seen) = $0 { seen.kind == .pattern([.short]) } else { false } })
        #expect(effects.compactMap(\.words) == ["started 1 click", "1 says click", "completed 1"])
    }

    @Test("a train saved as text continues after a restart as a queued event")
    func savedTrain() throws {
        let rules: [Rule] = [
            .on(.click, id: "click", queued: .accept, do: .say("click")),
            .on(.pattern([.short, .short, .short]), id: "three", do: .say("three")),
        ]
        var talk = House.talk(House.set(rules))
        var button = FakeButton(House.kitchen)
        talk.given(button.down(at: talk.now))
        talk.wait(.milliseconds(80))
        talk.given(button.up(at: talk.now))
        let saved = talk.machine.savedTrain(of: House.kitchen)
        #expect(!saved.isEmpty)
        var engine = House.talk(House.set(rules)).machine
        engine.restoreTrain(of: House.kitchen, saved, at: Instant(nanoseconds: 0))
        var after = Transcript(engine)
        after.given(.wallClock(House.noon, isBelievable: true))
        #expect(after.pass(.seconds(11)).contains("1 says click"))
    }

    @Test("a press saved before a restart hours ago is dropped as too old")
    func oldTrain() throws {
        let rules: [Rule] = [
            .on(.click, id: "click", queued: .limited(maximumAge: .seconds(60), keepLast: false), do: .say("click")),
            .on(.pattern([.short, .short, .short]), id: "three", do: .say("three")),
        ]
        var talk = House.talk(House.set(rules))
        talk.given(.wallClock(House.noon, isBelievable: true))
        var button = FakeButton(House.kitchen)
        talk.given(button.down(at: talk.now))
        talk.wait(.milliseconds(80))
        talk.given(button.up(at: talk.now))
        let saved = talk.machine.savedTrain(of: House.kitchen)
        for (away, words) in [
            (Duration.seconds(5), "1 says click"),
            (.seconds(5 * 3600), "stopped click, dropped_queued: stored by the button for 5h9s999ms, at most 1m"),
        ] {
            var engine = House.talk(House.set(rules)).machine
            _ = engine.handle(.wallClock(House.noon + away, isBelievable: true), at: talk.now)
            engine.restoreTrain(of: House.kitchen, saved, at: talk.now)
            var after = Transcript(engine, at: talk.now)
            after.given(.brokerChanged(isConnected: true))
            let heard = after.pass(.seconds(11))
            #expect(heard.contains(words), "\(heard)")
        }
    }

    @Test("rotation is summed for the collection time of the rule")
    func rotation() throws {
        var talk = House.talk(
            .on(
                .rotate(.clockwise, collect: .milliseconds(200)), of: .declared(2),
                do: try .tell("{{ trigger.steps }}")))
        let movement = ButtonMovement(button: House.desk, part: .dial, steps: 2)
        talk.given(.moved(movement))
        talk.wait(.milliseconds(100))
        talk.given(.moved(movement))
        #expect(talk.pass(.milliseconds(99)) == [])
        #expect(talk.pass(.milliseconds(1)) == ["started 1 rule", "1 says 4", "completed 1"])
    }
}
