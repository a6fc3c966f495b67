package import ButtonModel
package import JSON
package import Rules

// Recording the inputs of a hub, and replaying them.
extension Hub {
    /// Begins a recording, and returns its first line. The hub must not have handled any input yet.
    ///
    /// From then on, `recordedLine` must be called after each `handle`.
    ///
    /// - Parameter secrets: texts to redact, besides those that are redacted in all output.
    package mutating func beginRecording(
        _ header: RecordingHeader, hiding secrets: Set<String> = [], at now: Instant
    ) -> JSONValue {
        buttonSource.record()
        findsEarlyEffects = false
        let redaction = redaction.hiding(secrets)
        recording = OngoingRecording(start: now, redaction: redaction)
        return header.json(hiding: redaction)
    }

    /// Redacts these texts, too, in all following lines of the recording.
    mutating func recordingHides(_ secrets: Set<String>) {
        guard let redaction = recording?.redaction.hiding(secrets) else { return }
        recording?.redaction = redaction
    }

    package mutating func endRecording() {
        buttonSource.endRecording()
        findsEarlyEffects = true
        recording = nil
    }

    /// The line for the latest input of `handle`; `nil` for a packet or entropy without reports, which only the radio
    /// uses.
    package mutating func recordedLine(_ input: Input, at now: Instant) -> JSONValue? {
        guard let recording else { return nil }
        var recorded = RecordedInput(
            at: Instant(sinceBoot: now - recording.start), input: input, reports: buttonSource.takeReports())
        let isForRadio: Bool
        switch input {
        // In a replay, `goOn` follows its input by itself.
        case .received, .bus, .entropy, .goOn:
            recorded.input = .received([])
            isForRadio = true
        case .start, .wallClock, .transportOpened, .busOpened, .transportClosed, .source, .brokerAddress,
            .brokerConnected,
            .brokerDisconnected, .brokerSentMalformedPacket, .published, .publishFailed, .messageReceived,
            .messageDropped, .subscriptionRefused, .processEnded, .webAnswered, .rulesLoaded, .reloadRules, .logLevel,
            .firmwareFiles, .firmwareRead, .recordFailed, .reserveFault, .ringFault, .synced, .controlLine, .clientGone,
            .flicd, .timerFired, .stop:
            isForRadio = false
        }
        let line = recorded.json(hiding: recording.redaction)
        guard !isForRadio || line["reports"] != nil else { return nil }
        return line
    }

    /// Creates a hub for `replay`, without a radio unless the recording begins at the radio.
    ///
    /// - Parameter rules: the loaded rules of the header.
    package init(replaying header: RecordingHeader, rules: RuleSet) {
        self.init(header.configuration, stored: header.stored, rules: rules)
        findsEarlyEffects = false
        if !header.beginsAtRadio { buttonSource.followRecording() }
    }

    /// Handles a line of a recording.
    package mutating func replay(_ recorded: RecordedInput) -> [Effect] {
        guard buttonSource.followsRecording else { return handleCompletely(recorded.input, at: recorded.at) }
        buttonSource.replay(recorded.reports)
        // Deadlines of the `ButtonManager` are not recorded. Reports of a `timerFired` mean that its deadline has
        // passed.
        if recorded.input == .timerFired, !recorded.reports.isEmpty { setTimer(.buttons, at: recorded.at) }
        var effects = handleCompletely(recorded.input, at: recorded.at)
        // The recorded hub may have asked for reports for which this version does not ask. They are delivered
        // nevertheless.
        while buttonSource.hasReports {
            effects += handleCompletely(.received([]), at: recorded.at)
            buttonSource.dropKnown()
        }
        return effects
    }
}

/// The state of a recording in progress.
struct OngoingRecording: Sendable {
    let start: Instant
    var redaction: Redaction
}
