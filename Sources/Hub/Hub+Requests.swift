import ButtonModel
import Buttons
import HomeAssistant
import JSON
import Rules

/// What a request leads to.
enum RequestAnswer: Hashable, Sendable {
    case ok(JSONValue)
    case error(String)

    func line(transaction: JSONValue?) -> JSONValue {
        var members: [JSONValue.Member]
        switch self {
        case .ok(let data): members = [.init("status", "ok"), .init("data", data)]
        case .error(let sentence):
            members = [.init("status", "error"), .init("error", .string(sentence)), .init("data", .object([]))]
        }
        if let transaction { members.append(.init("transaction", transaction)) }
        return .object(members)
    }
}

// What can be asked, over MQTT and over the control socket.
extension Hub {
    mutating func controlLine(_ line: [UInt8], from client: ClientID, at now: Instant) {
        let answer: RequestAnswer
        var transaction: JSONValue?
        do {
            let request = try JSONValue(parsing: line)
            transaction = request["transaction"]
            if let name = request["request"]?.stringValue {
                if name == Hub.reloadRequest {
                    return reload(request["data"] ?? .object([]), for: .client(client, transaction: transaction))
                }
                answer = controlAnswer(name, request["data"] ?? .object([]), from: client, at: now)
            } else {
                answer = .error(#"a request looks like {"request":"status"}"#)
            }
        } catch {
            answer = .error("not JSON: \(error)")
        }
        respond(answer, to: .client(client, transaction: transaction))
        if isRestartWanted { stop(at: now) }
    }

    /// Who asked, and how they know the answer as theirs.
    enum Requester: Hashable, Sendable {
        case client(ClientID, transaction: JSONValue?)
        case mqtt(String, transaction: JSONValue?)
    }

    mutating func respond(_ answer: RequestAnswer, to requester: Requester) {
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

    /// Requests that only the control socket knows.
    private mutating func controlAnswer(
        _ name: String, _ data: JSONValue, from client: ClientID, at now: Instant
    ) -> RequestAnswer {
        switch name {
        case "watch":
            watchers.insert(client)
            return .ok(.object([]))
        case "status": return .ok(status(at: now))
        case "buttons": return .ok(.array(buttons.values.sorted { $0.identity.id < $1.identity.id }.map(describe)))
        case "simulator/press":
            guard let button = data["button"]?.stringValue, let press = data["press"]?.stringValue else {
                return .error(#"data needs "button" and "press""#)
            }
            guard configuration.simulatedButtons.contains(button) else {
                return .error("there is no simulated button \"\(button)\"")
            }
            effects.append(.pressSimulated(button: button, press: press))
            return .ok(.object([]))
        default:
            if let request = RuleRequestName(rawValue: name) { return answer(request, data, at: now) }
            return answer(name, data, isLocal: true, at: now)
        }
    }

    /// Requests that anybody may make.
    mutating func answer(_ name: String, _ data: JSONValue, isLocal: Bool, at now: Instant) -> RequestAnswer {
        if let request = BridgeRequestName(rawValue: name) {
            return answer(request, data, isLocal: isLocal, at: now)
        }
        guard let request = ButtonRequestName(rawValue: name), isLocal || !request.isLocal else {
            return .error("unknown request \"\(name)\"")
        }
        return answer(request, data, isLocal: isLocal, at: now)
    }
}
