import Almanac
import ButtonModel
import Expressions
import Gestures
import TestSupport

@testable import Rules

extension RuleEngine: StateMachine {}

/// A rule set with three declared buttons, the identity of a fourth one, and short ways to write its rules.
///
/// States: `lux`, 30 at the start, and `door`, not known yet. Variables: `volume`, 30, from 0 to 100, and `scene`,
/// `day` or `night`.
enum House {
    /// Thursday, 2026-01-15 12:00:00 UTC
    static let noon = UTCTime(milliseconds: 1_768_478_400_000)

    static let kitchen = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    static let hall = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))
    static let desk = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0003))
    static let stranger = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0009))

    static let identities = [kitchen, hall, desk, stranger].map { id in
        let digit = String(id.rawValue & 15)
        return ButtonIdentity(
            address: BluetoothAddress(rawValue: id.rawValue), uuid: String(repeating: digit, count: 32),
            serial: "BA00-A0000\(digit)", nickname: "Button \(digit)", firmwareVersion: 10)
    }

    static let buttons = [
        DeclaredButton(name: "kitchen", hardware: .address(kitchen)),
        DeclaredButton(name: "hall", hardware: .serial("BA00-A00002")),
        DeclaredButton(name: "desk", hardware: .uuid(String(repeating: "3", count: 32)), model: .twist),
    ]
    static let states = [
        DeclaredState(name: "lux", topicName: "sensor", pointer: "/lux", type: .integer, defaultValue: .integer(30)),
        DeclaredState(name: "door", topicName: "door"),
    ]
    static let variables = [
        DeclaredVariable(name: "volume", type: .integer, initial: .integer(30), minimum: 0, maximum: 100),
        DeclaredVariable(
            name: "scene", type: .string, initial: .string("day"), values: [.string("day"), .string("night")]),
    ]

    /// A rule set of these rules, with the buttons, states and variables of the house unless given.
    static func set(
        _ rules: [Rule], buttons: [DeclaredButton] = buttons, states: [DeclaredState] = states,
        variables: [DeclaredVariable] = variables, queued: QueuedPolicy = .standard
    ) -> RuleSet {
        RuleSet(buttons: buttons, states: states, variables: variables, rules: rules, queued: queued)
    }

    /// An engine of these rules that knows the house's buttons and the time.
    static func talk(_ rules: Rule..., given state: RuleState = RuleState()) -> Transcript<RuleEngine> {
        talk(set(rules), given: state)
    }

    static func talk(_ set: RuleSet, given state: RuleState = RuleState(), at time: UTCTime = noon)
        -> Transcript<RuleEngine>
    {
        var talk = Transcript(RuleEngine(set, state: state))
        talk.given(.buttonsChanged(identities))
        talk.given(.wallClock(time, isBelievable: true))
        return talk
    }

    /// The scope of expressions with these states and variables; `rules` are in the order of their indices.
    static func scope(rules: [String] = []) -> Scope {
        var scope = Scope()
        scope.absent = [:]
        for (place, state) in states.enumerated() {
            let type = ExpressionType(.scalar(state.type), isOptional: state.defaultValue == nil)
            scope.states[state.name] = Scope.Declared(slot: place, type: type)
        }
        for (place, variable) in variables.enumerated() {
            scope.variables[variable.name] = Scope.Declared(slot: place, type: ExpressionType(variable.type))
        }
        for (place, button) in buttons.enumerated() { scope.buttons[button.name] = place }
        for (place, rule) in rules.enumerated() { scope.rules[rule] = place }
        return scope
    }

    static func expression(_ text: String, rules: [String] = []) throws -> Expression {
        try Expression(compiling: text, in: scope(rules: rules), expecting: .condition)
    }
}

extension Condition {
    static func that(_ text: String, rules: [String] = []) throws -> Condition {
        Condition(.expression(try House.expression(text, rules: rules)), text: text)
    }
}

// MARK: - Rules and steps

extension Rule {
    /// A rule for the kitchen's button, unless another is given.
    static func on(
        _ events: TriggerEvent..., of button: ButtonSelector = .declared(0), id: String = "rule",
        if conditions: [Condition] = [], mode: Mode = .single, max: Int = 1, scope: LimitScope = .rule,
        queued: QueuedPolicy? = nil, cooldown: Duration = .zero, rate: Rate = .standard, fallback: Bool = false,
        onRestart: AfterRestart = .drop, isDryRun: Bool = false, isEnabled: Bool = true, do steps: Step...
    ) -> Rule {
        Rule(
            id: id, isEnabled: isEnabled, triggers: [Trigger(buttons: [button], events: events)],
            conditions: conditions, steps: steps.placed, mode: mode, maximumRuns: max, scope: scope, queued: queued,
            cooldown: cooldown, rateLimit: rate, isFallback: fallback, onRestart: onRestart, isDryRun: isDryRun)
    }
}

extension [Step] {
    fileprivate var placed: [Step] {
        enumerated().map { place, step in
            var step = step
            step.path = "actions[\(place)].\(step.action.kind.rawValue)"
            return step
        }
    }
}

extension Step {
    /// A step that is over at once.
    static func say(_ text: String) -> Step { Step(.log(.info, Template(literal: text))) }

    static func tell(_ template: String, rules: [String] = []) throws -> Step {
        Step(.log(.info, try Template(compiling: template, in: House.scope(rules: rules))))
    }

    /// A step that is over when it is answered.
    static let work = Step(
        .process(ProcessStep(arguments: [Template(literal: "/bin/work")])), timeout: .seconds(30))

    static func pause(_ duration: String) -> Step { Step(.delay(Template(literal: duration))) }

    static func wait(until text: String, rules: [String] = [], otherwise: [Step]? = nil) throws -> Step {
        Step(.wait(until: try House.expression(text, rules: rules), timeout: .seconds(60), otherwise: otherwise))
    }

    static func set(_ variable: Int, to value: Value) -> Step {
        Step(.set([Assignment(variable: variable, value: .value(value))]))
    }

    static func repeatWhileHeld(_ steps: Step...) -> Step {
        Step(.repeat(RepeatStep(extent: .whileHeld, every: .milliseconds(200), steps: steps)))
    }
}

// MARK: - Events

extension RuleEngine.Input {
    /// - Parameter age: `nil` for a live event.
    static func event(
        _ what: RecognisedEvent.Kind, of button: ButtonID = House.kitchen, part: ButtonPart? = nil,
        press: UInt64? = nil, age: Duration? = nil, isLast: Bool = false, slot: Int = 0, at now: Instant
    ) -> RuleEngine.Input {
        .given(
            .recognised(
                RecognisedEvent(
                    button: button, part: part, kind: what, presses: press.map { $0...$0 }, wasQueued: age != nil,
                    wasQueuedLast: isLast, age: age ?? .zero, at: now - (age ?? .zero), slot: slot)))
    }
}

extension Transcript<RuleEngine> {
    /// Gives the engine an event and returns its effects in words.
    mutating func event(
        _ what: RecognisedEvent.Kind, of button: ButtonID = House.kitchen, part: ButtonPart? = nil,
        press: UInt64? = nil, age: Duration? = nil, isLast: Bool = false
    ) -> [String] {
        tell(.event(what, of: button, part: part, press: press, age: age, isLast: isLast, at: now))
    }

    mutating func click(of button: ButtonID = House.kitchen, age: Duration? = nil, isLast: Bool = false) -> [String] {
        event(.pattern([.short]), of: button, age: age, isLast: isLast)
    }

    /// Gives the engine an input and returns its effects in words, without recognised events and timers.
    mutating func tell(_ input: RuleEngine.Input) -> [String] { given(input).compactMap(\.words) }

    /// Ends the step of that run and returns the effects in words.
    mutating func done(_ run: UInt64, step: Int = 0, _ outcome: ActionResult = .completed(nil)) -> [String] {
        tell(.actionFinished(ActionID(run: RunID(rawValue: run), index: step), outcome))
    }

    /// Lets time pass, fires each timer at its deadline, and returns the effects in words.
    mutating func pass(_ duration: Duration) -> [String] {
        let end = now + duration
        var words: [String] = []
        while let timer = machine.timer.armed, timer <= end {
            wait(Swift.max(.zero, timer - now))
            words += tell(.timerFired)
        }
        wait(end - now)
        return words
    }
}

extension RuleEngine.Effect {
    /// The effect in words: `started 1 lamp`, `2 says hello`, `stopped lamp, dropped_busy: single: a run is in progress`.
    var words: String? {
        switch self {
        case .recognised, .setTimer, .cancelTimer: nil
        case .started(let run, let rule, _): "started \(run.rawValue) \(rule)"
        case .stopped(let rule, let gate, _, let reason): "stopped \(rule), \(gate.rawValue): \(reason)"
        case .perform(let step, let action, _, _): "\(step.run.rawValue) \(action.words)"
        case .cancel(let step): "cancel \(step.run.rawValue)"
        case .stepFailed(let run, _, let step, _, let code, let message, _):
            "\(run.rawValue) failed in \(step): \(code) \(message)"
        case .finished(let run, _, let result): "\(result.rawValue) \(run.rawValue)"
        case .interrupted(let run, let rule, _): "interrupted \(run.rawValue) \(rule)"
        case .store(let change): "keep " + change.words
        case .variableChanged(let name, let value, _, _): "\(name) = \(value.shown)"
        case .enabledChanged(let rule, let isEnabled): "\(rule) \(isEnabled ? "enabled" : "disabled")"
        case .triggerModeDropped(let button): "mode of \(button) dropped"
        case .subscribe(let topics): "subscribe " + topics.joined(separator: " ")
        case .unsubscribe(let topics): "unsubscribe " + topics.joined(separator: " ")
        case .timesMissed(let times): "info: \(times.sentence)"
        case .log(let level, let text): "\(level.rawValue): \(text)"
        case .oversizedState(let topicName, let count): "oversized \(topicName) \(count)"
        case .stateFault(let fault): "\(fault.state): R830 \(fault.message)"
        }
    }
}

extension Action {
    fileprivate var words: String {
        switch self {
        case .log(_, let text): "says \(text)"
        case .external(.process): "works"
        case .message(.publish(let message)): "publishes \(message.topicName)"
        case .external(.http(let request)): "asks \(request.url)"
        }
    }
}

extension RuleStateChange {
    fileprivate var words: String {
        switch self {
        case .variable(let name, let value): "\(name) \(value?.shown ?? "nothing")"
        case .cycle(let key, let position): "\(key) \(position.map { String($0.next) } ?? "nothing")"
        case .enabled(let rule, let override):
            "\(rule) \(override.map { $0.isEnabled ? "enabled" : "disabled" } ?? "as in the file")"
        case .daily(let key, let time): "reset of \(key) at \(time?.description ?? "no time")"
        case .cooldown(let cooldown): "cooldown of \(cooldown.rule) until \(cooldown.endsAt)"
        case .waiting(let run, let waiting):
            "wait of \(run.rawValue) \(waiting.map { "until \($0.endsAt)" } ?? "nothing")"
        case .kept(let rule, _, let event): "\(event?.cause.facts.event ?? "nothing") for \(rule)"
        }
    }
}
