import ButtonModel
import Expressions
import Gestures
import TestSupport

@testable import Rules

/// Makes random rules and inputs from a seed.
enum RandomHouse {
    static func set(_ random: inout SeededGenerator) throws -> RuleSet {
        var rules: [Rule] = []
        for number in 0..<Int.random(in: 1...8, using: &random) { rules.append(try rule("rule_\(number)", &random)) }
        var lux = House.states[0]
        if Bool.random(using: &random) { lux.maximumAge = .seconds(Int.random(in: 1...20, using: &random)) }
        var volume = House.variables[0]
        if Bool.random(using: &random) {
            volume.reset = .time(secondOfDay: 43_200 + Int.random(in: 0..<600, using: &random))
        }
        // It reads the topics of the other states, too.
        let topics = DeclaredState(
            name: "topics", topicName: "#", maximumAge: .seconds(5),
            combination: DeclaredState.Combination.allCases.randomElement(using: &random))
        return House.set(rules, states: [lux, House.states[1], topics], variables: [volume, House.variables[1]])
    }

    static func rule(_ id: String, _ random: inout SeededGenerator) throws -> Rule {
        let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in event(&random) }
        let selectors: [ButtonSelector] = [.any, .declared(0), .declared(1), .declared(2)]
        let mode = Rule.Mode.allCases.randomElement(using: &random) ?? .single
        let conditions = [
            "states.lux < 50", "variables.volume > 20", "buttons.hall.held", "trigger.age < 2s",
            "random(1, 3) > 1", "trigger.interrupted",
        ]
        var rule = Rule(
            id: id,
            triggers: [
                Trigger(buttons: [selectors.randomElement(using: &random) ?? .any], events: events),
                Trigger(origin: .chord([0, 1], within: .milliseconds(300), .down)),
            ],
            steps: try (0..<Int.random(in: 0...3, using: &random)).map { place in
                var step = try step(&random)
                step.path = "actions[\(place)].\(step.action.kind.rawValue)"
                return step
            },
            mode: mode, maximumRuns: mode == .queued || mode == .parallel ? Int.random(in: 1...3, using: &random) : 1)
        if Int.random(in: 0..<3, using: &random) == 0 {
            rule.conditions = [try .that(conditions.randomElement(using: &random) ?? "true")]
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            let times = (0...1).map { _ in TimeOfDay.time(secondOfDay: 43_200 + Int.random(in: 0..<600, using: &random))
            }
            let missed = Duration.seconds([0, 0, 60, 7200].randomElement(using: &random) ?? 0)
            rule.triggers.append(Trigger(origin: .times(TimeTrigger(times, missed: missed))))
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            let to: [Value] = Bool.random(using: &random) ? [.string("open")] : []
            let duration = Duration.seconds([0, 0, 1, 60].randomElement(using: &random) ?? 0)
            rule.triggers.append(Trigger(origin: .states(StateTrigger(["door"], to: to, for: duration))))
            rule.triggers.append(Trigger(origin: .states(try risingLux(for: duration))))
        }
        rule.scope = Bool.random(using: &random) ? .button : .rule
        rule.isFallback = Int.random(in: 0..<5, using: &random) == 0
        rule.isEnabled = Int.random(in: 0..<8, using: &random) != 0
        rule.isDryRun = Int.random(in: 0..<8, using: &random) == 0
        rule.onRestart = Bool.random(using: &random) ? .resume : .drop
        rule.cooldown = Int.random(in: 0..<4, using: &random) == 0 ? .milliseconds(700) : .zero
        rule.rateLimit = Rule.Rate(count: Int.random(in: 1...20, using: &random), per: .seconds(10))
        rule.queued =
            [
                nil, .drop, .accept, .limited(maximumAge: .seconds(2), keepLast: false),
                .limited(maximumAge: .seconds(8), keepLast: true),
            ].randomElement(using: &random) ?? nil
        return rule
    }

    private static func risingLux(for duration: Duration) throws -> StateTrigger {
        var scope = House.scope()
        scope.change = ExpressionType(.integer)
        var trigger = StateTrigger(["lux"], for: duration)
        trigger.toExpressions = [try Expression(compiling: "new > old", in: scope, expecting: .condition)]
        return trigger
    }

    /// A set of rules for presses. In most sets, what each rule does is known before the press is handled.
    static func pressSet(_ random: inout SeededGenerator) throws -> RuleSet {
        var rules: [Rule] = []
        let isKnown = Int.random(in: 0..<4, using: &random) > 0
        for number in 0..<Int.random(in: 1...5, using: &random) {
            rules.append(try pressRule("rule_\(number)", isKnown: isKnown, &random))
        }
        if !isKnown, Bool.random(using: &random) { rules.append(try rule("other", &random)) }
        return House.set(rules)
    }

    private static func pressRule(_ id: String, isKnown: Bool, _ random: inout SeededGenerator) throws -> Rule {
        func chance(_ one: Int, _ random: inout SeededGenerator) -> Bool {
            !isKnown && Int.random(in: 0..<one, using: &random) == 0
        }
        let events: [TriggerEvent] = [.down, .down, .up, .click, .click, .doubleClick, .hold(after: nil), .holdRelease]
        let selectors: [ButtonSelector] = [.any, .declared(0), .declared(1), .declared(2)]
        let mode = Rule.Mode.allCases.randomElement(using: &random) ?? .single
        var rule = Rule(
            id: id,
            triggers: (0..<Int.random(in: 1...2, using: &random)).map { _ in
                Trigger(
                    buttons: [selectors.randomElement(using: &random) ?? .any],
                    events: [events.randomElement(using: &random) ?? .down])
            },
            steps: try (0..<Int.random(in: 1...3, using: &random)).map { place in
                var step = try pressStep(isKnown: isKnown, &random)
                step.path = "actions[\(place)].\(step.action.kind.rawValue)"
                return step
            },
            mode: mode, maximumRuns: mode == .queued || mode == .parallel ? Int.random(in: 1...3, using: &random) : 1)
        if Bool.random(using: &random) {
            let conditions = [
                "states.lux < 50", "variables.volume > 20", "trigger.button == 'kitchen'", "trigger.age < 2s",
                "trigger.event == 'click'", "now.hour < 13", "buttons.hall.held", "random(1, 3) > 1",
            ]
            // The last two read what the press itself changes.
            let usable = conditions.dropLast(isKnown ? 2 : 0)
            rule.conditions = [try .that(usable.randomElement(using: &random) ?? "true")]
        }
        if chance(12, &random) {
            rule.triggers.append(Trigger(origin: .chord([0, 1], within: .milliseconds(300), .down)))
        }
        rule.scope = Bool.random(using: &random) ? .button : .rule
        rule.isFallback = chance(12, &random)
        rule.isEnabled = Int.random(in: 0..<10, using: &random) > 0
        rule.isDryRun = chance(12, &random)
        rule.onRestart = chance(8, &random) ? .resume : .drop
        rule.cooldown = chance(10, &random) ? .milliseconds(700) : .zero
        rule.rateLimit = Rule.Rate(count: Int.random(in: 1...20, using: &random), per: .seconds(10))
        return rule
    }

    private static func pressStep(isKnown: Bool, _ random: inout SeededGenerator) throws -> Step {
        func publish(_ topic: String, _ payload: String = "x", qos: Int = 0) throws -> Step {
            let texts = try [topic, payload].map { try Template(compiling: $0, in: House.scope()) }
            return Step(.publish(PublishStep(topicName: texts[0], payload: .text(texts[1]), qos: qos)))
        }
        func program(_ variable: String) throws -> Step {
            let arguments = ["/bin/sh", "-c", "work", "sh"].map { Template(literal: $0) }
            let value = try Template(compiling: variable, in: House.scope())
            let step = ProcessStep(
                arguments: arguments, environment: [.init("LEVEL", value)], directory: "/tmp",
                standardInput: Template(literal: "x"), isShell: true)
            return Step(.process(step), timeout: .seconds(30))
        }
        return switch Int.random(in: 0..<(isKnown ? 10 : 13), using: &random) {
        case 0..<4: try publish("lamp")
        case 4: try publish("lamp", qos: Int.random(in: 1...2, using: &random))
        case 5: try publish("{{ trigger.button }}", "{{ states.lux }} {{ variables.volume }} {{ now.minute }}")
        // It fails while the volume is 0.
        case 6: try publish("lamp", "{{ 100 / variables.volume }}")
        case 7, 8: .work
        case 9: try program(["high", "{{ states.lux }}", "{{ trigger.event }}"].randomElement(using: &random) ?? "")
        case 10: .say("pressed")
        case 11: .set(0, to: .integer(Int64.random(in: 0...100, using: &random)))
        default: try step(&random)
        }
    }

    private static func event(_ random: inout SeededGenerator) -> TriggerEvent {
        let events: [TriggerEvent] = [
            .down, .up, .click, .doubleClick, .pattern([.short, .long]), .hold(after: nil), .hold(after: .seconds(2)),
            .holdRelease, .rotate(.clockwise, collect: .milliseconds(100)),
            .rotate(.counterClockwise, collect: .milliseconds(100)), .swipe(.left), .connected, .disconnected,
            .batteryLow,
        ]
        return events.randomElement(using: &random) ?? .click
    }

    private static func step(_ random: inout SeededGenerator) throws -> Step {
        switch Int.random(in: 0..<11, using: &random) {
        case 0: try .tell("{{ random(1, 1000) }}")
        case 1...2: .work
        case 3: .pause("2s")
        case 4:
            try .wait(
                until: "states.door == 'open'",
                otherwise: [nil, [.say("closed")], [.pause("2s"), .work]].randomElement(using: &random) ?? nil)
        case 5: .set(0, to: .integer(Int64.random(in: 0...100, using: &random)))
        case 6: .repeatWhileHeld(.say("dim"))
        case 9:
            Step(
                .waitFor(
                    WaitForStep(
                        [
                            Trigger(
                                buttons: [[.any, .declared(0), .declared(1)].randomElement(using: &random) ?? .any],
                                events: [event(&random)]),
                            Trigger(origin: .chord([0, 1], within: .milliseconds(300), .down)),
                            Trigger(
                                origin: .times(
                                    TimeTrigger([
                                        .time(secondOfDay: 43_200 + Int.random(in: 0..<600, using: &random))
                                    ]))),
                            Trigger(
                                origin: .states(
                                    StateTrigger(
                                        [["door"], ["door", "lux"]].randomElement(using: &random) ?? [],
                                        for: .seconds([0, 0, 1, 4].randomElement(using: &random) ?? 0)))),
                        ].shuffled(using: &random).suffix(Int.random(in: 1...4, using: &random)),
                        timeout: .seconds([3, 3, 90].randomElement(using: &random) ?? 3),
                        claims: Bool.random(using: &random),
                        then: [[], [.say("pressed")], [.pause("1s"), .work]].randomElement(using: &random) ?? [],
                        otherwise: [[], [.work]].randomElement(using: &random) ?? [])))
        case 7: Step(.enable([0], Bool.random(using: &random)))
        case 10: Step(.cancel([0]))
        default: Step(.cycle([[.say("one")], [.work]], resetAfter: nil))
        }
    }

    static func recognised(_ random: inout SeededGenerator, at now: Instant) -> RecognisedEvent {
        let whats: [RecognisedEvent.Kind] = [
            .down, .up, .pattern([.short]), .pattern([.short, .short]), .pattern([.short, .long]), .pattern([]),
            .hold(after: .seconds(1)), .hold(after: .seconds(2)), .holdRelease, .chord(0), .chord(-1), .chord(99),
            .swipe(.left), .rotation(steps: 3, collect: .milliseconds(100)),
            .rotation(steps: .min, collect: .milliseconds(100)), .rotation(steps: 0, collect: .zero),
        ]
        let wasQueued = Int.random(in: 0..<3, using: &random) == 0
        let age = Duration.milliseconds(wasQueued ? Int.random(in: 0...9000, using: &random) : 0)
        let press = UInt64.random(in: 0...20, using: &random)
        return RecognisedEvent(
            button: [House.kitchen, House.hall, House.desk, House.stranger].randomElement(using: &random)
                ?? House.kitchen, part: Bool.random(using: &random) ? nil : .dial,
            kind: whats.randomElement(using: &random) ?? .down, presses: press...press + 1, wasQueued: wasQueued,
            wasQueuedLast: wasQueued && Bool.random(using: &random), age: age, at: now - age)
    }
}
