import ButtonModel

/// The kind of a step. The raw value is the key of the step in rule files.
///
/// To add a kind of step, add a case here. The compiler then rejects each `switch` that must handle it: the properties
/// below, and in `RuleLoader` its documentation and its reader.
package enum StepKind: String, CaseIterable, Hashable, Sendable {
    case publish, run, shell, http, delay, wait
    case waitFor = "wait_for"
    case set, cycle, `repeat`, `if`, choose, script, enable, disable, cancel, log, stop

    /// The time limit of a step without `timeout`; `nil` for a step that does not wait or has other limits. Only steps
    /// with a time limit accept `timeout` and `retry`.
    package var timeLimit: Duration? {
        switch self {
        case .publish: .seconds(5)
        case .http: .seconds(10)
        case .run, .shell: .seconds(30)
        case .delay, .wait, .waitFor, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .cancel, .log,
            .stop:
            nil
        }
    }

    /// True if the step has a result that `save_as` can save.
    package var hasResult: Bool {
        switch self {
        case .run, .shell, .http, .waitFor: true
        case .publish, .delay, .wait, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .cancel, .log,
            .stop:
            false
        }
    }

    /// The word before the details of the step's action: `publishes`; `nil` for a step without an action.
    package var verb: String? {
        switch self {
        case .publish: "publishes"
        case .run, .shell: "starts"
        case .http: "requests"
        case .log: "logs"
        case .delay, .wait, .waitFor, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .cancel, .stop:
            nil
        }
    }

    /// A description of what the setting `actions.KEY` in `tryck.yaml` permits or forbids; `nil` for a step that is
    /// always permitted.
    package var permission: String? {
        switch self {
        case .run: "whether rules may start programs"
        case .shell: "whether rules may use the shell"
        case .http: "whether rules may call web hooks"
        case .publish, .delay, .wait, .waitFor, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable,
            .cancel, .log,
            .stop:
            nil
        }
    }
}
