import JSON
import MQTTTopics

/// Reads requests of the control socket and of MQTT, decides who may make them, and lists the clients that watch.
struct ControlPlane: Sendable {
    /// A request, and who makes it.
    struct Request: Hashable, Sendable {
        var name: String
        var data: JSONValue
        var requester: Hub.Requester
        var privilege: Privilege
    }

    /// The meaning of a line of the control socket, or of a message of the broker.
    enum Incoming: Hashable, Sendable {
        case request(Request)
        /// A request on a topic of one button.
        case button(ButtonTopicRequest, topicName: String, payload: [UInt8])
        /// A request on a topic of a rule or variable.
        case rule(RuleRequest, topicName: String, payload: [UInt8])
        /// The requester gets this answer at once.
        case refused(RequestAnswer, Hub.Requester)
        /// The request has no requester who could be answered, so the log tells why it is ignored.
        case ignored(OutsideLine, String)
    }

    /// The maximum length of a request over MQTT in octets. Requests that people write have some dozens. A longer one is
    /// refused without being parsed, because a flood of long requests would delay presses.
    static let maximumRequestLength = 16 * 1024

    private let topics: Topics
    private let control: MQTTControl
    private var watchers: Set<Hub.ClientID> = []

    init(_ configuration: HubConfiguration) {
        topics = Topics(base: configuration.baseTopic)
        control = configuration.control
    }

    // MARK: Clients that watch

    var isWatched: Bool { !watchers.isEmpty }
    /// The clients that watch, in the order of their ids.
    var audience: [Hub.ClientID] { watchers.sorted() }

    mutating func watch(_ client: Hub.ClientID) { watchers.insert(client) }

    /// The client has closed its connection.
    mutating func gone(_ client: Hub.ClientID) { watchers.remove(client) }

    // MARK: Requests

    /// Reads one line of the control socket.
    func read(_ line: [UInt8], from client: Hub.ClientID) -> Incoming {
        do {
            let request = try JSONValue(parsing: line)
            let requester = Hub.Requester.client(client, transaction: request["transaction"])
            guard let name = request["request"]?.stringValue else {
                return .refused(.error(#"a request looks like {"request":"status"}"#), requester)
            }
            return .request(
                Request(
                    name: name, data: request["data"] ?? .object([]), requester: requester, privilege: .owner))
        } catch {
            return .refused(.error("not JSON: \(error)"), .client(client, transaction: nil))
        }
    }

    /// Reads a message of the broker; `nil` if it is no request, or requests like it are not permitted.
    ///
    /// - Parameter isRetained: whether the broker had retained the message. Such a request is ignored, because it would be
    ///   repeated at every connection.
    func read(_ topicName: String, _ payload: [UInt8], isRetained: Bool) -> Incoming? {
        if control != .none, let request = topics.buttonRequest(of: topicName) {
            return unreadable(topicName, payload, isRetained: isRetained)
                ?? .button(request, topicName: topicName, payload: payload)
        }
        if control == .all, let request = topics.ruleRequest(of: topicName) {
            return unreadable(topicName, payload, isRetained: isRetained)
                ?? .rule(request, topicName: topicName, payload: payload)
        }
        guard let privilege = Privilege(control), let name = topics.request(of: topicName) else { return nil }
        guard !isRetained else { return Self.retained(topicName) }
        guard payload.count <= Self.maximumRequestLength else {
            return .refused(.error(Self.tooLong(payload)), .mqtt(name, transaction: nil))
        }
        do {
            let data = payload.isEmpty ? .object([]) : try JSONValue(parsing: payload)
            let requester = Hub.Requester.mqtt(name, transaction: data["transaction"])
            return .request(Request(name: name, data: data, requester: requester, privilege: privilege))
        } catch {
            return .refused(.error("the payload is not JSON: \(error)"), .mqtt(name, transaction: nil))
        }
    }

    /// Why a request on a topic without answers is ignored; `nil` if it is read.
    private func unreadable(_ topicName: String, _ payload: [UInt8], isRetained: Bool) -> Incoming? {
        guard payload.count <= Self.maximumRequestLength else {
            return .ignored(.longRequest, "\(topicName): \(Self.tooLong(payload))")
        }
        return isRetained ? Self.retained(topicName) : nil
    }

    private static func retained(_ topicName: String) -> Incoming {
        .ignored(.retainedRequest, "\(topicName): a retained request is ignored; clear the topic")
    }

    private static func tooLong(_ payload: [UInt8]) -> String {
        "a request has at most \(maximumRequestLength >> 10) KiB, and this one has \(payload.count) octets"
    }

    /// The topic filters of requests.
    var filters: [String] {
        switch control {
        case .none: []
        case .settings: [topics.requestFilter] + topics.buttonFilters
        case .all: [topics.requestFilter] + topics.buttonFilters + topics.ruleFilters
        }
    }
}
