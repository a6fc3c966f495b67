import ButtonModel
import Feed

/// The connection of a site to the broker of its engine: whether there is one, what the broker refuses, and which engines are
/// online.
struct UplinkConnection: Sendable {
    /// How long an engine may be online without claiming anything that waits.
    static let longestClaim = Duration.seconds(30)

    private let configuration: UplinkConfiguration
    private(set) var isConnected = false
    private(set) var knowsExpiry = true
    /// Why there is no connection; a sentence for users.
    private var reason: String?
    /// What the broker does not let this site do. A broker may end the connection after a refusal, so they are kept until the
    /// next connection, or until an attempt to connect fails.
    private var refusals: AccessRefusals
    /// The shares of the engines that are online and take this site's messages, by the topics of their states.
    private var engines: [String: EngineShare] = [:]
    /// When the first of these engines came online.
    private var engineSince: Instant?
    /// When an engine claimed entries last.
    private var claimedAt: Instant?

    init(_ configuration: UplinkConfiguration) {
        self.configuration = configuration
        refusals = Self.noRefusals(configuration)
    }

    private static func noRefusals(_ configuration: UplinkConfiguration) -> AccessRefusals {
        AccessRefusals("\(configuration.broker) refuses to let this site")
    }

    /// True if an engine that takes this site's messages is online.
    var hasEngine: Bool { !engines.isEmpty }

    /// What the broker refuses, in order.
    var refused: [String] { refusals.list }

    /// The first fault of the connection itself; a sentence for users.
    var fault: String? { refusals.fault ?? reason }

    /// A sentence for users if engines of more than one share act on the presses of this site, which happens if their numbers
    /// of shares differ.
    var shareFault: String? {
        guard engines.count > 1 else { return nil }
        let shares = engines.values.map { "\"\($0)\"" }.sorted().joined(separator: " and ")
        return "engines with the shares \(shares) are online, and each acts on the presses of this site; "
            + "give all engines the same number of shares in sources: of their tryck.yaml, and restart those that change"
    }

    /// A sentence for users; `nil` unless an engine is online and takes nothing of what waits.
    ///
    /// - Parameter oldest: when the oldest entry that waits was received.
    func untaken(since oldest: Instant?, at now: Instant) -> String? {
        guard let oldest, let engineSince,
            now > max(oldest, engineSince, claimedAt ?? engineSince) + Self.longestClaim
        else { return nil }
        let feed = "\(configuration.topic)/feed"
        return
            "an engine is online, and no engine takes the presses of this site: check that sources: of the engine names "
            + "\(configuration.topic), and that the access rules of the broker let the engine read \(feed)/# and write "
            + "\(feed)/+/want and \(feed)/+/cursor, and let this site write \(feed)/+ and read \(feed)/+/want and \(feed)/+/cursor"
    }

    mutating func connected(knowsExpiry: Bool) {
        isConnected = true
        self.knowsExpiry = knowsExpiry
        reason = nil
        refusals = Self.noRefusals(configuration)
    }

    /// - Returns: true if the reason differs from the one before, so that it is worth a line in the log.
    mutating func disconnected(_ reason: String) -> Bool {
        defer { self.reason = reason }
        if !isConnected { refusals = Self.noRefusals(configuration) }
        isConnected = false
        engines = [:]
        engineSince = nil
        return self.reason != reason
    }

    /// The broker refuses a topic of this site.
    ///
    /// - Returns: a sentence for the log; `nil` if it was refused before on this connection, or if a message was not published for
    ///   another reason than the access rules.
    mutating func refused(_ topic: String, toWrite: Bool, _ reason: String) -> String? {
        toWrite ? refusals.publishFailed(topic, reason) : refusals.subscriptionRefused(topic, reason)
    }

    /// The broker delivers the messages of a topic filter that it has refused before.
    mutating func granted(_ topicFilter: String) { refusals.granted(topicFilter) }

    /// An engine has claimed entries, so it has received them, and the broker takes what this site writes.
    mutating func claimed(at now: Instant) {
        claimedAt = now
        refusals.publishedAll()
    }

    /// Handles a message about the state of an engine.
    ///
    /// - Returns: true if an engine that takes this site's messages is online; `nil` if the topic is not one of
    ///   `SiteUplink.engineFilter`.
    mutating func engineHeard(_ topicName: String, _ payload: [UInt8], at now: Instant) -> Bool? {
        guard topicName.hasPrefix("engines/"), topicName.hasSuffix("/state") else { return nil }
        // There are at most `EngineShare.maximumCount` of these topics.
        let state = (try? EngineState(parsing: payload)).flatMap { "\($0.share.topic)/state" == topicName ? $0 : nil }
        engines[topicName] = state.flatMap { $0.isOnline && $0.share.has(site: configuration.topic) ? $0.share : nil }
        engineSince = hasEngine ? engineSince ?? now : nil
        return hasEngine
    }

    #if DEBUG
        /// A sentence for each inconsistency after an input.
        func problems() -> [String] {
            var problems: [String] = []
            if !isConnected, hasEngine { problems.append("uplink: engines are online without a connection") }
            if hasEngine != (engineSince != nil) {
                problems.append("uplink: an engine is online since \(engineSince.map { "\($0)" } ?? "never")")
            }
            return problems
        }
    #endif
}
