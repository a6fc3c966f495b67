import ButtonModel
import JSON
import MQTTTopics
import Rules

/// What a caller may ask for. Each privilege includes those before it.
enum Privilege: Int, CaseIterable, Comparable, Sendable {
    /// To look at everything that is not secret.
    case read
    /// Pairing, names and options, as with `control.mqtt: settings`.
    case settings
    /// Rules, variables and a restart, as with `control.mqtt: all`.
    case all
    /// Everything: the owner of the machine, over the control socket.
    case owner

    /// The privilege of those who may publish to the broker; `nil` if they have none.
    init?(_ control: MQTTControl) {
        switch control {
        case .none: return nil
        case .settings: self = .settings
        case .all: self = .all
        }
    }

    static func < (left: Privilege, right: Privilege) -> Bool { left.rawValue < right.rawValue }
}

/// Who asks, with which privilege, and when.
struct RequestContext: Sendable {
    var requester: Hub.Requester
    var privilege: Privilege
    var now: Instant

    /// Whether the request came over the control socket.
    var isLocal: Bool {
        switch requester {
        case .client: true
        case .mqtt: false
        }
    }
}

/// One kind of request: its name, who may make it, and what answers it.
///
/// Each file with functions that answer requests lists them in a table of its own, which `Hub.requests` joins.
struct RequestKind: Sendable {
    /// Over MQTT, the request's topic ends with it.
    var name: String
    var privilege: Privilege
    /// Whether `bridge/request/NAME` takes the request. Without it, only the control socket knows the name.
    var isOnBridge = true
    var answer: @Sendable (inout Hub, JSONValue, RequestContext) -> RequestAnswer
}

/// What a request leads to.
enum RequestAnswer: Hashable, Sendable {
    case ok(JSONValue)
    case error(String)
    /// The daemon restarts when the answer has been sent.
    case restarting
    /// The hub answers with `respond` when it knows the answer.
    case later

    /// The answer as clients get it. There is none for `later`.
    func line(transaction: JSONValue?) -> JSONValue {
        var members: [JSONValue.Member]
        switch self {
        case .ok(let data): members = [.init("status", "ok"), .init("data", data)]
        case .restarting, .later: members = [.init("status", "ok"), .init("data", .object([]))]
        case .error(let sentence):
            members = [.init("status", "error"), .init("error", .string(sentence)), .init("data", .object([]))]
        }
        if let transaction { members.append(.init("transaction", transaction)) }
        return .object(members)
    }
}

// The one router of requests, for the control socket and MQTT alike.
extension Hub {
    /// Who asked, and how they recognise the answer.
    enum Requester: Hashable, Sendable {
        case client(ClientID, transaction: JSONValue?)
        case mqtt(String, transaction: JSONValue?)
    }

    /// Every request, by its name.
    static let requests = Dictionary(
        uniqueKeysWithValues: (controlRequests + bridgeRequests + buttonRequests + ruleRequests + reloadRequests).map {
            ($0.name, $0)
        })

    /// Finds the request's kind, checks whether the caller may make it, and sends the answer.
    mutating func route(_ name: String, _ data: JSONValue, _ context: RequestContext) {
        var answer: RequestAnswer
        let earlierEffects = effects.count
        if let kind = Hub.requests[name], context.isLocal || kind.isOnBridge {
            answer =
                context.privilege >= kind.privilege
                ? kind.answer(&self, data, context)
                : .error("a \(name) over MQTT needs control.mqtt: all in tryck.yaml")
        } else {
            answer = .error("unknown request \"\(name)\"")
        }
        // A success would promise that a restart does not undo the change.
        if journal.isRecordLost, case .ok = answer, let fault = journal.fault,
            effects[earlierEffects...].contains(where: \.isChangeOfStore)
        {
            answer = .error("in effect, and not stored yet: \(fault)")
        }
        respond(answer, to: context.requester)
        if answer == .restarting { stop(isRestart: true, at: context.now) }
    }

    mutating func respond(_ answer: RequestAnswer, to requester: Requester) {
        guard answer != .later else { return }
        switch requester {
        case .client(let client, let transaction):
            effects.append(.respond(client, answer.line(transaction: transaction)))
        case .mqtt(let name, let transaction):
            publish(
                MQTTMessage(
                    topicName: topics.response(to: name), payload: answer.line(transaction: transaction).encoded(),
                    qos: 1))
        }
    }

    /// One line of the control socket.
    mutating func controlLine(_ line: [UInt8], from client: ClientID, at now: Instant) {
        do {
            let request = try JSONValue(parsing: line)
            let requester = Requester.client(client, transaction: request["transaction"])
            guard let name = request["request"]?.stringValue else {
                return respond(.error(#"a request looks like {"request":"status"}"#), to: requester)
            }
            route(
                name, request["data"] ?? .object([]),
                RequestContext(requester: requester, privilege: .owner, now: now))
        } catch {
            respond(.error("not JSON: \(error)"), to: .client(client, transaction: nil))
        }
    }

    /// A message on `bridge/request/NAME`.
    mutating func bridgeRequest(_ name: String, _ payload: [UInt8], _ privilege: Privilege, at now: Instant) {
        do {
            let data = payload.isEmpty ? .object([]) : try JSONValue(parsing: payload)
            let requester = Requester.mqtt(name, transaction: data["transaction"])
            route(name, data, RequestContext(requester: requester, privilege: privilege, now: now))
        } catch {
            respond(.error("the payload is not JSON: \(error)"), to: .mqtt(name, transaction: nil))
        }
    }

    // MARK: Requests that only the control socket knows

    private static let controlRequests: [RequestKind] = [
        RequestKind(name: "watch", privilege: .read, isOnBridge: false) { hub, _, context in
            guard case .client(let client, _) = context.requester else { return .ok(.object([])) }
            hub.watchers.insert(client)
            return .ok(.object([]))
        },
        RequestKind(name: "status", privilege: .read, isOnBridge: false) { hub, _, context in
            .ok(hub.status(at: context.now))
        },
        RequestKind(name: "buttons", privilege: .read, isOnBridge: false) { hub, _, _ in
            .ok(.array(hub.buttons.sorted.map(hub.describe)))
        },
        RequestKind(name: "simulator/press", privilege: .owner, isOnBridge: false) { hub, data, _ in
            hub.pressSimulated(data)
        },
    ]

    private mutating func pressSimulated(_ data: JSONValue) -> RequestAnswer {
        guard let button = data["button"]?.stringValue, let press = data["press"]?.stringValue else {
            return .error(#"data needs "button" and "press""#)
        }
        guard configuration.simulatedButtons.contains(button) else {
            return .error("there is no simulated button \"\(button)\"")
        }
        effects.append(.pressSimulated(button: button, press: press))
        return .ok(.object([]))
    }
}

extension Hub.Effect {
    fileprivate var isChangeOfStore: Bool {
        if case .record(_, let changes) = self { !changes.isEmpty } else { false }
    }
}
