package import ButtonModel
package import JSON
package import Rules

// A session written down, and run again.
extension Hub {
    /// The recording of a hub that was given no input yet begins: its first line.
    ///
    /// From then on `recordedLine` has to be asked after each `handle`.
    ///
    /// - Parameter secrets: what the recording must not have, besides what must not be shown anyway.
    package mutating func beginRecording(
        _ header: RecordingHeader, hiding secrets: Set<String> = [], at now: Instant
    ) -> JSONValue {
        buttonSource.record()
        let redaction = redaction.hiding(secrets)
        recording = OngoingRecording(start: now, redaction: redaction)
        return header.json(hiding: redaction)
    }

    package mutating func endRecording() {
        buttonSource.endRecording()
        recording = nil
    }

    /// The recording's line for the input that `handle` was given last; `nil` when the radio alone had any use for it.
    package mutating func recordedLine(_ input: Input, at now: Instant) -> JSONValue? {
        guard let recording else { return nil }
        var recorded = RecordedInput(
            at: Instant(sinceBoot: now - recording.start), input: input, reports: buttonSource.takeReports())
        let isForRadio: Bool
        switch input {
        case .received, .entropy:
            recorded.input = .received([])
            isForRadio = true
        default: isForRadio = false
        }
        let line = recorded.json(hiding: recording.redaction)
        guard !isForRadio || line["reports"] != nil else { return nil }
        return line
    }

    /// A hub for `replay`, without a radio unless the recording begins there.
    ///
    /// - Parameter rules: the recorded ones, loaded.
    package init(replaying header: RecordingHeader, rules: RuleSet) {
        self.init(header.configuration, stored: header.stored, rules: rules)
        if !header.beginsAtRadio { buttonSource.followRecording() }
    }

    /// `handle`, for a line of a recording.
    package mutating func replay(_ recorded: RecordedInput) -> [Effect] {
        guard buttonSource.followsRecording else { return handle(recorded.input, at: recorded.at) }
        buttonSource.replay(recorded.reports)
        // The radio's own deadlines are not in a recording.
        if recorded.input == .timerFired, !recorded.reports.isEmpty { deadlines.set(.buttons, at: recorded.at) }
        var effects = handle(recorded.input, at: recorded.at)
        // The machine may have changed since: what it does not ask for any more was said all the same.
        while buttonSource.hasReports {
            effects += handle(.received([]), at: recorded.at)
            buttonSource.dropKnown()
        }
        return effects
    }
}

/// What a hub that is recorded knows of that.
struct OngoingRecording: Sendable {
    let start: Instant
    var redaction: Redaction
}
