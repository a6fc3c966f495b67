package import ButtonModel
import Feed
import Gestures
package import JSON
package import Rules

// Recording the inputs of a hub, and replaying them.
extension Hub {
    /// Begins a recording, and returns its first line. The hub must not have handled any input yet.
    ///
    /// From then on, `recordedLine` must be called after each `handle`.
    ///
    /// - Parameters:
    ///   - secrets: texts to redact, besides those that are redacted in all output.
    ///   - isExact: true if a replay has to divide the effects into the same inputs. The actions of a press then take longer.
    package mutating func beginRecording(
        _ header: RecordingHeader, hiding secrets: Set<String> = [], isExact: Bool = true, at now: Instant
    ) -> JSONValue {
        buttonSource.record()
        findsEarlyEffects = !isExact
        let redaction = Redaction([]).hiding(configuration.refusedValues).hiding(rules.set.confidentialValues)
            .hiding(secrets)
        recording = OngoingRecording(start: now, redaction: redaction)
        return recordedHeader(header) ?? .null
    }

    /// Redacts these values of rules, too, in all following lines of the recording.
    mutating func recordingHides(_ confidential: ConfidentialValues) {
        guard let redaction = recording?.redaction else { return }
        recording?.redaction = redaction.hiding(confidential)
    }

    /// The recording in progress continues, and a replay need not divide the effects into the same inputs from now on.
    package mutating func endExactRecording() { findsEarlyEffects = true }

    package mutating func endRecording() {
        buttonSource.endRecording()
        findsEarlyEffects = true
        recording = nil
    }

    /// The header in the form of the recording in progress; `nil` if there is none.
    package func recordedHeader(_ header: RecordingHeader) -> JSONValue? {
        guard let recording else { return nil }
        var header = header
        header.rules?.identities = confidentialIdentities(of: header.stored.buttons.map(\.identity))
        return header.json(hiding: recording.redaction)
    }

    /// `RecordedRules.identities` if these buttons are known. A declared button is there before it is paired, because the recording
    /// names it afterwards. A nickname is redacted like other texts, to its placeholder.
    private func confidentialIdentities(of buttons: [ButtonIdentity]) -> [String: String] {
        var identities: [String: String] = [:]
        for (value, placeholder) in rules.set.placeholders {
            let id = BluetoothAddress(value).map { ButtonID($0) }
            var forms: [DeclaredButton.Hardware] = [.serial(value), .uuid(value.lowercased())]
            if let id { forms.append(.address(id)) }
            let isDeclared = rules.set.buttons.contains { forms.contains($0.hardware) }
            if isDeclared || buttons.contains(where: { identity in forms.contains { $0.matches(identity) } }) {
                identities[placeholder] = value
            }
        }
        return identities
    }

    /// A line that a history repeats at the beginning of a segment; `nil` if no recording is in progress.
    package func repeatedLine(_ input: Input, at now: Instant) -> RecordedLine? {
        guard let recording else { return nil }
        var recorded = RecordedInput(at: Instant(sinceBoot: now - recording.start), input: input)
        recorded.isRepeated = true
        return recorded.line(hiding: recording.redaction)
    }

    /// The line for the latest input of `handle`; `nil` for a packet or entropy without reports, which only the radio
    /// uses.
    ///
    /// - Parameters:
    ///   - effects: those that `handle` returned.
    ///   - isForHistory: true if only a history needs the line. No line is made for the many inputs that a history leaves
    ///     out.
    package mutating func recordedLine(
        _ input: Input, _ effects: [Effect] = [], isForHistory: Bool = false, at now: Instant
    ) -> RecordedLine? {
        guard let recording else { return nil }
        var recorded = RecordedInput(
            at: Instant(sinceBoot: now - recording.start), input: input, reports: buttonSource.takeReports())
        if case .rulesLoaded(let id, var loaded) = input, loaded.source != nil {
            loaded.source?.identities = confidentialIdentities(of: buttons.keys.compactMap { buttons[$0]?.identity })
            recorded.input = .rulesLoaded(id, loaded)
        }
        for case .startJob(let id, let job) in effects {
            recorded.started.append(RecordedJob(id, job, configuration, hiding: recording.redaction))
        }
        let isForRadio: Bool
        switch input {
        // In a replay, `goOn` follows its input by itself.
        case .received, .bus, .entropy, .goOn, .uplink:
            recorded.input = .received([])
            isForRadio = true
        case .start, .wallClock, .transportOpened, .busOpened, .transportClosed, .source, .brokerAddress,
            .brokerConnected,
            .brokerDisconnected, .brokerSentMalformedPacket, .published, .publishFailed, .messageReceived,
            .messageDropped, .subscriptionRefused, .subscriptionGranted, .jobEnded, .rulesLoaded, .reloadRules,
            .logLevel, .firmwareFiles, .firmwareRead, .recordFailed, .reserveFault, .ringFault, .historyFault, .synced,
            .controlLine,
            .clientGone, .flicd, .timerFired, .stop, .expiringMessageReceived:
            isForRadio = false
        }
        // Most packets are advertisements without reports, for which no line is encoded.
        let hasConsequences = !recorded.reports.isEmpty || !recorded.started.isEmpty
        if isForRadio, !hasConsequences { return nil }
        if isForHistory, isOfFeed(input) || !HistoryWriter.keeps(input, hasConsequences: hasConsequences) { return nil }
        let line = recorded.line(hiding: recording.redaction)
        return isForRadio && !line.hasConsequences ? nil : line
    }

    /// True for a message between this engine, its sites and other engines. A replay is no engine, so it can do nothing with it.
    private func isOfFeed(_ input: Input) -> Bool {
        guard let feed, let topicName = input.topicName else { return false }
        return FeedTopic(topicName) != nil
            || feed.leadership.filters.contains(topicName)
                && !rules.subscriptions.contains { TopicFilter($0).matches(topicName) }
    }

    /// Creates a hub for `replay`, without a radio unless the recording begins at the radio.
    ///
    /// - Parameter rules: the loaded rules of the header.
    package init(replaying header: RecordingHeader, rules: RuleSet) {
        self.init(header.configuration, stored: header.stored.withoutUndecidedOfSites, rules: rules)
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

extension Hub {
    /// Collects what rules do and why from now on, for `takeRuleTrace`.
    package mutating func collectRuleTrace() { ruleTrace = RuleTrace() }

    /// What rules did since the last call; empty unless `collectRuleTrace` was called.
    package mutating func takeRuleTrace() -> RuleTrace {
        guard let taken = ruleTrace, taken != RuleTrace() else { return RuleTrace() }
        ruleTrace = RuleTrace()
        return taken
    }

    /// The fingerprint of a program or a web request that an effect starts, redacted like this hub's output; `nil` for other
    /// effects.
    package func recordedJob(_ effect: Effect) -> RecordedJob? {
        guard case .startJob(let id, let job) = effect else { return nil }
        return RecordedJob(id, job, configuration, hiding: rules.redaction)
    }

    /// When the time limit of the step that waits for a program or a web request ends; `nil` if no step waits.
    package func deadline(of job: JobID) -> Instant? { jobs.step(of: job).flatMap { rules.deadline(of: $0) } }

    /// `text` without the secrets of the rules.
    package func redacted(_ text: String) -> String { rules.redaction(text) }
}

/// What a replay that compares rules has to know in addition to the lines of the live stream.
package struct RuleTrace: Hashable, Sendable {
    /// The actions of rules, in order.
    package var actions: [RuleAction] = []
    /// The events of the lines of kind `event`, in order, without `battery_low`, which is not recognised in presses.
    package var events: [Event] = []
    /// An element for each line that says that a rule has started or did not run, in order: the event that was recognised last
    /// before the line in the same turn, or `nil` without such an event. It is the cause of the line if it has the button and the
    /// name that the line names.
    package var causes: [Event?] = []

    /// An event, and its last press.
    package struct Event: Hashable, Sendable {
        package var button: ButtonID
        package var name: String
        /// `nil` for an event that is no press, such as a rotation.
        package var press: Press?
        /// True if such an event has a line of kind `event`, or if one of the same press and name has it.
        package var isPublished: Bool

        fileprivate init(_ event: RecognisedEvent) {
            button = event.button
            name = event.kind.name
            isPublished = event.kind.publishedName != nil
            press = event.presses.map { Press(part: event.facts.part, number: $0.upperBound) }
            if case .hold(let after) = event.kind { press?.holdAfter = after }
        }
    }

    /// A press of a button. Its number counts from 1 since the start of the process, for each button and part.
    ///
    /// The number is the same with other rules, unless the `down` and the `up` of a press were lost: the press is counted only if
    /// the rules use a trigger mode, in which a later event of the button gives the verdict.
    package struct Press: Hashable, Sendable {
        package var part: ButtonPart?
        package var number: UInt64
        /// After which duration the press was a hold, for the event `hold`. The rules choose it.
        package var holdAfter: Duration?
    }

    package init() {}

    /// Adds what the lines of a turn are about.
    mutating func add(_ occurrences: [Occurrence], _ ruleEffects: [RuleEngine.Effect]) {
        for case .event(_, _, let event, at: _) in occurrences { events.append(Event(event)) }
        var latest: Event?
        for effect in ruleEffects {
            switch effect {
            case .recognised(let event): latest = Event(event)
            case .started, .stopped: causes.append(latest)
            case .perform, .cancel, .stepFailed, .finished, .interrupted, .store, .variableChanged, .enabledChanged,
                .triggerModeDropped, .subscribe, .unsubscribe, .timesMissed, .log, .oversizedState, .stateFault,
                .setTimer, .cancelTimer:
                break
            }
        }
    }
}

/// An action that a step of a rule has performed.
package struct RuleAction: Hashable, Sendable {
    /// The run and the attempt in it.
    package var step: ActionID
    package var rule: String
    package var action: Action
    /// The job of a program or a web request; `nil` for other actions.
    package var job: JobID?
}

extension Hub.Input {
    /// The topic of a message from the broker; `nil` for other inputs.
    fileprivate var topicName: String? {
        if case .messageReceived(let topicName, _, _) = self { return topicName }
        if case .expiringMessageReceived(let topicName, _, _, _) = self { return topicName }
        return nil
    }
}

extension RecordingHeader {
    /// True if the recording is of an engine that has buttons of sites. Their presses are not in it.
    package var hasSites: Bool { stored.buttons.contains(where: \.isOfSite) }
}

extension StoredState {
    /// The state without the undecided presses of sites' buttons. A replay does not have the presses that follow, so it would
    /// decide them otherwise.
    fileprivate var withoutUndecidedOfSites: StoredState {
        let sites = Set(buttons.filter(\.isOfSite).map(\.id))
        guard !sites.isEmpty else { return self }
        var state = self
        for index in state.buttons.indices where state.buttons[index].isOfSite { state.buttons[index].recogniser = "" }
        state.rules.keptEvents.removeAll { sites.contains($0.button) }
        return state
    }
}

extension StoredButton {
    fileprivate var isOfSite: Bool { source.map { EngineFeed.isSite(source: $0) } ?? false }
}

extension RecordedJob {
    fileprivate init(_ id: JobID, _ job: Job, _ configuration: HubConfiguration, hiding redaction: Redaction) {
        self.init(id: id, fingerprint: .fingerprint(job.identifyingTexts(in: configuration), redaction))
    }
}

extension String {
    /// A hash (FNV-1a, 64 bits) of the redacted texts, as 16 hexadecimal digits. Short secrets are redacted as well, because a
    /// hash of one could be guessed.
    fileprivate static func fingerprint(_ texts: [String], _ redaction: Redaction) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in texts {
            for octet in redaction.withoutMarks(text).utf8 { hash = (hash ^ UInt64(octet)) &* 0x100_0000_01B3 }
            // 0xFF separates the texts, because UTF-8 does not contain it.
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The state of a recording in progress.
struct OngoingRecording: Sendable {
    let start: Instant
    var redaction: Redaction
}
