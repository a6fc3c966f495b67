/// The first component of a name, such as `states` in `states.lux`. The raw value is the name in the language.
package enum Root: String, CaseIterable, Hashable, Sendable {
    case trigger, states, variables, buttons, rules, results, inputs, error, now, sun, broker, `repeat`
}

extension Root {
    /// The path components that follow a root.
    package enum Shape: Hashable, Sendable {
        /// A field, as in `trigger.button`.
        case fields([FieldDescription])
        /// A name declared in the rules file, as in `states.lux`.
        case declared
        /// A declared name and a field, as in `buttons.kitchen.held`.
        case declaredWithFields([FieldDescription])
    }

    package var shape: Shape {
        switch self {
        case .trigger: .fields(TriggerField.descriptions)
        case .states, .variables, .inputs: .declared
        case .buttons: .declaredWithFields(ButtonField.descriptions)
        case .rules: .declaredWithFields(RuleField.descriptions)
        case .results: .declaredWithFields(ResultField.descriptions)
        case .error: .fields(ErrorField.descriptions)
        case .now: .fields(NowField.descriptions)
        case .sun: .fields(SunField.descriptions)
        case .broker: .fields(BrokerField.descriptions)
        case .repeat: .fields(RepeatField.descriptions)
        }
    }

    /// A description in one line, for the reference and for editors.
    package var summary: String {
        switch self {
        case .trigger: "what started the run"
        case .states: "the last value of a declared MQTT topic"
        case .variables: "a declared value that rules read and write"
        case .buttons: "a declared button"
        case .rules: "a rule, by its id"
        case .results: "what an earlier step of this run saved with save_as"
        case .inputs: "what the caller of a script gave it"
        case .error: "the failure that on_error answers"
        case .now: "local time"
        case .sun: "the sun at the location of the rules file"
        case .broker: "the MQTT broker"
        case .repeat: "the repeat this step is in"
        }
    }

    /// A complete example. `NAME` stands for a name that the file declares.
    var example: String {
        switch self {
        case .trigger: "trigger.button"
        case .states: "states.NAME"
        case .variables: "variables.NAME"
        case .buttons: "buttons.NAME.held"
        case .rules: "rules.NAME.enabled"
        case .results: "results.NAME.stdout"
        case .inputs: "inputs.NAME"
        case .error: "error.message"
        case .now: "now.hour"
        case .sun: "sun.is_up"
        case .broker: "broker.connected"
        case .repeat: "repeat.index"
        }
    }

    /// The noun for a declared name of this root, without article.
    var noun: String {
        switch self {
        case .states: "state"
        case .variables: "variable"
        case .buttons: "button"
        case .rules: "rule"
        case .results: "result"
        case .inputs: "input"
        case .trigger, .error, .now, .sun, .broker, .repeat: "field"
        }
    }

    /// The error code for an unknown name of this root.
    var codeOfUnknownName: String {
        switch self {
        case .buttons: "E301"
        case .variables: "E304"
        case .states: "E305"
        case .rules: "E311"
        case .results, .inputs, .trigger, .error, .now, .sun, .broker, .repeat: "E402"
        }
    }
}
