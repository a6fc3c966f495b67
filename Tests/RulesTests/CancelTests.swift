import ButtonModel
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("The step cancel, and trigger.interrupted")
struct CancelTests {
    @Test("cancel ends the runs of other rules, in progress and queued, and then the run goes on")
    func others() {
        var talk = House.talk(
            .on(.click, id: "slow", mode: .queued, max: 3, do: .work),
            .on(.click, of: .declared(1), id: "end", do: Step(.cancel([0])), .say("ended")))
        _ = talk.click()
        _ = talk.click()
        #expect(
            talk.click(of: House.hall) == [
                "started 3 end", "3 says ended", "cancelled 2", "cancel 1", "cancelled 1", "completed 3",
            ])
        #expect(talk.machine.runCount == 0)
        #expect(talk.click(of: House.hall) == ["started 4 end", "4 says ended", "completed 4"])
    }

    @Test("of its own rule, cancel ends this run, too, as cancelled and without on_error")
    func own() {
        var rule = Rule.on(
            .click, id: "own", mode: .parallel, max: 3, do: .pause("10s"), Step(.cancel([0])), .say("never"))
        rule.onError = [.say("error")]
        var talk = House.talk(rule)
        _ = talk.click()
        _ = talk.pass(.seconds(5))
        _ = talk.click()
        #expect(talk.pass(.seconds(5)) == ["cancelled 1", "cancelled 2"])
        #expect(talk.machine.latestOutcome(of: "own") == .cancelled)
        #expect(talk.machine.statistics(of: "own")?.counts[.cancelled] == 2)
    }

    @Test("in a dry run, cancel ends no other run")
    func dryRun() {
        var talk = House.talk(
            .on(.click, id: "slow", do: .work),
            .on(.click, of: .declared(1), id: "end", isDryRun: true, do: Step(.cancel([0]))))
        _ = talk.click()
        #expect(talk.click(of: House.hall) == ["started 2 end", "completed 2"])
        #expect(talk.machine.runCount == 1)
        #expect(talk.machine.traces(of: "end").last?.lines.map(\.text) == ["slow, not cancelled"])
    }

    @Test("trigger.interrupted is true for a run that took the place of another one")
    func interrupted() throws {
        var talk = House.talk(.on(.click, mode: .restart, do: try .tell("{{ trigger.interrupted }}"), .pause("10s")))
        #expect(talk.click() == ["started 1 rule", "1 says false"])
        #expect(talk.click() == ["cancelled 1", "started 2 rule", "2 says true"])
        _ = talk.pass(.seconds(10))
        #expect(talk.click() == ["started 3 rule", "3 says false"])
    }

    @Test("the trace says why a run was cancelled")
    func reasons() {
        func text(_ talk: Transcript<RuleEngine>, _ rule: String) -> String? {
            talk.machine.traces(of: rule).first?.lines.last?.text
        }
        let slow = Rule.on(.click, id: "slow", mode: .restart, do: .pause("10s"))
        let end = Rule.on(.click, of: .declared(1), id: "end", do: Step(.cancel([0])))
        var again = House.talk(slow)
        _ = again.click()
        _ = again.click()
        #expect(text(again, "slow") == "cancelled: pressed again (mode: restart)")
        var other = House.talk(slow, end)
        _ = other.click()
        _ = other.click(of: House.hall)
        #expect(text(other, "slow") == "cancelled by rule end")
        var changed = House.talk(slow)
        _ = changed.click()
        var set = House.set([slow])
        set.rules[0].steps = [.say("changed")]
        _ = changed.tell(.reloaded(set))
        #expect(text(changed, "slow") == "cancelled: the rule was changed")
    }

    @Test("a rule with cancel at the beginning has no plan")
    func plan() {
        var talk = House.talk(.on(.down, do: Step(.cancel([0]))))
        talk.given(.brokerChanged(isConnected: true))
        var engine = talk.machine
        engine.preparePlan(of: House.kitchen)
        var button = FakeButton(House.kitchen)
        guard case .pressed(let events) = button.down(at: talk.now), let event = events.first else { return }
        let preview = engine.preview(event, at: talk.now)
        #expect(preview == nil)
    }
}
