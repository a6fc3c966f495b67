import ButtonModel
import Feed
import JSON
package import MQTTTopics

// The hub as a site: it sends the presses of buttons that no rule names to an engine.
extension Hub {
    mutating func startUplink(at now: Instant) {
        guard let withEntries = uplink?.buttonsWithEntries else { return }
        var facts: [ButtonID: FeedHello.Button] = [:]
        // Buttons with entries come first, because a site has only so many.
        for button in buttons.keys.sorted(by: { withEntries.contains($0) && !withEntries.contains($1) || $0 < $1 })
        where sends(button) || withEntries.contains(button) {
            if facts.count < FeedHello.maximumButtons { facts[button] = feedFacts(of: button) } else { refuse(button) }
        }
        let (builtAt, wallClock) = (configuration.builtAt, wallClock(at: now))
        let input = uplink?.start(facts) { time in
            let isKnown = time >= builtAt && wallClock >= time
            return now - (isKnown ? wallClock.duration(since: time) : SiteUplink.unknownAge)
        }
        if let input { advanceUplink(input, at: now) }
        emit(.uplink(.connect))
    }

    /// There is no room for the button in the feed, so its presses are not sent.
    private mutating func refuse(_ button: ButtonID) {
        if uplink?.refuse(button) == true, let fault = surplusFault { log(.error, fault) }
    }

    /// The fault of the uplink, as a sentence for users; `nil` if there is none.
    var uplinkFault: String? { uplink?.connectionFault ?? surplusFault }

    /// What needs attention about the uplink; sentences for users.
    func uplinkWarnings(at now: Instant) -> [String] {
        let own = buttons.values.filter { $0.source.map { !EngineFeed.isSite(source: $0) } ?? true }
        return uplink?.warnings(
            of: own.map { .init(id: $0.identity.id, name: $0.displayName, rule: rules.listener(to: $0.identity.id)) },
            at: now) ?? []
    }

    /// The fault that not all buttons are sent, as a sentence for users; `nil` if all are sent that should be.
    var surplusFault: String? {
        let count = uplink?.surplus.count { sends($0) } ?? 0
        guard count > 0 else { return nil }
        return
            "the presses of \(count) button\(count == 1 ? "" : "s") are not sent to the engine, because a site has at most "
            + "\(FeedHello.maximumButtons): name those to send in uplink: {buttons: […]} of tryck.yaml, or make a second site"
    }

    /// True if the presses of the button are to go to the engine: no rule names it, `buttons` of the configuration includes it,
    /// and this hub does not have it from a site of its own.
    func sends(_ button: ButtonID) -> Bool {
        guard let uplink, let record = buttons[button] else { return false }
        let isOfSite = record.source.map { EngineFeed.isSite(source: $0) } ?? false
        return !isOfSite && !rules.hears(button) && uplink.configuration.includes(record.displayName)
    }

    private func feedFacts(of button: ButtonID) -> FeedHello.Button? {
        buttons[button].map { record in
            FeedHello.Button(
                serial: record.identity.serial, model: record.identity.model, name: record.displayName,
                firmware: record.identity.firmwareVersion, battery: record.batteryPercentage)
        }
    }

    // MARK: Presses

    /// Adds a notification of a button to its journal of the uplink.
    ///
    /// - Parameter token: the token of the record that will contain the changes.
    /// - Returns: the changes to record; empty if the presses of the button do not go to the engine.
    mutating func addToUplink(
        _ steps: [FeedStep], of button: ButtonID, as token: RecordToken, at now: Instant
    ) -> [StoreChange] {
        guard !steps.isEmpty, sends(button) else { return [] }
        guard uplink?.hasRoom(for: button) == true else {
            refuse(button)
            return []
        }
        if uplink?.buttons.contains(button) == false { uplinkButtonChanged(button, at: now) }
        let wallClock = wallClock(at: now)
        let isDiskFull = self.journal.fault != nil
        let outcome = uplink?.add(
            steps, of: button, at: wallClock, as: token, isDiskFull: isDiskFull, now: now)
        guard let outcome else { return [] }
        trim(outcome.trimmed, at: now)
        return outcome.changes.map { .feed(.uplink($0)) }
    }

    /// Tells the feed which journals have dropped entries, and the numbers of their first remaining ones.
    private mutating func trim(_ trimmed: [ButtonID: Int], at now: Instant) {
        for (button, first) in trimmed.sorted(by: { $0.key < $1.key }) {
            let label = label(of: button)
            log(
                .fullJournal, .warning,
                "messages of \(label) that no engine has claimed are dropped, because the journal is full or they are "
                    + "older than 7 days",
                at: now)
            advanceUplink(.trimmed(button, first: first), at: now)
        }
    }

    /// A sync has succeeded, so the entries that were recorded before the sync was requested may be sent.
    mutating func uplinkSynced(_ token: RecordToken, at now: Instant) {
        guard journal.isOnDisk(token) else { return }
        for input in uplink?.synced(upTo: token) ?? [] { advanceUplink(input, at: now) }
    }

    // MARK: Buttons

    /// A button is new, was removed, or its name, its firmware or another fact of `FeedHello.Button` has changed.
    mutating func uplinkButtonChanged(_ button: ButtonID, at now: Instant) {
        guard let facts = feedFacts(of: button) else {
            guard uplink?.buttons.contains(button) == true else { return }
            record(uplink?.removed(button) ?? [])
            return advanceUplink(.removed(button), at: now)
        }
        guard uplink?.buttons.contains(button) == true || sends(button) else { return }
        guard uplink?.hasRoom(for: button) == true else { return refuse(button) }
        if let input = uplink?.changed(button, facts) { advanceUplink(input, at: now) }
    }

    // MARK: The connection

    mutating func uplinkReported(_ input: UplinkInput, at now: Instant) {
        guard lifecycle.isRunning, let configuration = uplink?.configuration else { return }
        switch input {
        case .connected(let knowsExpiry):
            guard let (session, changes) = uplink?.connected(knowsExpiry: knowsExpiry) else { return }
            log(.info, "connected to \(configuration.broker) as the site \(configuration.topic)")
            if !knowsExpiry {
                log(
                    .warning,
                    "\(configuration.broker) has no MQTT 5, so an engine cannot know how long it kept a press")
            }
            // The number of the session is synced, so that it is not used again even after a power cut.
            recordAndSync(changes.map { .feed(.uplink($0)) })
            if let outcome = uplink?.dropOld(at: now) {
                record(outcome.changes)
                trim(outcome.trimmed, at: now)
            }
            emit(.uplink(.subscribe(uplink?.filters ?? [])))
            advanceUplink(.connected(session: session), at: now)
        case .disconnected(let reason):
            if uplink?.disconnected(reason) == true { log(.warning, reason) }
            advanceUplink(.engine(isOnline: false), at: now)
            advanceUplink(.disconnected, at: now)
        case .refused(let topicName, let reason):
            if let sentence = uplink?.refused(topicName, toWrite: true, reason) { log(.error, sentence) }
            advanceUplink(.refused(topicName: topicName), at: now)
        case .subscriptionRefused(let topicFilter, let reason):
            if let sentence = uplink?.refused(topicFilter, toWrite: false, reason) { log(.error, sentence) }
        case .subscriptionGranted(let topicFilter):
            uplink?.granted(topicFilter)
            log(.info, "the site may read \(topicFilter) now")
        case .received(let topicName, let payload):
            if let isOnline = uplink?.engineHeard(topicName, payload, at: now) {
                advanceUplink(.engine(isOnline: isOnline), at: now)
            } else {
                advanceUplink(.received(topicName: topicName, payload: payload), at: now)
            }
        }
    }

    mutating func expireUplink(at now: Instant) { advanceUplink(.timerFired, at: now) }

    mutating func advanceUplink(_ input: FeedUplink.Input, at now: Instant) {
        metrics.invalidate()
        var inputs = [input]
        while !inputs.isEmpty {
            for effect in uplink?.handle(inputs.removeFirst(), at: now) ?? [] {
                switch effect {
                case .publish(let message, let expiry): emit(.uplink(.publish(message, expiry: expiry)))
                case .read(let button, let after, let count):
                    inputs.append(.read(button, uplink?.entries(of: button, after: after, count: count) ?? []))
                case .claimed(let button, let number): record(uplink?.claimed(button, number, at: now) ?? [])
                case .done(let button, let number): record(uplink?.done(button, number) ?? [])
                case .term(let term): record(uplink?.heard(term: term) ?? [])
                case .asked(let session): recordAndSync([.feed(.uplink(.asked(session)))])
                case .beganLife(let number, let formers, let evidence):
                    let changes = uplink?.beganLife(number, formers) ?? []
                    recordAndSync(changes.map { .feed(.uplink($0)) })
                    reportLife(evidence, at: now)
                case .setTimer(let deadline): setTimer(.uplink, at: deadline)
                case .cancelTimer: cancelTimer(.uplink)
                case .anomaly(let text): log(.debug, "uplink: \(text)")
                }
            }
        }
    }

    /// The state directory is an old copy.
    private mutating func reportLife(_ evidence: FeedUplink.Evidence, at now: Instant) {
        guard let status = uplink?.status(fault: nil, warnings: []), let configuration = uplink?.configuration else {
            return
        }
        let installation = status["installation"] ?? .null
        let known =
            switch evidence {
            case .claim(let button, _): "the engine has claimed presses of \(label(of: button))"
            case .hello: "the broker has a later message of this site"
            }
        log(
            .warning,
            "\(configuration.topic): \(known) of which this machine knows nothing, so its state directory was restored "
                + "from an old copy. New presses go to the engine as before, as installation "
                + "\(installation.stringValue ?? ""). Presses in the copy that were handled since are not repeated")
        publishEvent(
            "restored", ["site": .string(configuration.topic), "installation": installation],
            timeToLive: .seconds(3600), at: now)
    }

    private mutating func record(_ changes: [UplinkChange]) {
        if !changes.isEmpty { record(changes.map { .feed(.uplink($0)) }) }
    }

    /// Tells engines that the site goes offline, because the daemon ends.
    mutating func endUplink() {
        guard let uplink, uplink.isConnected else { return }
        emit(.uplink(.publish(SiteUplink.goodbye(uplink.configuration), expiry: nil)))
    }

    /// The will of the connection to the broker of `uplink:`; `nil` without one.
    package var uplinkWill: MQTTMessage? { uplink.map { SiteUplink.goodbye($0.configuration) } }
}
