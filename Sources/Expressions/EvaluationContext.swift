package import ButtonModel

/// The values that one evaluation may read: a snapshot, which later changes do not affect.
///
/// Arrays are indexed by the slots of the `Scope` with which the expression was compiled. A slot beyond the end of its
/// array is unknown.
package struct EvaluationContext: Hashable, Sendable {
    package var trigger = TriggerFacts()
    package var states: [Value] = []
    package var variables: [Value] = []
    package var buttons: [ButtonFacts] = []
    package var rules: [RuleFacts] = []
    package var results: [ResultFacts?] = []
    package var inputs: [Value] = []
    package var error = ErrorFacts()
    package var now = LocalTime()
    /// False if the wall clock shows an implausible time; `in_time` is then false.
    package var clockIsPlausible = true
    package var sun = SunFacts()
    package var brokerIsConnected = false
    package var repetition = RepeatFacts()
    /// The values of a state before and after the change that a trigger is compared with.
    package var old = Value.unknown
    package var new = Value.unknown
    /// The numbers of the function `random`. Unlike the values above, an evaluation changes them.
    package var draws = RandomDraws()

    package init() {}
}

/// The event that started a run. Facts that do not apply are empty, zero or false.
@dynamicMemberLookup
package struct TriggerFacts: Hashable, Sendable {
    package var id = ""
    package var button = ""
    package var uuid = ""
    package var serial = ""
    package var address = ""
    package var nickname = ""
    package var event = ""
    package var press = PressFacts()
    package var clicks: Int64 = 0
    package var steps: Int64 = 0
    /// When the button was pressed, in RFC 3339 with the offset of the time zone.
    package var at = ""
    package var isManual = false
    /// True if the run took the place of another run of its rule (`mode: restart`).
    package var isInterrupting = false
    /// `nil` if it is an event of a button, or if the rule was run by hand.
    package var occasion: Occasion?

    package init() {}

    /// The value of `trigger.kind`.
    package var kind: String { occasion?.kind ?? (isManual ? "" : "button") }

    @inlinable
    package subscript<Value>(dynamicMember path: WritableKeyPath<PressFacts, Value>) -> Value {
        get { press[keyPath: path] }
        set { press[keyPath: path] = newValue }
    }
}

/// The cause of a run that no event of a button has started. It is stored apart, so that the facts of a press stay
/// small.
package indirect enum Occasion: Hashable, Sendable {
    /// - Parameter late: how late it is, if the program had missed the time.
    case time(late: Duration)
    /// The texts of the old and the new value. The old one is empty if the program did not know it.
    case state(name: String, old: String, new: String)

    fileprivate static let timeKind = "time"
    fileprivate static let stateKind = "state"

    fileprivate var kind: String {
        switch self {
        case .time: Occasion.timeKind
        case .state: Occasion.stateKind
        }
    }

    fileprivate var late: Duration {
        switch self {
        case .time(let late): late
        case .state: .zero
        }
    }

    fileprivate var state: (name: String, old: String, new: String) {
        switch self {
        case .time: ("", "", "")
        case .state(let name, let old, let new): (name, old, new)
        }
    }
}

/// The state of a declared button, which expressions read as `buttons.NAME`.
package struct ButtonFacts: Hashable, Sendable {
    package var isConnected = false
    package var isHeld = false
    /// The battery level in percent; `nil` if unknown.
    package var battery: Int64?
    package var lastEvent = ""
    package var lastEventAge: Duration?

    package init() {}
}

/// The state of a rule, which expressions read as `rules.ID`.
package struct RuleFacts: Hashable, Sendable {
    package var isEnabled = true
    package var running: Int64 = 0
    package var lastRunAge: Duration?
    package var lastResult = ""

    package init() {}
}

/// The result of an earlier step, which expressions read as `results.NAME`.
package struct ResultFacts: Hashable, Sendable {
    package var isOK = false
    package var status: Int64 = 0
    package var stdout = ""
    package var stderr = ""
    package var body = ""
    package var duration = Duration.zero
    /// For `wait_for`: whether the event happened, its name, the button, and the id of the trigger.
    package var happened = false
    package var event = ""
    package var button = ""
    package var triggerID = ""

    package init() {}
}

/// The failure that `on_error` handles, which expressions read as `error`.
package struct ErrorFacts: Hashable, Sendable {
    package var code = ""
    package var message = ""
    package var step = ""

    package init() {}
}

/// The running iteration of a repeat step, which expressions read as `repeat`.
package struct RepeatFacts: Hashable, Sendable {
    package var index: Int64 = 0
    package var elapsed = Duration.zero

    package init() {}
}

extension EvaluationContext {
    package func value(of slot: ValueReference) -> Value {
        switch slot {
        case .trigger(let field): trigger.value(of: field)
        case .state(let index): states.indices.contains(index) ? states[index] : .unknown
        case .variable(let index): variables.indices.contains(index) ? variables[index] : .unknown
        case .input(let index): inputs.indices.contains(index) ? inputs[index] : .unknown
        case .button(let index, let field):
            buttons.indices.contains(index) ? buttons[index].value(of: field) : .unknown
        case .rule(let index, let field): rules.indices.contains(index) ? rules[index].value(of: field) : .unknown
        case .result(let index, let field):
            results.indices.contains(index) ? results[index]?.value(of: field) ?? .unknown : .unknown
        case .error(let field): error.value(of: field)
        case .now(let field): now.value(of: field)
        case .sun(let field): sun.value(of: field)
        case .broker(.connected): .boolean(brokerIsConnected)
        case .repeat(.index): .integer(repetition.index)
        case .repeat(.elapsed): Value(repetition.elapsed)
        case .change(.old): old
        case .change(.new): new
        }
    }
}

extension TriggerFacts {
    package func value(of field: TriggerField) -> Value {
        switch field {
        case .id: .string(id)
        case .button: .string(button)
        case .uuid: .string(uuid)
        case .serial: .string(serial)
        case .address: .string(address)
        case .nickname: .string(nickname)
        case .event: .string(event)
        case .part: .string(press.part?.rawValue ?? "")
        case .clicks: .integer(clicks)
        case .steps: .integer(steps)
        case .position: .integer(Int64(press.position))
        case .slot: .integer(Int64(press.slot))
        case .heldFor: Value(press.heldFor)
        case .queued: .boolean(press.wasQueued)
        case .age: Value(press.age)
        case .at: .string(at)
        case .manual: .boolean(isManual)
        case .interrupted: .boolean(isInterrupting)
        case .kind: .string(kind)
        case .late: Value(occasion?.late ?? .zero)
        case .state: .string(occasion?.state.name ?? "")
        case .old: .string(occasion?.state.old ?? "")
        case .new: .string(occasion?.state.new ?? "")
        }
    }

    /// Sets a field to a value that `value(of:)` returned; the reverse of it. A value of another type changes nothing.
    package mutating func set(_ field: TriggerField, to value: Value) {
        switch field {
        case .id: id = value.stringValue ?? id
        case .button: button = value.stringValue ?? button
        case .uuid: uuid = value.stringValue ?? uuid
        case .serial: serial = value.stringValue ?? serial
        case .address: address = value.stringValue ?? address
        case .nickname: nickname = value.stringValue ?? nickname
        case .event: event = value.stringValue ?? event
        case .part: press.part = value.stringValue.flatMap(ButtonPart.init(rawValue:))
        case .clicks: clicks = value.integerValue ?? clicks
        case .steps: steps = value.integerValue ?? steps
        case .position: press.position = value.integerValue.map { Int(clamping: $0) } ?? press.position
        case .slot: press.slot = value.integerValue.map { Int(clamping: $0) } ?? press.slot
        case .heldFor: press.heldFor = value.durationValue ?? press.heldFor
        case .queued: press.wasQueued = value.booleanValue ?? press.wasQueued
        case .age: press.age = value.durationValue ?? press.age
        case .at: at = value.stringValue ?? at
        case .manual: isManual = value.booleanValue ?? isManual
        case .interrupted: isInterrupting = value.booleanValue ?? isInterrupting
        case .kind:
            occasion =
                switch value.stringValue {
                case Occasion.timeKind: .time(late: .zero)
                case Occasion.stateKind: .state(name: "", old: "", new: "")
                default: nil
                }
        case .late: if case .time = occasion, let late = value.durationValue { occasion = .time(late: late) }
        case .state, .old, .new:
            guard case .state(var name, var old, var new) = occasion, let text = value.stringValue else { break }
            if field == .state { name = text } else if field == .old { old = text } else { new = text }
            occasion = .state(name: name, old: old, new: new)
        }
    }
}

extension ButtonFacts {
    fileprivate func value(of field: ButtonField) -> Value {
        switch field {
        case .connected: .boolean(isConnected)
        case .held: .boolean(isHeld)
        case .battery: battery.map(Value.integer) ?? .unknown
        case .lastEvent: .string(lastEvent)
        case .lastEventAge: lastEventAge.map { Value($0) } ?? .unknown
        }
    }
}

extension RuleFacts {
    fileprivate func value(of field: RuleField) -> Value {
        switch field {
        case .enabled: .boolean(isEnabled)
        case .running: .integer(running)
        case .lastRunAge: lastRunAge.map { Value($0) } ?? .unknown
        case .lastResult: .string(lastResult)
        }
    }
}

extension ResultFacts {
    fileprivate func value(of field: ResultField) -> Value {
        switch field {
        case .ok: .boolean(isOK)
        case .status: .integer(status)
        case .stdout: .string(stdout)
        case .stderr: .string(stderr)
        case .body: .string(body)
        case .duration: Value(duration)
        case .happened: .boolean(happened)
        case .event: .string(event)
        case .button: .string(button)
        case .id: .string(triggerID)
        }
    }
}

extension ErrorFacts {
    fileprivate func value(of field: ErrorField) -> Value {
        switch field {
        case .code: .string(code)
        case .message: .string(message)
        case .step: .string(step)
        }
    }
}
