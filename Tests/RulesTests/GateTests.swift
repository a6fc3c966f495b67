import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Gates of a rule")
struct GateTests {
    @Test("the effects of an event are what was recognised, then which rules start, then their steps")
    func order() {
        var talk = House.talk(
            .on(.click, id: "a", do: .say("a")), .on(.doubleClick, id: "b", do: .say("b")),
            .on(.click, id: "c", do: .say("c")))
        let recognised = RecognisedEvent(button: House.kitchen, kind: .pattern([.short]), at: talk.now)
        let effects = talk.given(.given(.recognised(recognised)))
        #expect(effects.first == .recognised(recognised))
        #expect(
            effects.compactMap(\.words) == [
                "started 1 a", "started 2 c", "1 says a", "completed 1", "2 says c", "completed 2",
            ])
    }

    @Test("conditions see the world before any rule acted on the event")
    func snapshot() throws {
        var talk = House.talk(
            .on(.click, id: "louder", do: .set(0, to: .integer(50))),
            .on(.click, id: "quiet", if: [try .that("variables.volume == 30")], do: try .tell("{{ variables.volume }}"))
        )
        #expect(
            talk.click() == [
                "started 1 louder", "started 2 quiet", "keep volume 50", "volume = 50", "completed 1", "2 says 50",
                "completed 2",
            ])
        #expect(
            talk.click().contains(
                "stopped quiet, dropped_conditions: variables.volume == 30 is false (variables.volume = 50)"))
    }

    @Test("conditions are evaluated up to the first that is false, and the reason shows its values")
    func conditions() throws {
        var talk = House.talk(
            .on(
                .click,
                if: [
                    try .that("states.lux < 50"), try .that("states.door == 'closed'"), try .that("1 // 0 == 1"),
                ],
                do: .say("hello")))
        #expect(
            talk.click() == [
                "stopped rule, dropped_conditions: states.door == 'closed' is false (states.door = unknown)"
            ])
        #expect(talk.machine.statistics(of: "rule")?.conditionErrors == 0)
    }

    @Test("a condition that cannot be evaluated is false, gives the failure as reason and is counted")
    func conditionErrors() throws {
        var talk = House.talk(.on(.click, if: [try .that("10 // variables.volume == 1")], do: .say("hello")))
        talk.given(.requested(.setVariable("volume", .integer(0))))
        #expect(
            talk.click() == [
                "stopped rule, dropped_conditions: 10 // variables.volume == 1 is false: R802 division by zero "
                    + "(variables.volume = 0)"
            ])
        #expect(talk.machine.statistics(of: "rule")?.conditionErrors == 1)
        #expect(talk.machine.latestOutcome(of: "rule") == .droppedConditions)
    }

    @Test("an event exactly at the end of a cooldown starts the rule, and an earlier one does not")
    func cooldown() {
        var talk = House.talk(.on(.click, cooldown: .seconds(5), do: .say("hello")))
        #expect(
            talk.click() == [
                "started 1 rule", "keep cooldown of rule until 2026-01-15T12:00:05.000Z", "1 says hello", "completed 1",
            ])
        talk.wait(.milliseconds(4999))
        #expect(talk.click() == ["stopped rule, dropped_cooldown: for another 1ms"])
        talk.wait(.milliseconds(1))
        #expect(talk.click().first == "started 2 rule")
    }

    @Test("a rate limit is a sliding window: each run that leaves it makes room for one")
    func rateLimit() {
        var talk = House.talk(.on(.click, rate: Rule.Rate(count: 2, per: .seconds(10)), do: .say("hello")))
        #expect(talk.click().first == "started 1 rule")
        talk.wait(.seconds(4))
        #expect(talk.click().first == "started 2 rule")
        talk.wait(.milliseconds(5999))
        #expect(talk.click() == ["stopped rule, dropped_rate: 2 of 2 runs in 10s"])
        talk.wait(.milliseconds(1))
        #expect(talk.click().first == "started 3 rule")
        #expect(talk.click().first?.hasPrefix("stopped rule, dropped_rate") == true)
    }

    @Test("with scope: button each button has a cooldown and rate of its own, otherwise all buttons share one")
    func scope() {
        var own = House.talk(.on(.click, of: .any, scope: .button, cooldown: .seconds(5), do: .say("hello")))
        #expect(own.click().first == "started 1 rule")
        #expect(own.click(of: House.hall).first == "started 2 rule")
        #expect(own.click(of: House.hall).first?.hasPrefix("stopped") == true)
        var shared = House.talk(.on(.click, of: .any, cooldown: .seconds(5), do: .say("hello")))
        #expect(shared.click().first == "started 1 rule")
        #expect(shared.click(of: House.hall).first?.hasPrefix("stopped") == true)
    }

    @Test("the gates are checked in order, and the first that refuses gives the outcome")
    func orderOfGates() throws {
        var talk = House.talk(
            .on(
                .click, if: [try .that("states.lux < 50")], queued: .drop, cooldown: .seconds(5),
                rate: Rule.Rate(count: 1, per: .seconds(60)), do: .work))
        #expect(talk.click().first == "started 1 rule")
        #expect(talk.click().first?.contains("dropped_cooldown") == true)
        talk.wait(.seconds(5))
        #expect(talk.click().first?.contains("dropped_rate") == true)
        talk.wait(.seconds(55))
        #expect(talk.click().first?.contains("dropped_busy") == true)
        talk.given(.given(.state("lux", .integer(90))))
        #expect(talk.click().first?.contains("dropped_conditions") == true)
        #expect(talk.click(age: .seconds(1)).first?.contains("dropped_queued") == true)
        talk.given(.requested(.setEnabled(rule: "rule", false)))
        #expect(talk.click(age: .seconds(1)).first?.contains("disabled") == true)
        let counts = try #require(talk.machine.statistics(of: "rule")?.counts)
        for outcome in [Outcome.started, .droppedCooldown, .droppedRate, .droppedBusy, .droppedConditions] {
            #expect(counts[outcome] == 1)
        }
    }

    @Test("a rule with several triggers for one event starts once, with the first trigger")
    func once() throws {
        let rule = Rule(
            id: "rule",
            triggers: [
                Trigger(buttons: [.any], events: [.doubleClick], id: "other"),
                Trigger(buttons: [.declared(1), .declared(0)], events: [.click, .click], id: "first"),
                Trigger(buttons: [.any, .hardware(.address(House.kitchen))], events: [.click], id: "second"),
            ], steps: [try .tell("{{ trigger.id }}")])
        var talk = House.talk(rule)
        #expect(talk.click() == ["started 1 rule", "1 says first", "completed 1"])
        #expect(talk.click(of: House.stranger) == ["started 2 rule", "2 says second", "completed 2"])
    }
}

@Suite("Fallback rules")
struct FallbackTests {
    @Test("a fallback rule runs only if no ordinary rule gets past its conditions")
    func fallback() throws {
        var talk = House.talk(
            .on(.click, of: .any, id: "nothing", fallback: true, do: .say("nothing")),
            .on(.click, id: "dark", if: [try .that("states.lux < 20")], do: .say("dark")))
        #expect(
            talk.click().filter { !$0.hasPrefix("stopped dark") } == [
                "started 1 nothing", "1 says nothing", "completed 1",
            ])
        talk.given(.given(.state("lux", .integer(10))))
        #expect(talk.click() == ["started 2 dark", "2 says dark", "completed 2"])
        #expect(talk.machine.latestOutcome(of: "nothing") == .completed)
    }

    @Test("an ordinary rule that is busy keeps the fallback rule from running")
    func busy() {
        var talk = House.talk(
            .on(.click, of: .any, id: "nothing", fallback: true, do: .say("nothing")),
            .on(.click, id: "slow", do: .work))
        #expect(talk.click() == ["started 1 slow", "1 works"])
        #expect(talk.click() == ["stopped slow, dropped_busy: single: a run is in progress"])
    }

    @Test("a disabled rule does not keep a fallback rule from running")
    func disabled() {
        var talk = House.talk(
            .on(.click, of: .any, id: "nothing", fallback: true, do: .say("nothing")),
            .on(.click, id: "off", isEnabled: false, do: .work))
        #expect(
            talk.click() == ["stopped off, disabled: disabled", "started 1 nothing", "1 says nothing", "completed 1"])
    }

    @Test("a press whose down started an ordinary rule starts no fallback for its click; the next press does")
    func samePress() {
        var talk = House.talk(
            .on(.click, id: "nothing", fallback: true, do: .say("nothing")),
            .on(.down, id: "bell", cooldown: .seconds(5), do: .say("bell")))
        #expect(talk.event(.down, press: 1).first == "started 1 bell")
        #expect(talk.event(.pattern([.short]), press: 1) == [])
        #expect(talk.event(.pattern([.short]), press: 2).first == "started 2 nothing")
        #expect(talk.event(.pattern([.short]), of: House.hall, press: 1) == [])
    }
}

@Suite("The latest presses of a button")
struct RecentPressesTests {
    @Test("a range is contained if any of its presses is, and old presses are forgotten")
    func ranges() {
        var taken = RecentPresses()
        #expect(!taken.contains(1...1))
        taken.insert(3...4)
        #expect(!taken.contains(1...2))
        #expect(taken.contains(1...3))
        #expect(taken.contains(4...9))
        #expect(!taken.contains(5...9))
        taken.insert(67...67)
        #expect(!taken.contains(3...3) && taken.contains(4...4))
        taken.insert(3...3)
        taken.insert(UInt64.max - 70...UInt64.max)
        #expect(taken.contains(0...UInt64.max))
        #expect(!taken.contains(60...70))
        taken.insert(0...UInt64.max)
        #expect(taken.contains(UInt64.max...UInt64.max))
    }

    /// Compares `RecentPresses` with a plain set.
    @Test("RecentPresses agrees with a plain set", arguments: UInt64(0)..<20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var taken = RecentPresses()
        var all: Set<UInt64> = []
        var press: UInt64 = 1
        for _ in 0..<200 {
            press += UInt64.random(in: 0...9, using: &random)
            let presses = press...press + UInt64.random(in: 0...7, using: &random)
            #expect(taken.contains(presses) == !all.isDisjoint(with: presses))
            guard Bool.random(using: &random) else { continue }
            taken.insert(presses)
            all.formUnion(presses)
        }
    }
}
