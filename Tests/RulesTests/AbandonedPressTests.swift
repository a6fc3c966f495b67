import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

/// Presses that an engine of sites must not act on any more, because they are reported as interrupted or another engine has handled
/// them.
@Suite("Abandoned and inherited presses")
struct AbandonedPressTests {
    private static let interrupted = "interrupted 1"

    /// A rule for a chord of the kitchen's and the hall's button, and for other triggers.
    private static func chord(_ others: Trigger..., mode: Rule.Mode = .single) -> Rule {
        var rule = Rule.on(.down, mode: mode, max: 3, do: .pause("5m"))
        rule.triggers = [Trigger(origin: .chord([0, 1], within: .milliseconds(300), .down))] + others
        return rule
    }

    @Test("a run of a chord ends if the press of any of its buttons is given up, and not if that of another button is")
    func chord() {
        let other = Trigger(origin: .chord([2, 3], within: .milliseconds(300), .down))
        for (button, isGivenUp) in [(House.kitchen, true), (House.hall, true), (House.desk, false)] {
            var talk = House.talk(Self.chord(other))
            #expect(talk.event(.chord(0), of: House.hall) == ["started 1 rule"])
            #expect(talk.tell(.abandoned([button: talk.now])).contains(Self.interrupted) == isGivenUp)
        }
    }

    @Test("a chord that waits in line is dropped if the press of any of its buttons is given up")
    func queuedChord() {
        var talk = House.talk(Self.chord(mode: .queued))
        #expect(talk.event(.chord(0), of: House.hall) == ["started 1 rule"])
        talk.wait(.seconds(1))
        let start = talk.now
        _ = talk.event(.chord(0), of: House.hall)
        #expect(talk.machine.runCount == 2)
        talk.wait(.seconds(1))
        _ = talk.tell(.abandoned([House.kitchen: start]))
        #expect(talk.machine.runCount == 1)
    }

    @Test("a stored event that a rule keeps is undecided, and is dropped with its press")
    func kept() {
        var talk = House.talk(.on(.click, queued: .limited(maximumAge: .seconds(60), keepLast: true), do: .say("x")))
        let start = talk.now
        talk.wait(.seconds(10))
        _ = talk.click(age: .seconds(3))
        #expect(talk.machine.hasUndecided(of: House.kitchen) && !talk.machine.hasUndecided(of: House.hall))
        _ = talk.tell(.abandoned([House.kitchen: start]))
        #expect(!talk.machine.hasUndecided(of: House.kitchen))
        #expect(talk.click(age: .seconds(2), isLast: true).filter { $0.hasPrefix("started") } == ["started 1 rule"])
    }

    @Test("a run that a turn of another button has continued ends if the turn is given up")
    func awaitedTurn() {
        let turn = Trigger(
            buttons: [.declared(2)], events: [.rotate(.clockwise, collect: .milliseconds(100))], parts: [.dial])
        let wait = Step(
            .waitFor(WaitForStep([turn], timeout: .seconds(5), claims: false, then: [.pause("5m")], otherwise: [])))
        var talk = House.talk(.on(.click, do: wait))
        #expect(talk.click() == ["started 1 rule"])
        talk.wait(.seconds(1))
        _ = talk.event(.rotation(steps: 3, collect: .milliseconds(100)), of: House.desk, part: .dial)
        #expect(talk.machine.runCount == 1)
        #expect(talk.tell(.abandoned([House.desk: talk.now])).contains(Self.interrupted))
    }

    @Test("a run from before a restart goes on if only later presses are given up")
    func restored() throws {
        var (talk, told) = try RestartTests.restarted(after: .seconds(120), RestartTests.stairs)
        #expect(told == ["info: run 1 of stairs continues"])
        #expect(talk.tell(.abandoned([House.kitchen: talk.now])) == [])
        #expect(talk.machine.runCount == 1)
        #expect(talk.tell(.abandoned([House.kitchen: talk.now + .seconds(-121)])).contains(Self.interrupted))
    }

    // MARK: Inherited buttons

    @Test("a button that is inherited is not held any more, for runs and for conditions")
    func inherited() throws {
        var talk = House.talk(
            .on(.down, id: "held", do: .repeatWhileHeld(.work)),
            .on(
                .click, of: .declared(1), id: "condition",
                do: try .wait(until: "not buttons.kitchen.held"), .say("released")))
        #expect(talk.event(.down, press: 1) == ["started 1 held", "1 works"])
        #expect(talk.click(of: House.hall) == ["started 2 condition"])
        #expect(talk.tell(.inherited(House.hall, mayBeDown: false)) == [])
        #expect(talk.tell(.inherited(House.kitchen, mayBeDown: true)) == ["2 says released", "completed 2"])
        #expect(talk.done(1) == ["completed 1"])
        // A later press is held again.
        #expect(talk.event(.down, press: 2) == ["started 3 held", "3 works"])
        #expect(talk.click(of: House.hall) == ["started 4 condition"])
        #expect(talk.event(.up, press: 2) == ["4 says released", "completed 4"])
    }
}
