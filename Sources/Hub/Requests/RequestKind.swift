import ButtonModel
import JSON
import Rules

/// The requester, its privilege, and the time of the request.
struct RequestContext: Sendable {
    var requester: Hub.Requester
    var privilege: Privilege
    var now: Instant

    /// True if the request came over the control socket.
    var isLocal: Bool {
        switch requester {
        case .client: true
        case .mqtt: false
        }
    }
}

/// A kind of request: its name, the privilege that it needs, and the function that answers it.
///
/// Each file with functions that answer requests lists them in a table of its own, which `Hub.requests` joins.
struct RequestKind: Sendable {
    /// Over MQTT, the request's topic ends with it: `bridge/request/NAME`. The `RequestName`s are those that our own programs
    /// send.
    var name: String
    var privilege: Privilege
    var answer: @Sendable (inout Hub, JSONValue, RequestContext) -> RequestAnswer
}

/// The answer to a request.
enum RequestAnswer: Hashable, Sendable {
    case ok(JSONValue)
    case error(String)
    /// The rule files have errors, or do not pass their tests. The problems are those of `bridge/rules`.
    case refusedRules(String, problems: [JSONValue])
    /// The daemon restarts when the answer has been sent.
    case restarting
    /// The hub answers with `respond` when it knows the answer.
    case later

    /// Why the request was refused; `nil` if it was not.
    var refusal: String? {
        switch self {
        case .error(let sentence), .refusedRules(let sentence, _): sentence
        case .ok, .restarting, .later: nil
        }
    }

    /// The answer with a further sentence for the user, such as why a setting was stored in another form. Only an answer with the
    /// data of an object can have one.
    func withNote(_ sentence: String) -> RequestAnswer {
        guard case .ok(.object(let members)) = self else { return self }
        return .ok(.object(members + [JSONValue.Member("note", .string(sentence))]))
    }

    /// The answer as clients get it. There is none for `later`.
    func line(transaction: JSONValue?) -> JSONValue {
        var members: [JSONValue.Member]
        switch self {
        case .ok(let data): members = [.init("status", "ok"), .init("data", data)]
        case .restarting, .later: members = [.init("status", "ok"), .init("data", .object([]))]
        case .error(let sentence):
            members = [.init("status", "error"), .init("error", .string(sentence)), .init("data", .object([]))]
        case .refusedRules(let sentence, let problems):
            members = [
                .init("status", "error"), .init("error", .string(sentence)),
                .init("data", ["problems": .array(problems)]),
            ]
        }
        if let transaction { members.append(.init("transaction", transaction)) }
        return .object(members)
    }
}

extension Hub {
    /// The client that gets an answer, and the value by which it recognises the answer.
    enum Requester: Hashable, Sendable {
        case client(ClientID, transaction: JSONValue?)
        case mqtt(String, transaction: JSONValue?)
    }
}
