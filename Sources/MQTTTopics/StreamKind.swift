package import JSON

/// The kind of a line of the live stream, which the daemon, the commands and the page share. It is the member `kind` of
/// a line.
///
/// An answer to a request has no `kind`. The other members of a line are in `Occurrence` (module Hub).
package enum StreamKind: String, CaseIterable, Sendable {
    /// The state of an adapter has changed.
    case adapter
    /// The adapter lacks links for buttons, or has enough again.
    case linkShortage = "space"
    /// The connection to the broker was made or lost.
    case broker
    /// A message was published.
    case publish
    /// The connection to a flicd was made or lost.
    case source
    /// The state of a button's link, or that the button was unpaired or removed.
    case button
    /// A button's link has ended, with the reason.
    case disconnected
    /// A session with a button has failed.
    case sessionFailed = "session_failed"
    /// All that is known of a button, after a part of it has changed.
    case changed
    /// A press, a gesture or another event of a button.
    case event
    /// A step of the search for new buttons, or of a pairing.
    case pairing
    /// The progress of a firmware update.
    case firmware
    /// A run has started or ended, one of its steps has failed, or a gate has stopped a rule.
    case rule
    /// A variable has a new value.
    case variable
    /// A `log` step of a rule.
    case ruleLog = "log"
    /// A message of a state that cannot be converted to the type of the state.
    case stateFault = "state_fault"
    /// A program of a rule has ended.
    case process
    /// A web request of a rule was answered or has failed.
    case http
    /// The rule files were loaded, or have errors.
    case rules

    /// True for presses and for what rules do because of them.
    package var isCausedByRulesOrPresses: Bool {
        switch self {
        case .event, .rule, .publish, .process, .http, .variable, .ruleLog: true
        case .adapter, .linkShortage, .broker, .source, .button, .disconnected, .sessionFailed, .changed, .pairing,
            .firmware, .stateFault, .rules:
            false
        }
    }

    /// True for the end of a job of a rule, for which the run may have waited.
    package var isEndOfJob: Bool {
        switch self {
        case .process, .http: true
        case .adapter, .linkShortage, .broker, .publish, .source, .button, .disconnected, .sessionFailed, .changed,
            .event, .pairing, .firmware, .rule, .variable, .ruleLog, .stateFault, .rules:
            false
        }
    }

    /// The kind of a line. `nil` for an answer to a request, and for a kind that only a newer daemon knows.
    package init?(_ line: JSONValue) {
        guard let kind = line["kind"]?.stringValue else { return nil }
        self.init(rawValue: kind)
    }
}
