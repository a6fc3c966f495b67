import ButtonModel

/// The kind of a step. The raw value is the key of the step in rule files.
///
/// A new kind of step begins with a case here. Each `switch` over it that the compiler then rejects is a place that has
/// to know the new kind: its facts below, and in `RuleLoader` how it is documented and read.
package enum StepKind: String, CaseIterable, Hashable, Sendable {
    case publish, run, shell, http, delay, wait, set, cycle, `repeat`, `if`, choose, script, enable, disable, log, stop

    /// The time limit of a step without `timeout`; `nil` for a step that is over at once or has limits of its own. Only
    /// steps with a time limit take `timeout` and `retry`.
    package var timeLimit: Duration? {
        switch self {
        case .publish: .seconds(5)
        case .http: .seconds(10)
        case .run, .shell: .seconds(30)
        case .delay, .wait, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .log, .stop: nil
        }
    }

    /// Whether `save_as` can save what the step returned.
    package var hasResult: Bool {
        switch self {
        case .run, .shell, .http: true
        case .publish, .delay, .wait, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .log, .stop:
            false
        }
    }

    /// What the setting `actions.KEY` in `tryck.yaml` permits or forbids; `nil` for a step that is always permitted.
    package var permission: String? {
        switch self {
        case .run: "whether rules may start programs"
        case .shell: "whether rules may use the shell"
        case .http: "whether rules may call web hooks"
        case .publish, .delay, .wait, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .log, .stop: nil
        }
    }
}
