import ButtonModel
import Feed
import JSON
import MQTTTopics
import Rules

/// The part of the hub that an engine of sites needs: who leads, the feeds of the sites, and the actions that wait.
///
/// | mode        | events start rules | actions                                                                  |
/// |-------------|--------------------|--------------------------------------------------------------------------|
/// | standing by | no                 | are held                                                                 |
/// | leading     | yes                | messages are published at once; programs and web requests start when the broker has acknowledged the latest claim |
/// | fenced      | only presses that it has taken | are held until this engine leads again or stops, and so is the timer of the rules |
struct EngineFeed: Sendable {
    enum Input: Hashable, Sendable {
        case source(FeedSource.Input)
        case leadership(EngineLeadership.Input)
        /// Rules may act. This input follows `FeedSource.Input.lead`.
        ///
        /// - Parameter continues: as in `EngineLeadership.Effect.lead`; if false, held actions are dropped.
        case act(continues: Bool)
        /// The connection to the broker is lost.
        case disconnected
    }

    enum TimerKey: Hashable, Sendable {
        case source, leadership
    }

    enum Mode: String, Hashable, Sendable {
        case standingBy = "standing_by"
        case leading, fenced
    }

    /// An action of a rule that waits until this engine may perform it.
    struct HeldAction: Sendable {
        var step: ActionID
        var action: Action
        var rule: String
        /// When the run reached the action.
        var at: Instant
    }

    /// The maximum number of entries of `included`.
    private static let maximumRemembered = 4096
    /// The number of characters of the fingerprint of the rules that other engines are told.
    private static let maximumFingerprintLength = 64
    /// The beginning of the name of a button's source, before the base topic of the site.
    private static let sourcePrefix = "mqtt:"
    /// The longest time without the broker after which runs go on. After a longer time, users do not expect their actions any
    /// more.
    static let longestFence = Duration.seconds(60)
    /// The expiry interval with which sites publish messages. The broker reduces it by the time that it kept the message.
    static let expiry = Duration.seconds(3600)

    let configuration: EngineConfiguration
    private(set) var leadership: EngineLeadership
    private(set) var source: FeedSource
    /// The state on the disk at the start.
    let storedPositions: [FeedPosition]
    let storedTerm: Int
    /// Deletes the waiting runs and kept events of an earlier process. They are not resumed, because they were reported as
    /// interrupted or another engine has led since. If they stayed on the disk, a later process without sites in its configuration
    /// would resume them.
    let outdatedChanges: [StoreChange]
    private(set) var mode = Mode.standingBy
    /// The term in which this engine leads or led last; 0: none since the start.
    private(set) var term = 0
    /// Inputs that wait until all effects of the current input are carried out.
    private var inputs: [Input] = []
    private var isCarryingOut = false
    private var deadlines = Deadlines<TimerKey>()
    /// The results of `includes(site:)`, by base topic, because it computes digests.
    private var included: [String: Bool] = [:]
    /// The sites that are connected, and what they say of their buttons.
    private(set) var sites: [String: FeedHello] = [:]
    /// When the connection was lost on which this engine led; not `nil` while it is fenced.
    private var fencedAt: Instant?
    /// Actions that wait until this engine leads.
    private var held: [HeldAction] = []
    /// The topics of the messages to sites and engines that the broker has not acknowledged.
    private var sent: [MessageID: String] = [:]
    /// Claims among them, and the latest of them.
    private var claims: Set<MessageID> = []
    private var latestClaim: MessageID?
    /// Programs and web requests that wait for the acknowledgement of a claim.
    private var waiting: [(claim: MessageID, action: HeldAction)] = []
    /// The last messages of each button that were taken and are not settled, one of each site that has it.
    private(set) var unsettled: [ButtonID: [FeedPlace]] = [:]
    /// The parts of each button of which a `down` was taken since this engine began to lead.
    private var begunParts: [ButtonID: Set<ButtonPart?>] = [:]
    private var handledPresses = HandledPresses()
    private var overheardPresses = OverheardPresses()
    /// True if the timer of the rules has expired while this engine was fenced.
    private var isRulesTimerDue = false
    /// The fingerprint of the rules that the leadership was told.
    private var announcedRules: String?
    /// The highest terms that the leadership was told, of engines and of sites.
    private var toldTerm = 0
    private var toldSiteTerm = 0

    /// The numbers of messages that this process has reported, by a place with the number 0, to tell reports that are made again.
    private var reportedNumbers: [FeedPlace: RangeSet<Int>] = [:]
    private static let maximumReportedButtons = 4096
    private static let maximumReportedRanges = 64
    /// The messages of sites that this process has reported as interrupted, and those that journals of sites have lost.
    private(set) var interruptedCount = 0
    private(set) var lostCount = 0

    /// The installation of another engine that is running with this one's name.
    private(set) var namesake: String?
    /// Another engine on the topics of this one's share, which has another number of shares.
    private var otherShare: (engine: String, share: EngineShare)?
    /// What the broker does not let this engine do. Refused messages outlast the connection, because a broker may end it after one.
    private var refusals = AccessRefusals("the broker refuses to let this engine")

    init(_ configuration: EngineConfiguration, stored: StoredState) {
        self.configuration = configuration
        storedPositions = stored.feed.positions
        storedTerm = stored.feed.term
        outdatedChanges =
            stored.rules.waitingRuns.map { .rules(.waiting($0.run, nil)) }
            + stored.rules.keptEvents.map { .rules(.kept(rule: $0.rule, $0.button, nil)) }
        leadership = EngineLeadership(
            engine: configuration.name, installation: stored.installationID, share: configuration.share,
            patience: configuration.patience)
        source = FeedSource(engine: configuration.name)
    }

    var isLeading: Bool { mode == .leading }

    /// The will of the connection.
    var offlineMessage: MQTTMessage { leadership.will }

    /// The subscriptions. Those of the sites come first, so that their retained messages arrive before the claim of the
    /// leader.
    ///
    /// Claims are read with QoS 0, because a broker discards retained messages with QoS 1 that exceed the length of its queue, and
    /// there are two for each button.
    var subscriptions: [Subscription] {
        configuration.sites.flatMap { sites in
            [Subscription(FeedTopic.messageFilter(ofSites: sites))]
                + FeedTopic.claimFilters(ofSites: sites).map { Subscription($0, qos: 0) }
        } + leadership.filters.map { Subscription($0) }
    }

    // MARK: Inputs

    /// Adds an input.
    ///
    /// - Returns: true if the caller has to handle the inputs of `takeInput` until it returns `nil`; false if a caller
    ///   already does.
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
        if source.siteTerm > toldSiteTerm {
            toldSiteTerm = source.siteTerm
            inputs.append(.leadership(.sitesHeard(term: toldSiteTerm)))
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

    /// True if the configuration names the site, and it belongs to this engine's share.
    mutating func includes(site: String) -> Bool {
        if let known = included[site] { return known }
        if included.count >= Self.maximumRemembered { included = [:] }
        let isIncluded = configuration.includes(site: site)
        included[site] = isIncluded
        return isIncluded
    }

    /// The name of the source of a site's buttons.
    static func source(of site: String) -> String { sourcePrefix + site }

    /// The site whose buttons have this source; `nil` if it is none.
    static func site(of source: String) -> String? {
        source.hasPrefix(sourcePrefix) ? String(source.dropFirst(sourcePrefix.count)) : nil
    }

    /// True if the source of a button is a site of this engine.
    func owns(source: String) -> Bool { Self.site(of: source).map { configuration.includes(site: $0) } ?? false }

    /// True if the source of a button is a site, perhaps one that is not configured any more.
    static func isSite(source: String) -> Bool { site(of: source) != nil }

    /// True if the source of a button is a site that is connected.
    func isHere(source: String) -> Bool { Self.site(of: source).map { sites[$0] != nil } ?? false }

    mutating func arrived(_ site: String, saying hello: FeedHello) {
        if sites[site]?.installation != hello.installation { overheardPresses.forget(site) }
        sites[site] = hello
    }

    /// - Returns: the buttons that the site had.
    mutating func left(_ site: String) -> [ButtonID] { sites.removeValue(forKey: site)?.buttons.keys.sorted() ?? [] }

    /// Another connected site that has a button, and its facts of the button. Of several sites, the first in the order of their
    /// topics counts.
    func other(than site: String, having button: ButtonID) -> (site: String, facts: FeedHello.Button)? {
        sites.keys.sorted().lazy.filter { $0 != site }
            .compactMap { other in self.sites[other]?.buttons[button].map { (other, $0) } }.first
    }

    // MARK: Modes

    mutating func leads(in term: Int) {
        mode = .leading
        fencedAt = nil
        overheardPresses.forgetAll()
        self.term = term
    }

    /// The connection has ended, so no message that was sent on it will be acknowledged.
    mutating func forgetSent() { sent = [:] }

    /// Holds everything. Programs that wait for a claim wait until this engine leads again.
    mutating func fence(at now: Instant) {
        mode = .fenced
        fencedAt = now
        held += waiting.map(\.action)
        forgetClaims()
    }

    /// Stands by, and drops all actions that wait.
    ///
    /// - Returns: true if the timer of the rules has expired while this engine was fenced, so that it has to be handled now.
    mutating func stop() -> Bool {
        mode = .standingBy
        fencedAt = nil
        held = []
        unsettled = [:]
        begunParts = [:]
        forgetClaims()
        return takeRulesTimer()
    }

    /// True if this engine has been fenced for too long for its runs to go on.
    func isFencedTooLong(at now: Instant) -> Bool { fencedAt.map { $0 + Self.longestFence < now } ?? false }

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

    /// - Returns: true if the timer of the rules has expired while this engine was fenced; afterwards false.
    mutating func takeRulesTimer() -> Bool {
        defer { isRulesTimerDue = false }
        return isRulesTimerDue
    }

    // MARK: Actions

    /// Holds an action if it must not be performed now.
    ///
    /// - Returns: true if the action waits.
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

    /// The rules have cancelled an action, which may be one that waits.
    mutating func cancel(_ step: ActionID) {
        held.removeAll { $0.step == step }
        waiting.removeAll { $0.action.step == step }
    }

    /// Removes and returns the actions that were held while this engine did not lead.
    mutating func takeHeld() -> [HeldAction] {
        defer { held = [] }
        return held
    }

    /// A message to a site or to other engines was published, and the broker has not acknowledged it.
    ///
    /// - Parameter isClaim: whether programs and web requests have to wait for it.
    mutating func sent(_ id: MessageID, on topicName: String, isClaim: Bool) {
        sent[id] = topicName
        guard isClaim else { return }
        claims.insert(id)
        latestClaim = id
    }

    /// A message has failed.
    ///
    /// - Returns: its topic; `nil` if it was no message to a site or an engine on this connection.
    mutating func takeSent(_ id: MessageID) -> String? { sent.removeValue(forKey: id) }

    /// A message was acknowledged.
    ///
    /// - Returns: the same as `takeSent`.
    mutating func takeAcknowledged(_ id: MessageID) -> String? {
        let topicName = takeSent(id)
        if let topicName { refusals.published(topicName) }
        return topicName
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

    // MARK: Other engines

    /// The rules with this fingerprint are in use.
    ///
    /// - Returns: the input that tells the leadership, which compares them with the rules of other engines; `nil` if it was told.
    mutating func rulesInUse(_ fingerprint: String) -> EngineLeadership.Input? {
        guard announcedRules != fingerprint else { return nil }
        announcedRules = fingerprint
        return .rules(String(fingerprint.prefix(Self.maximumFingerprintLength)))
    }

    /// - Parameter installation: `nil` if the other engine with this one's name is gone.
    mutating func heardNamesake(_ installation: String?) { namesake = installation }

    /// - Parameter share: `nil` if the other engine is gone, or has this one's share now.
    mutating func heardShare(_ share: EngineShare?, of engine: String) { otherShare = share.map { (engine, $0) } }

    /// A sentence for users; `nil` if all is well.
    var fault: String? { nameFault ?? shareFault ?? refusals.fault ?? deafFault ?? restoreFault }

    /// `nil` unless a restored site waits for an engine, and this one stands by.
    private var restoreFault: String? {
        source.unansweredRestores.first.map {
            "\($0) was restored from an old copy of its disk, and no engine that leads has answered it since, so its presses wait "
                + "in its journal: start the engine that leads, or see in the log why this one stands by"
        }
    }

    /// `nil` without another engine with this one's name.
    var nameFault: String? {
        namesake.map {
            "another engine has the name \(configuration.name) (its installation is \($0), ours \(leadership.installation)): "
                + "give each engine a name and a base topic of its own, such as engine: {name: a2} and mqtt: {base_topic: a2} in "
                + "its tryck.yaml, and restart it"
        }
    }

    /// `nil` without an engine with another number of shares.
    var shareFault: String? {
        otherShare.map {
            "the engine \($0.engine) has the share \($0.share), and this one \(configuration.share), so they do not act on the same "
                + "sites: give both the same share in sources: of their tryck.yaml, and restart the one that changes"
        }
    }

    /// What needs attention; sentences for users.
    var warnings: [String] {
        guard let other = leadership.otherRules else { return [] }
        return [
            "the engine \(other.engine), which \(other.leads ? "leads" : "stands by for") share \(configuration.share), has other "
                + "rules than this one, so a takeover would change what presses do: give both the same rule files, and run "
                + "tryck reload on the one that changes"
        ]
    }

    // MARK: What the broker refuses

    /// What the broker does not let this engine do, in order.
    private var refused: [String] { (deafFault == nil ? [] : [deafRefusal]) + refusals.list }

    /// The broker grants the subscription, so it is not among `refusals`.
    private var deafRefusal: String { "read \(configuration.share.topic)/#" }

    /// `nil` if this engine hears its own claims, or the broker says that it must not write them. With MQTT 3.1.1 no broker says so.
    var deafFault: String? {
        guard leadership.isDeaf, !refusals.refusesWrite(to: "\(configuration.share.topic)/leader") else { return nil }
        return
            "the broker refuses to let this engine \(deafRefusal), or to write there: it delivers nothing of what this engine "
            + "publishes there, and no engine can lead that does not hear the others; allow it in the broker's access rules"
    }

    /// A message of this engine was not published (`AccessRefusals.publishFailed`).
    mutating func refused(_ topicName: String, _ reason: String) -> String? {
        refusals.publishFailed(topicName, reason)
    }

    /// The broker does not deliver the messages of a topic filter.
    ///
    /// - Returns: a sentence for the log, if this is one of `subscriptions`, and the broker did not refuse it before.
    mutating func subscriptionRefused(_ topicFilter: String, _ reason: String) -> String? {
        guard subscriptions.contains(where: { $0.topicFilter == topicFilter }) else { return nil }
        return refusals.subscriptionRefused(topicFilter, reason)
    }

    /// The broker delivers the messages of a topic filter that it has refused before.
    mutating func granted(_ topicFilter: String) { refusals.granted(topicFilter) }

    /// The broker is asked again for all subscriptions, because the connection is new.
    mutating func subscribesAnew() { refusals.subscribesAnew() }

    // MARK: Settling

    /// A message of a site was taken, and these presses and turns of it are handled.
    mutating func took(
        _ place: FeedPlace, _ presses: [ButtonEvent], _ movements: [ButtonMovement], at now: Instant
    ) {
        unsettled[place.button, default: []].removeAll { $0.site == place.site }
        unsettled[place.button, default: []].append(place)
        for press in presses { handledPresses.add(press, from: place.site) }
        if let age = (presses.map(\.age) + movements.map(\.age)).min() {
            handledPresses.note(place.button, from: place.site, happenedAt: now - age)
        }
    }

    /// Notes which presses begin with these events.
    ///
    /// - Returns: the parts with an event of a press whose `down` was not taken since this engine began to lead.
    mutating func begins(_ events: [ButtonEvent], of button: ButtonID) -> [ButtonPart?] {
        var begunElsewhere: [ButtonPart?] = []
        for event in events {
            if event.step == .down {
                begunParts[button, default: []].insert(event.part)
            } else if begunParts[button]?.contains(event.part) != true, !begunElsewhere.contains(event.part) {
                begunElsewhere.append(event.part)
            }
        }
        return begunElsewhere
    }

    /// Another engine, or an earlier process, has taken the last messages of the button.
    mutating func inherits(_ button: ButtonID) { begunParts[button] = nil }

    /// True if the press was handled, perhaps when another site sent it.
    func hasHandled(_ press: ButtonEvent) -> Bool { handledPresses.contains(press) }

    /// True if the press, or a later press since the same start of the button, was handled. An engine that has just taken over
    /// needs this for presses that the former engine has claimed, because its own records do not have them.
    func isOver(_ press: ButtonEvent) -> Bool { handledPresses.contains(press) || handledPresses.hasLater(press) }

    /// True if a step in a message of a site happened before something that another site has sent and that was handled.
    func isOver(_ step: FeedStep, of site: String, at now: Instant) -> Bool {
        handledPresses.hasLater(than: now - step.age, of: step.button, besides: site)
    }

    /// Notes the presses that another engine handles while this one stands by or is fenced.
    mutating func overhear(_ topic: FeedTopic, _ payload: [UInt8]) {
        guard mode != .leading else { return }
        switch topic.kind {
        case .messages(let button):
            guard let message = try? FeedMessage(parsing: payload, of: button) else { break }
            overheardPresses.heard(message, of: button, from: topic.site)
        case .cursor(let button):
            guard overheardPresses.count > 0, let claim = try? FeedCursor(parsing: payload),
                claim.installation == sites[topic.site]?.installation
            else { break }
            for press in overheardPresses.claimed(claim.number, of: button, from: topic.site) where !isOver(press) {
                handledPresses.add(press, from: topic.site)
            }
        case .hello, .done, .want: break
        }
    }

    /// A site does not have the button any more.
    mutating func removed(_ button: ButtonID) {
        handledPresses.forget(button)
        begunParts[button] = nil
    }

    /// The buttons with messages that were taken and for which no action waits. Their messages can be settled, unless the
    /// gesture of the button is undecided.
    var buttonsToSettle: [ButtonID] {
        unsettled.isEmpty || mode != .leading || !waiting.isEmpty ? [] : unsettled.keys.sorted()
    }

    /// The numbers are those of sites and of other engines, so that the sum is limited.
    ///
    /// - Parameter place: the last of the messages.
    /// - Returns: false if all of them were reported before.
    mutating func reported(interrupted place: FeedPlace, first: Int) -> Bool {
        let count = newlyReported(place, first: first)
        interruptedCount = Self.sum(interruptedCount, count)
        return count > 0
    }

    mutating func reported(lost place: FeedPlace, count: Int) {
        lostCount = Self.sum(lostCount, count)
        _ = newlyReported(place, first: place.number - count + 1)
    }

    /// The number of these messages that were not reported before. Above the limits, reports are forgotten, and count again.
    private mutating func newlyReported(_ place: FeedPlace, first: Int) -> Int {
        guard first <= place.number else { return 0 }
        var key = place
        key.number = 0
        if reportedNumbers[key] == nil, reportedNumbers.count >= Self.maximumReportedButtons { reportedNumbers = [:] }
        var before = reportedNumbers[key] ?? RangeSet()
        let new = RangeSet(first..<place.number + 1).subtracting(before)
        before.formUnion(new)
        if before.ranges.count > Self.maximumReportedRanges, let oldest = before.ranges.first {
            before.remove(contentsOf: oldest)
        }
        reportedNumbers[key] = before
        return new.ranges.reduce(0) { Self.sum($0, $1.count) }
    }

    private static func sum(_ total: Int, _ count: Int) -> Int {
        let (sum, overflows) = total.addingReportingOverflow(count)
        return overflows ? .max : sum
    }

    /// The actions for the taken messages of a button are out.
    ///
    /// - Returns: the last one of these messages of each site.
    mutating func settle(_ button: ButtonID) -> [FeedPlace] { unsettled.removeValue(forKey: button) ?? [] }

    /// The part `engine` of `status`.
    var status: JSONValue {
        [
            "name": .string(configuration.name), "share": .string(configuration.share.description),
            "state": .string(mode.rawValue), "term": .integer(Int64(term)),
            "patience": .integer(configuration.patience.limit.milliseconds),
            "fault": fault.map { .string($0) } ?? .null,
            "warnings": .array(warnings.map(JSONValue.string)),
            "refused": .array(refused.map(JSONValue.string)),
            "sites": .array(sites.keys.sorted().map(JSONValue.string)),
        ]
    }

    #if DEBUG
        /// The actions that wait until this engine leads again. A run waits for each of them.
        var fencedSteps: [ActionID] { mode == .fenced ? held.map(\.step) : [] }

        /// A sentence for each inconsistency after an input.
        func problems() -> [String] {
            var problems = leadership.problems() + source.problems() + deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("engine: \(problem())") }
            }
            expect(inputs.isEmpty && !isCarryingOut, "inputs are left")
            expect((mode == .leading) == leadership.isLeading, "it is \(mode), and its leadership differs")
            expect((mode == .leading) == source.isTaking, "it is \(mode), and takes messages or the reverse")
            expect((mode == .fenced) == (fencedAt != nil), "it is \(mode) since \(fencedAt.map { "\($0)" } ?? "never")")
            expect(mode != .leading || held.isEmpty, "\(held.count) actions are held while it leads")
            expect(mode == .fenced || !isRulesTimerDue, "the timer of the rules is held in the mode \(mode)")
            expect(claims.isSubset(of: sent.keys), "it waits for claims that were not sent")
            expect(waiting.allSatisfy { claims.contains($0.claim) }, "an action waits for a claim that has ended")
            expect(mode != .standingBy || unsettled.isEmpty, "messages are unsettled while another engine leads")
            expect(
                unsettled.values.joined().allSatisfy { sites[$0.site] == nil || includesUncached($0.site) },
                "a message was taken from a site of another share")
            return problems
        }

        private func includesUncached(_ site: String) -> Bool { configuration.includes(site: site) }
    #endif
}
