import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Random numbers in rules")
struct RandomTests {
    private static func rule(_ step: Step, if conditions: [Condition] = []) -> Rule {
        .on(.click, id: "dice", if: conditions, do: step)
    }

    /// The condition `random(1, 6) == 6`.
    private static func isSix() throws -> Condition {
        let text = "random(1, 6) == 6"
        return Condition(
            .expression(try Expression(compiling: text, in: House.scope(), expecting: .condition)), text: text,
            location: SourceLocation())
    }

    private static func said(_ words: [String]) -> [String] { words.filter { $0.contains(" says ") } }

    @Test("steps of one run, runs of one instant and later presses draw other numbers")
    func drawn() throws {
        var talk = House.talk(Self.rule(try .tell("{{ random(1, 1000000) }} {{ random(1, 1000000) }}")))
        var seen: Set<Substring> = []
        for _ in 0..<10 {
            for _ in 0..<2 {
                for words in Self.said(talk.click()) { seen.formUnion(words.split(separator: " ").suffix(2)) }
            }
            _ = talk.pass(.milliseconds(1500))
        }
        #expect(seen.count == 40)
    }

    @Test("the same inputs at the same times give the same numbers, whatever was drawn before")
    func repeatable() throws {
        let set = House.set([Self.rule(try .tell("{{ random(1, 1000000) }}"))])
        func said(boot: Duration, pressesBefore: Bool) -> [String] {
            var talk = Transcript(RuleEngine(set))
            talk.wait(boot)
            talk.given(.buttonsChanged(House.identities))
            talk.given(.wallClock(House.noon, isBelievable: true))
            _ = talk.pass(.seconds(1))
            if pressesBefore { _ = talk.click() }
            _ = talk.pass(.seconds(1))
            return Self.said(talk.click()).map { String($0.split(separator: " ").last ?? "") }
        }
        let first = said(boot: .zero, pressesBefore: false)
        #expect(first.count == 1)
        // A recording contains times since the start of the daemon, not since the start of the system.
        #expect(said(boot: .seconds(77), pressesBefore: false) == first)
        #expect(said(boot: .zero, pressesBefore: true) == first)
    }

    @Test("a timer that fires late gives the numbers of its deadline, because a history does not contain it")
    func lateTimer() throws {
        let tell = try Step.tell("{{ random(1, 1000000) }}")
        func said(late: Duration) -> [String] {
            var talk = House.talk(.on(.click, do: tell, .pause("1s"), tell))
            let first = Self.said(talk.click())
            talk.wait(.seconds(1) + late)
            return first + Self.said(talk.tell(.timerFired))
        }
        let inTime = said(late: .zero)
        #expect(inTime.count == 2)
        #expect(said(late: .milliseconds(7)) == inTime)
    }

    @Test("each of several waits of a run gives the numbers of a timer in time, although each timer fires late")
    func lateTimers() throws {
        let tell = try Step.tell("{{ random(1, 1000000) }}")
        func said(late: Duration) -> [String] {
            var talk = House.talk(.on(.click, do: tell, .pause("1s"), tell, .pause("2s"), tell, .pause("1s"), tell))
            var said = Self.said(talk.click())
            for seconds in [1, 2, 1] as [Int64] {
                talk.wait(.seconds(seconds) + late)
                said += Self.said(talk.tell(.timerFired))
            }
            return said
        }
        let inTime = said(late: .zero)
        #expect(Set(inTime).count == 4)
        #expect(said(late: .milliseconds(7)) == inTime)
    }

    @Test("a timer at the time of the press that has set it draws other numbers than the press")
    func timerOfSameInstant() throws {
        let tell = try Step.tell("{{ random(1, 1000000) }}")
        var talk = House.talk(.on(.click, do: tell, .pause("0s"), tell))
        let said = Self.said(talk.click()) + Self.said(talk.pass(.milliseconds(1)))
        #expect(said.count == 2 && Set(said).count == 2)
    }

    @Test("a condition draws once when a rule is judged, and its reason names the number")
    func condition() throws {
        var talk = House.talk(Self.rule(try .tell("{{ random(1, 6) }}"), if: [try Self.isSix()]))
        talk.given(.given(.random([6, 2, 5, 6, 1])))
        #expect(Self.said(talk.click()) == ["1 says 2"])
        #expect(talk.click() == ["stopped dice, dropped_conditions: random(1, 6) == 6 is false (random gave 5)"])
        #expect(Self.said(talk.click()) == ["2 says 1"])
        #expect(talk.machine.draws.given == [] && talk.machine.draws.problem == nil)
    }

    @Test("an explanation draws nothing")
    func explanation() throws {
        let talk = House.talk(Self.rule(try .tell("a"), if: [try Self.isSix()]))
        let event = RecognisedEvent(button: House.kitchen, kind: .pattern([.short]), at: talk.now)
        let before = talk.machine.draws
        _ = talk.machine.explain(event, at: talk.now)
        #expect(talk.machine.draws == before)
    }

    @Test("what a press starts is not known before it if a rule draws numbers")
    func preview() throws {
        for (step, isKnown) in [("{{ random(1, 6) }}", false), ("{{ trigger.button }}", true)] {
            let payload = PayloadTemplate.text(try Template(compiling: step, in: House.scope()))
            let publish = PublishStep(topicName: Template(literal: "lamp"), payload: payload)
            var engine = House.talk(.on(.click, do: Step(.publish(publish)))).machine
            engine.preparePlan(of: House.kitchen)
            let plan = try #require(engine.plans.compactMap(\.self).first)
            #expect((plan[.click] != nil) == isKnown, "\(step)")
        }
    }

    @Test("the numbers of a test are kept by a reload")
    func reload() throws {
        let set = House.set([Self.rule(try .tell("{{ random(1, 6) }}"))])
        var talk = House.talk(set)
        talk.given(.given(.random([4])))
        _ = talk.tell(.reloaded(set))
        #expect(Self.said(talk.click()) == ["1 says 4"])
        #expect(Self.said(talk.click()) == ["2 says 1"])
        #expect(talk.machine.draws.problem == .noneLeft(from: 1, through: 6))
    }
}
