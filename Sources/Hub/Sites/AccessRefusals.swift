import Feed

/// What the access rules of a broker do not let a site or an engine write and read, and why.
///
/// A broker may end the connection after a refusal, so the owner decides which refusals outlast it.
struct AccessRefusals: Sendable {
    private enum Access: String {
        case write, read

        /// The beginning of its refusals.
        var prefix: String { "\(rawValue) " }
    }

    /// The maximum number of refusals. Further ones are not kept.
    private static let maximumCount = 64
    /// The text that libmosquitto has for the reason code 0x87. Its end differs between versions of the library.
    private static let notAuthorized = "Not authori"
    /// What to do, as the connection also says it in the reason of a refused subscription.
    private static let advice = "allow it in the broker's access rules"

    /// The beginning of each sentence, such as `the broker refuses to let this engine`.
    private let beginning: String
    /// The reasons by what is refused, such as `write TOPIC`.
    private var reasons: [String: String] = [:]

    /// - Parameter beginning: the beginning of each sentence; what is refused follows it.
    init(_ beginning: String) { self.beginning = beginning }

    /// What is refused, such as `write TOPIC`, in order. It has `+` for a button, because an access rule is about all of them.
    var list: [String] { reasons.keys.sorted() }

    /// The first refusal, as a sentence for users.
    var fault: String? { reasons.min { $0.key < $1.key }.map { sentence($0.key, $0.value) } }

    // MARK: Messages

    /// A message was not published.
    ///
    /// - Parameter reason: as the broker or the client says it.
    /// - Returns: a sentence for the log, if the access rules are the reason, and the topic was not refused before.
    mutating func publishFailed(_ topicName: String, _ reason: String) -> String? {
        reason.hasPrefix(Self.notAuthorized) ? add(.write, Self.filter(topicName), reason) : nil
    }

    /// The broker has taken a message.
    mutating func published(_ topicName: String) {
        if !reasons.isEmpty { reasons[Access.write.prefix + Self.filter(topicName)] = nil }
    }

    /// The broker takes the messages to all topics.
    mutating func publishedAll() { forget(.write) }

    func refusesWrite(to topicName: String) -> Bool { reasons[Access.write.prefix + topicName] != nil }

    // MARK: Subscriptions

    /// The broker does not deliver the messages of a topic filter.
    ///
    /// - Returns: a sentence for the log, if the filter was not refused before.
    mutating func subscriptionRefused(_ topicFilter: String, _ reason: String) -> String? {
        add(.read, topicFilter, reason)
    }

    /// The broker delivers the messages of a topic filter that it has refused before.
    mutating func granted(_ topicFilter: String) { reasons[Access.read.prefix + topicFilter] = nil }

    /// The broker is asked again for all topic filters.
    mutating func subscribesAnew() { forget(.read) }

    // MARK: Helpers

    private mutating func forget(_ access: Access) { reasons = reasons.filter { !$0.key.hasPrefix(access.prefix) } }

    private mutating func add(_ access: Access, _ topic: String, _ reason: String) -> String? {
        let refused = access.prefix + topic
        guard reasons[refused] == nil, reasons.count < Self.maximumCount else { return nil }
        reasons[refused] = reason
        return sentence(refused, reason)
    }

    private func sentence(_ refused: String, _ reason: String) -> String {
        "\(beginning) \(refused): \(reason)\(reason.hasSuffix(Self.advice) ? "" : "; \(Self.advice)")"
    }

    /// The topic of a message with `+` for the button; other topics as they are.
    private static func filter(_ topicName: String) -> String {
        guard let topic = FeedTopic(topicName) else { return topicName }
        let feed = "\(topic.site)/feed"
        return switch topic.kind {
        case .hello: topicName
        case .messages: "\(feed)/+"
        case .cursor: "\(feed)/+/cursor"
        case .done: "\(feed)/+/done"
        case .want: "\(feed)/+/want"
        }
    }
}
