import ButtonModel
import Feed
import JSON
import MQTTTopics
import Rules

/// What to record and to publish before a message of a site is acted on.
struct FeedClaim: Sendable {
    var changes: [StoreChange] = []
    var messages: [MQTTMessage] = []
}

/// The hub's part as an engine of sites: who leads, the feeds of the sites, and the actions that wait.
///
/// | mode        | events start rules | actions                                                                  |
/// |-------------|--------------------|--------------------------------------------------------------------------|
/// | standing by | no                 | are held                                                                 |
/// | leading     | yes                | messages go out at once; programs and web requests, when the broker has acknowledged the latest claim |
/// | fenced      | no                 | are held, and the timers of rules, until this engine leads again or stops |
struct EngineFeed: Sendable {
    enum Input: Hashable, Sendable {
        case source(FeedSource.Input)
        case leadership(EngineLeadership.Input)
        /// The site's buttons are asked for, so rules may act.
        case act(continues: Bool)
        case disconnected
    }

    enum TimerKey: Hashable, Sendable {
        case source, leadership
    }

    enum Mode: String, Hashable, Sendable {
        case standingBy = "standing_by"
        case leading, fenced
    }

    /// An action that waits.
    struct HeldAction: Sendable {
        var step: ActionID
        var action: Action
        var rule: String
        /// When the rule wanted it.
        var at: Instant
    }

    /// The maximum number of sites of which it is remembered whether they fall to this engine.
    private static let maximumRemembered = 4096
    /// What the name of a button's source begins with, before the site's base topic.
    private static let sourcePrefix = "mqtt:"
    /// The expiry interval of a site's messages. What is missing of it was spent in the broker.
    static let expiry = Duration.seconds(3600)

    let configuration: EngineConfiguration
    private(set) var leadership: EngineLeadership
    private(set) var source: FeedSource
    /// What was stored at the start.
    let storedPositions: [FeedPosition]
    let storedTerm: Int
    private(set) var mode = Mode.standingBy
    private(set) var term = 0
    /// What the effects of one input lead to waits until all of them are carried out.
    private var inputs: [Input] = []
    private var isCarryingOut = false
    private var deadlines = Deadlines<TimerKey>()
    private var included: [String: Bool] = [:]
    /// The sites that are connected, and their buttons.
    private(set) var sites: [String: Set<ButtonID>] = [:]
    /// Actions that wait until this engine leads.
    private var held: [HeldAction] = []
    /// Claims that the broker has not acknowledged, and the latest of them.
    private var claims: Set<MessageID> = []
    private var latestClaim: MessageID?
    /// Programs and web requests that wait for the acknowledgement of a claim.
    private var waiting: [(claim: MessageID, action: HeldAction)] = []
    /// For each button the last message that was taken and is not settled.
    private(set) var unsettled: [ButtonID: FeedPlace] = [:]
    /// The timer of the rules has expired while this engine was fenced.
    private var isRulesTimerDue = false
    /// The fingerprint of the rules that the leadership knows.
    var announcedRules: String?
    /// The highest term that the leadership was told.
    private var toldTerm = 0

    init(_ configuration: EngineConfiguration, stored: StoredFeed) {
        self.configuration = configuration
        storedPositions = stored.positions
        storedTerm = stored.term
        leadership = EngineLeadership(engine: configuration.name, share: configuration.share)
        source = FeedSource(engine: configuration.name)
    }

    var isLeading: Bool { mode == .leading }

    /// The will of the connection.
    var offlineMessage: MQTTMessage { leadership.will }

    /// What is subscribed to: the sites first, so that their retained messages precede that of the leader.
    var filters: [String] { configuration.sites.flatMap(FeedTopic.filters(ofSites:)) + leadership.filters }

    // MARK: Inputs

    /// Adds an input.
    ///
    /// - Returns: whether `takeInput` has to be called until it returns `nil`.
    mutating func add(_ input: Input) -> Bool {
        inputs.append(input)
        defer { isCarryingOut = true }
        return !isCarryingOut
    }

    mutating func takeInput() -> Input? {
        isCarryingOut = !inputs.isEmpty
        return inputs.isEmpty ? nil : inputs.removeFirst()
    }

    mutating func handle(_ input: FeedSource.Input, at now: Instant) -> [FeedSource.Effect] {
        let effects = source.handle(input, at: now)
        if source.highestTerm > toldTerm {
            toldTerm = source.highestTerm
            inputs.append(.leadership(.heard(term: toldTerm)))
        }
        return effects
    }

    mutating func handle(_ input: EngineLeadership.Input, at now: Instant) -> [EngineLeadership.Effect] {
        leadership.handle(input, at: now)
    }

    // MARK: Timers

    mutating func setTimer(_ key: TimerKey, at deadline: Instant?) { deadlines.set(key, at: deadline) }
    mutating func takeDue(at now: Instant) -> [TimerKey] { deadlines.takeDue(at: now) }
    mutating func rearm() -> Deadlines<TimerKey>.Change? { deadlines.rearm() }

    // MARK: Sites

    /// True if the site is one of this engine's.
    mutating func includes(site: String) -> Bool {
        if let known = included[site] { return known }
        if included.count >= Self.maximumRemembered { included = [:] }
        let isIncluded = configuration.includes(site: site)
        included[site] = isIncluded
        return isIncluded
    }

    /// The name of the source of a site's buttons.
    static func source(of site: String) -> String { sourcePrefix + site }

    private static func site(of source: String) -> String? {
        source.hasPrefix(sourcePrefix) ? String(source.dropFirst(sourcePrefix.count)) : nil
    }

    /// True if the source of a button is a site of this engine.
    func owns(source: String) -> Bool { Self.site(of: source).map { configuration.includes(site: $0) } ?? false }

    /// True if the source of a button is a site that is connected.
    func isHere(source: String) -> Bool { Self.site(of: source).map { sites[$0] != nil } ?? false }

    mutating func arrived(_ site: String, with buttons: Set<ButtonID>) { sites[site] = buttons }

    /// - Returns: the buttons that the site had.
    mutating func left(_ site: String) -> Set<ButtonID> { sites.removeValue(forKey: site) ?? [] }

    // MARK: Modes

    mutating func leads(in term: Int) {
        mode = .leading
        self.term = term
    }

    /// Holds everything. Programs that wait for a claim wait until this engine leads again.
    mutating func fence() {
        mode = .fenced
        held += waiting.map(\.action)
        forgetClaims()
    }

    /// Gives everything up.
    ///
    /// - Returns: whether the timer of the rules has to expire now.
    mutating func stop() -> Bool {
        mode = .standingBy
        held = []
        unsettled = [:]
        forgetClaims()
        return takeRulesTimer()
    }

    private mutating func forgetClaims() {
        waiting = []
        claims = []
        latestClaim = nil
    }

    /// The timer of the rules has expired.
    ///
    /// - Returns: whether the rules have to wait for it, because this engine is fenced.
    mutating func holdsRulesTimer() -> Bool {
        guard mode == .fenced else { return false }
        isRulesTimerDue = true
        return true
    }

    /// True if the timer of the rules has expired and they were not told.
    mutating func takeRulesTimer() -> Bool {
        defer { isRulesTimerDue = false }
        return isRulesTimerDue
    }

    // MARK: Actions

    /// Holds an action if it must not be carried out now.
    ///
    /// - Returns: whether it waits.
    mutating func holds(_ step: ActionID, _ action: Action, rule: String, at now: Instant) -> Bool {
        let isExternal: Bool
        switch action {
        case .log: return false
        case .message: isExternal = false
        case .external: isExternal = true
        }
        let heldAction = HeldAction(step: step, action: action, rule: rule, at: now)
        guard mode == .leading else {
            held.append(heldAction)
            return true
        }
        guard isExternal, let latestClaim, claims.contains(latestClaim) else { return false }
        waiting.append((latestClaim, heldAction))
        return true
    }

    mutating func cancel(_ step: ActionID) {
        held.removeAll { $0.step == step }
        waiting.removeAll { $0.action.step == step }
    }

    /// The actions that were held while this engine did not lead.
    mutating func takeHeld() -> [HeldAction] {
        defer { held = [] }
        return held
    }

    /// A claim is on its way.
    mutating func claimed(_ id: MessageID) {
        claims.insert(id)
        latestClaim = id
    }

    /// A claim was acknowledged, or has failed.
    ///
    /// - Returns: the actions that waited for it; `nil` if this is no claim.
    mutating func claimEnded(_ id: MessageID) -> [HeldAction]? {
        guard claims.remove(id) != nil else { return nil }
        let ready = waiting.filter { $0.claim == id }.map(\.action)
        waiting.removeAll { $0.claim == id }
        return ready
    }

    // MARK: What is done

    mutating func took(_ place: FeedPlace) { unsettled[place.button] = place }

    /// The buttons of which a message was taken and everything is out, unless their gestures are undecided.
    var buttonsToSettle: [ButtonID] {
        unsettled.isEmpty || mode != .leading || !waiting.isEmpty ? [] : unsettled.keys.sorted()
    }

    /// - Returns: the last message of the button that was taken.
    mutating func settle(_ button: ButtonID) -> FeedPlace? { unsettled.removeValue(forKey: button) }

    /// The part `engine` of `status`.
    var status: JSONValue {
        [
            "name": .string(configuration.name), "share": .string(configuration.share.description),
            "state": .string(mode.rawValue), "term": .integer(Int64(term)),
            "sites": .array(sites.keys.sorted().map(JSONValue.string)),
        ]
    }
}
