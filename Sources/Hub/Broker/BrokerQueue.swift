import ButtonModel
import MQTTTopics
import Rules

/// Everything that is on its way to the broker: messages, retained topics, lines of the log, and announcements to Home
/// Assistant.
///
/// | part             | holds                                                                    |
/// |------------------|--------------------------------------------------------------------------|
/// | `Outbox`         | messages that wait for the broker or for its acknowledgement             |
/// | `MessageOwners`  | the purpose of each of these messages                                    |
/// | `RetainedQueue`  | retained topics whose message is outdated; messages are made when sent   |
/// | `Announcements`  | devices that Home Assistant knows by MQTT discovery                      |
///
/// The queue never calls the hub: each method returns what the hub has to do next, so that the hub carries out the
/// consequences of one message before it takes the next.
struct BrokerQueue: Sendable {
    /// A message that goes to the broker now.
    struct Transmission: Hashable, Sendable {
        var id: MessageID
        var message: MQTTMessage
        /// How long the broker may keep the message for its subscribers; `nil` if there is no limit.
        var expiry: Duration?
        /// The step that published the message, if a step did.
        var step: ActionID?
        /// The rule of that step.
        var rule: String?
        /// True if clients that watch are shown the message.
        var isShown: Bool
    }

    /// The fate of a new message.
    enum Posting: Hashable, Sendable {
        case sent(Transmission)
        /// The message waits. `dropped` messages had to make room, and have failed; the new message may be one of them.
        case waiting(dropped: [MessageID])
        /// The configuration has no broker, so the message has failed.
        case refused
    }

    /// The thing that the broker has acknowledged.
    enum Acknowledged: Hashable, Sendable {
        case message
        case logLine
        /// `endsSearch`: the search for leftovers is over, and its subscriptions can be given up.
        case retained(endsSearch: Bool)
    }

    /// The thing that was not published, and what follows.
    enum Failed: Hashable, Sendable {
        /// The message has failed for good.
        case message
        /// The message is posted once more.
        case posted(Posting)
        case logLine
        /// The topic has to be published once more, after a delay.
        case retained(RetainedTopic)
        /// The topic was tried as often as allowed.
        case retainedGivenUp(RetainedTopic)
        /// There is no connection any more; everything retained is published after the next one begins.
        case retainedLost
    }

    /// Everything that has retained topics now, each list in the order in which it is published.
    struct Inventory: Hashable, Sendable {
        var buttons: [ButtonID] = []
        var variables: [String] = []
        var rules: [String] = []
        /// Rules whose last run is known.
        var lastRuns: [String] = []
        /// Rules that have statistics.
        var statistics: [String] = []
    }

    let topics: Topics
    /// True if the configuration has a broker.
    let isConfigured: Bool
    /// The broker's address, for users.
    private(set) var address: String
    private(set) var state = BrokerState.disconnected(
        "the broker has not answered yet; if this continues, check mqtt.broker")
    { didSet { hasChanged = true } }
    private var outbox = Outbox() { didSet { hasChanged = true } }
    private var owners = MessageOwners()
    private var retained = RetainedQueue()
    private var announcements: Announcements
    /// True if retained messages of removed things are looked for.
    private(set) var isLookingForLeftovers = false
    /// Messages that the broker took, without lines of the log.
    private(set) var publishedCount: Int64 = 0 { didSet { hasChanged = true } }
    /// Messages that were given up.
    private(set) var failedCount: Int64 = 0 { didSet { hasChanged = true } }
    /// Packets of the broker that broke the protocol.
    private(set) var malformedPacketCount: Int64 = 0 { didSet { hasChanged = true } }
    /// When the last connection ended; the time 0 if there was none.
    private(set) var connectionEndedAt = Instant(nanoseconds: 0)
    /// True if something that the metrics show may have changed since `takeHasChanged`.
    private var hasChanged = false

    init(_ configuration: HubConfiguration, installationID: String) {
        topics = Topics(base: configuration.baseTopic)
        isConfigured = configuration.hasBroker
        address = configuration.broker
        announcements = Announcements(configuration, installationID: installationID)
    }

    var isConnected: Bool { if case .connected = state { true } else { false } }

    /// True if something that the metrics show may have changed since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    // MARK: The connection

    /// The embedded broker listens at this address.
    mutating func embeddedBrokerListens(at address: String) { self.address = address }

    mutating func connected() { state = .connected }

    /// The connection could not be made, or has ended.
    ///
    /// - Parameter reason: a sentence for users.
    /// - Returns: whether there was a connection; `nil` if this reason is known already.
    mutating func disconnected(_ reason: String, at now: Instant) -> Bool? {
        guard state != .disconnected(reason) else { return nil }
        let wasConnected = isConnected
        if wasConnected { connectionEndedAt = now }
        state = .disconnected(reason)
        isLookingForLeftovers = false
        for topic in retained.takeAll() { retained.add(topic) }
        announcements.connectionEnded()
        return wasConnected
    }

    mutating func receivedMalformedPacket() { malformedPacketCount += 1 }

    // MARK: Messages

    /// Publishes a message, or lets it wait for the connection or for its turn.
    ///
    /// - Parameter owner: what the message is published for; `ended` returns it.
    mutating func publish(_ entry: Outbox.Entry, for owner: MessageOwner? = nil, at now: Instant) -> Posting {
        if let owner { owners.add(owner, of: entry.id) }
        return isConfigured ? post(entry, at: now) : .refused
    }

    /// True if a message of a press or a rule goes to the broker at once.
    var sendsAtOnce: Bool { isConfigured && isConnected && outbox.isEmptyForPresses }

    private mutating func post(_ entry: Outbox.Entry, at now: Instant) -> Posting {
        guard isConnected, outbox.maySend(entry) else { return .waiting(dropped: outbox.add(entry).map(\.id)) }
        return .sent(transmission(of: entry, at: now))
    }

    /// Takes the next message that may be sent now: messages of presses and rules before others.
    mutating func takeNext(at now: Instant) -> Transmission? {
        outbox.takeNext().map { transmission(of: $0, at: now) }
    }

    private mutating func transmission(of entry: Outbox.Entry, at now: Instant) -> Transmission {
        outbox.handOver(entry)
        let (step, rule): (ActionID?, String?) =
            if case .step(let step, let rule, _) = owners[entry.id] { (step, rule) } else { (nil, nil) }
        // A retained message is the latest state of its topic, so it must not expire.
        let expiry = entry.message.retain ? nil : max(.seconds(1), entry.deadline - now)
        return Transmission(
            id: entry.id, message: entry.message, expiry: expiry, step: step, rule: rule, isShown: entry.isShown)
    }

    /// Takes out messages that have waited for too long. They have failed.
    mutating func takeExpired(at now: Instant) -> [MessageID] { outbox.takeExpired(at: now).map(\.id) }

    /// When the first message that waits expires; `nil` if none waits.
    var earliestExpiry: Instant? { outbox.earliestDeadline }
    var waitingCount: Int { outbox.waitingCount }
    var unacknowledgedCount: Int { outbox.unacknowledgedCount }

    /// The broker has acknowledged what was sent (QoS 1), or it was written to the network (QoS 0). For `.message`, `ended`
    /// has to be called.
    mutating func acknowledged(_ id: MessageID) -> Acknowledged {
        if let topic = retained.acknowledged(id) {
            announcements.acknowledged(topic)
            publishedCount += 1
            guard isLookingForLeftovers, retained.isIdle else { return .retained(endsSearch: false) }
            isLookingForLeftovers = false
            return .retained(endsSearch: true)
        }
        if id == .logLine {
            outbox.lineEnded()
            return .logLine
        }
        outbox.acknowledged(id)
        return .message
    }

    /// A message or line that was sent was not published. For `.message`, `ended` has to be called.
    mutating func failed(_ id: MessageID, at now: Instant) -> Failed {
        if let (topic, again) = retained.failed(id) {
            guard isConnected else { return .retainedLost }
            if again { return .retained(topic) }
            failedCount += 1
            return .retainedGivenUp(topic)
        }
        if id == .logLine {
            outbox.lineEnded()
            return .logLine
        }
        guard let entry = outbox.failed(id, isConnected: isConnected, at: now) else { return .message }
        return .posted(post(entry, at: now))
    }

    /// A message is published or has failed.
    ///
    /// - Returns: what the message was published for.
    mutating func ended(_ id: MessageID, isPublished: Bool) -> MessageOwner? {
        // A retained message of an earlier connection is not counted, because it is published again.
        if case .queued = id {
            if isPublished { publishedCount += 1 } else { failedCount += 1 }
        }
        return owners.remove(id)
    }

    /// True if a line of the log may be sent now. Lines do not wait, because the log itself has them.
    mutating func admitLine() -> Bool { outbox.admitLine() }

    // MARK: Messages of runs

    /// The messages that belong to something.
    var ownedCount: Int { owners.count }

    /// True if all messages of the run are written.
    func hasWritten(_ run: RunID) -> Bool { owners.hasWritten(run) }

    /// The run waits, or waits no longer. If messages of it are not written yet, this is recorded with the last of them.
    mutating func waitChanged(of run: RunID, _ wait: StoreChange?) { owners.waitChanged(of: run, wait) }

    /// The run has ended.
    ///
    /// - Returns: whether that may be recorded at once, because all messages of the run are written.
    mutating func runEnded(_ run: RunID) -> Bool { owners.runEnded(run) }

    /// A message of the run is written, or given up.
    ///
    /// - Returns: what is to be recorded now.
    mutating func messageEnded(of run: RunID) -> [StoreChange] { owners.messageEnded(of: run) }

    /// Gives up the messages of a step.
    ///
    /// - Returns: what is to be recorded now.
    mutating func cancel(_ step: ActionID) -> [StoreChange] {
        var changes: [StoreChange] = []
        for id in owners.messages(of: step) {
            outbox.remove(id)
            _ = owners.remove(id)
            changes += owners.messageEnded(of: step.run)
        }
        return changes
    }

    // MARK: Retained topics

    /// Marks the topic's message as outdated, so that it is published. Without a connection only topics of removed things
    /// need to be remembered, because `republish` adds all others.
    mutating func invalidate(_ topic: RetainedTopic) {
        guard isConfigured else { return }
        if case .config = topic, !announcements.isEnabled { return }
        if isConnected || retained.count < RetainedQueue.maximumAbsent { retained.add(topic) }
    }

    /// Marks the topic as outdated when `addSettled` is called next.
    ///
    /// - Returns: whether that has to be called after a delay, because this is the first such topic.
    mutating func settle(_ topic: RetainedTopic) -> Bool { isConnected && retained.settle(topic) }

    mutating func addSettled() { retained.addSettled() }

    /// Takes the next topic whose message is outdated, and a number for its message.
    mutating func takeRetained() -> (topic: RetainedTopic, id: MessageID)? {
        guard isConnected else { return nil }
        while let topic = retained.take() {
            // A device that was deleted in Home Assistant is not announced again, and clearing its topic once more
            // would make Home Assistant log an error.
            if !announcements.hides(topic) { return (topic, retained.sent(topic)) }
        }
        return nil
    }

    /// The topics that wait, in their order.
    var waitingTopics: [RetainedTopic] { retained.waitingTopics }

    /// Marks all topics as outdated after connecting, in the order in which subscribers need them: states, then the
    /// discovery configs that refer to them, then `bridge/state`, which makes entities available. Rules come last, because
    /// there may be many. Begins the search for leftovers.
    ///
    /// - Parameters:
    ///   - gone: topics of removed things.
    ///   - announcesBridge: whether the bridge is announced to Home Assistant as well.
    mutating func republish(_ inventory: Inventory, gone: [RetainedTopic], announcesBridge: Bool = true) {
        isLookingForLeftovers = true
        _ = retained.takeAll()
        for topic in gone + [.bridgeInfo, .bridgeDevices, .bridgePairing, .bridgeHealth, .bridgeRadios, .rules] {
            retained.add(topic)
        }
        for button in inventory.buttons {
            retained.add(.status(button))
            retained.add(.availability(button))
        }
        if announcements.isEnabled {
            if announcesBridge { retained.add(.bridgeConfig) }
            for button in inventory.buttons { retained.add(.config(button)) }
        }
        retained.add(.bridgeState)
        for variable in inventory.variables { retained.add(.variable(variable)) }
        for rule in inventory.rules { retained.add(.ruleEnabled(rule)) }
        for rule in inventory.lastRuns { retained.add(.lastRun(rule)) }
        for rule in inventory.statistics { retained.add(.statistics(rule)) }
    }

    /// The number of topics that wait or are in flight; at least 1 as long as there is any.
    var retainedCount: Int { retained.isIdle ? 0 : max(1, retained.count) }

    /// The name of the topic at the broker.
    func name(of topic: RetainedTopic) -> String {
        switch topic {
        case .bridgeInfo: topics.bridgeInfo
        case .bridgeDevices: topics.bridgeDevices
        case .bridgePairing: topics.bridgePairing
        case .bridgeHealth: topics.bridgeHealth
        case .bridgeRadios: topics.bridgeRadios
        case .bridgeState: topics.bridgeState
        case .rules: topics.rules
        case .status(let button): topics.status(of: button)
        case .availability(let button): topics.availability(of: button)
        case .bridgeConfig, .config: announcements.name(of: topic)
        case .ruleEnabled(let rule): topics.enabled(rule: rule)
        case .lastRun(let rule): topics.lastRun(rule: rule)
        case .statistics(let rule): topics.statistics(rule: rule)
        case .variable(let name): topics.variable(name)
        }
    }

    // MARK: Leftovers

    /// Filters for everything that the broker may retain for buttons, rules and variables that were removed while tryckd was
    /// not running or not connected. They are subscribed to until all retained topics are published and acknowledged: a
    /// broker sends the messages that it retains when a client subscribes, so it has sent all of these by then.
    var leftoverFilters: [String] {
        ["+", "+/availability", "variables/+", "rules/+/enabled", "rules/+/last_run", "rules/+/stats"].map {
            "\(topics.base)/\($0)"
        }
    }

    /// The topic of a message that the broker retains; `nil` if it is none of these topics, or if leftovers are not looked
    /// for. The topic has to be cleared if what it is about was removed.
    func leftover(_ topicName: String, _ payload: [UInt8]) -> RetainedTopic? {
        guard isLookingForLeftovers, !payload.isEmpty,
            topicName.utf8.count <= topics.base.utf8.count + Self.maximumLeftoverLength
        else { return nil }
        return retainedTopic(of: topicName)
    }

    /// The maximum number of octets of a leftover topic below the base topic. Longer topics are not tryckd's in practice, and
    /// would fill the memory if the broker does not take the messages that clear them.
    private static let maximumLeftoverLength = 256

    /// Clears the topic of something that was removed.
    mutating func clearLeftover(_ topic: RetainedTopic) {
        if retained.count < RetainedQueue.maximumAbsent { retained.add(topic) }
    }

    private func retainedTopic(of topicName: String) -> RetainedTopic? {
        let levels = topics.levels(of: topicName)
        switch (levels.count, levels.first, levels.last) {
        case (1, let id?, _): return ButtonID(id).map(RetainedTopic.status)
        case (2, let id?, "availability"): return ButtonID(id).map(RetainedTopic.availability)
        case (2, "variables", let name?): return .variable(String(name))
        case (3, "rules", "enabled"): return .ruleEnabled(String(levels[1]))
        case (3, "rules", "last_run"): return .lastRun(String(levels[1]))
        case (3, "rules", "stats"): return .statistics(String(levels[1]))
        default: return nil
        }
    }

    // MARK: Home Assistant

    /// True if devices are announced.
    var announcesDevices: Bool { announcements.isEnabled }
    /// The topics of the messages that `discoveryMessage` reads.
    var discoveryFilters: [Subscription] { announcements.filters }

    /// The button's device as announced last; `nil` if it was not announced.
    func announcedDevice(of button: ButtonID) -> ButtonDevice? { announcements.device(of: button) }

    /// A random delay before devices are announced again.
    func announcementDelay(at now: Instant) -> Duration { announcements.delay(at: now) }

    /// The meaning of a message for discovery; `nil` if it is on none of the topics of `discoveryFilters`.
    ///
    /// - Parameter isRetained: whether the broker had retained the message.
    func discoveryMessage(_ topicName: String, _ payload: [UInt8], isRetained: Bool) -> Announcements.Incoming? {
        announcements.read(topicName, payload, isRetained: isRetained)
    }

    /// The message that announces the bridge or a button.
    ///
    /// - Parameter device: the button; `nil` for the bridge and for a button that was removed.
    mutating func announcement(_ topic: RetainedTopic, of device: ButtonDevice?) -> MQTTMessage {
        let (message, isFollowed) = announcements.message(topic, of: device)
        if isFollowed { retained.add(topic) }
        return message
    }

    /// A message has arrived on the config topic of the bridge or of a button.
    ///
    /// - Parameters:
    ///   - isRetained: whether the broker had retained the message.
    ///   - device: the button; `nil` for the bridge and for a button that is not known.
    /// - Returns: whether the user has deleted the device in Home Assistant.
    mutating func configSeen(
        _ topic: RetainedTopic, _ payload: [UInt8], isRetained: Bool, of device: ButtonDevice?
    ) -> Bool {
        switch announcements.configSeen(topic, payload, isRetained: isRetained, of: device) {
        case .nothing: return false
        case .deleted: return true
        case .publish:
            retained.add(topic)
            return false
        }
    }

    /// Announces the button so that Home Assistant gives its entities new ids, made of its name.
    mutating func renameEntities(of button: ButtonID) {
        announcements.renameEntities(of: button)
        invalidate(.config(button))
    }

    /// Announces a newly paired button even if the user deleted its device in Home Assistant earlier.
    mutating func reveal(_ button: ButtonID) { announcements.reveal(button) }

    // MARK: Consistency

    #if DEBUG
        /// True if topics wait for `addSettled`.
        var isSettling: Bool { retained.isSettling }
        func sequences(of button: ButtonID) -> [Int64] { owners.sequences(of: button) }
        /// The runs with messages that are not written yet, in no order.
        var runsWithMessages: [RunID] { owners.runsWithMessages }
        /// The steps with messages that have not ended.
        var stepsWithMessages: Set<ActionID> { owners.stepsWithMessages }

        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems = outbox.problems() + retained.problems() + owners.problems()
            if !isConnected, retained.inFlightCount > 0 {
                problems.append("retained messages are in flight without a broker")
            }
            if !isConnected, isLookingForLeftovers {
                problems.append("leftover topics are searched for without a broker")
            }
            if !isConfigured, outbox.waitingCount > 0 {
                problems.append("messages wait for a broker that is not configured")
            }
            if !isConfigured, retained.count > 0 { problems.append("topics wait for a broker that is not configured") }
            return problems
        }
    #endif
}
