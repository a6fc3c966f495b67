import ButtonModel
import JSON
import MQTTTopics
import Rules

// The router of requests, for the control socket and MQTT alike.
extension Hub {
    /// Every request, by its name.
    static let requests = Dictionary(
        uniqueKeysWithValues: [
            controlRequests, bridgeRequests, radioRequests, pairingRequests, buttonRequests, ruleRequests,
            reloadRequests,
        ].joined().map { ($0.name, $0) })

    /// Finds the request's kind, checks whether the caller may make it, and sends the answer.
    private mutating func route(_ request: ControlPlane.Request, at now: Instant) {
        let context = RequestContext(requester: request.requester, privilege: request.privilege, now: now)
        var answer: RequestAnswer
        let earlierEffects = effects.count
        if let kind = Hub.requests[request.name], context.isLocal || kind.privilege != .owner {
            answer =
                context.privilege >= kind.privilege
                ? kind.answer(&self, request.data, context)
                : .error("a \(request.name) over MQTT needs control.mqtt: all in tryck.yaml")
        } else {
            answer = .error("unknown request \"\(request.name)\"")
        }
        // A success would promise that a restart does not undo the change.
        if journal.isRecordLost, case .ok = answer, let fault = journal.fault,
            effects[earlierEffects...].contains(where: \.isChangeOfStore)
        {
            answer = .error("in effect, and not stored yet: \(fault)")
        }
        respond(answer, to: context.requester)
        if answer == .restarting { stop(isRestart: true, at: now) }
    }

    mutating func respond(_ answer: RequestAnswer, to requester: Requester) {
        guard answer != .later else { return }
        switch requester {
        case .client(let client, let transaction):
            emit(.respond(client, answer.line(transaction: transaction)))
        case .mqtt(let name, let transaction):
            publishAnswer(answer.line(transaction: transaction), to: name)
            if case .error(let sentence) = answer { publishRefusal(sentence, of: broker.topics.request(name)) }
        }
    }

    /// Publishes that a message on that topic was refused. Home Assistant shows it, because it ignores answers.
    mutating func publishRefusal(_ sentence: String, of topicName: String) {
        guard broker.isConnected, refusals.admits(at: handledAt) else { return }
        let data: JSONValue = ["topic": .string(topicName), "message": .string(redaction(sentence))]
        publishIfConnected(broker.topics.bridgeMessage(Discovery.refusal, data))
    }

    /// Answers what a client of the control socket or of the broker asks for.
    mutating func serve(_ incoming: ControlPlane.Incoming, at now: Instant) {
        switch incoming {
        case .request(let request): route(request, at: now)
        case .button(let request, let topicName, let payload):
            buttonMessageReceived(request, topicName, payload, at: now)
        case .rule(let request, let topicName, let payload):
            ruleMessageReceived(request, topicName, payload, at: now)
        case .refused(let answer, let requester): respond(answer, to: requester)
        case .ignored(let line, let sentence): log(line, .warning, sentence, at: now)
        }
    }

    // MARK: Requests that only the control socket knows

    private static let controlRequests: [RequestKind] = [
        RequestKind(ControlRequestName.watch, privilege: .owner) { hub, _, context in
            guard case .client(let client, _) = context.requester else { return .ok(.object([])) }
            hub.control.watch(client)
            return .ok(.object([]))
        },
        RequestKind(ControlRequestName.status, privilege: .owner) { hub, _, context in
            .ok(hub.status(at: context.now))
        },
        RequestKind(ControlRequestName.buttons, privilege: .owner) { hub, _, _ in
            .ok(.array(hub.buttons.sorted.map(hub.describe)))
        },
        RequestKind(ControlRequestName.pressSimulated, privilege: .owner) { hub, data, _ in
            hub.pressSimulated(data)
        },
    ]

    private mutating func pressSimulated(_ data: JSONValue) -> RequestAnswer {
        guard let button = data["button"]?.stringValue, let press = data["press"]?.stringValue else {
            return .error(#"data needs "button" and "press""#)
        }
        guard configuration.simulatedButtons.contains(button) else {
            let names = configuration.simulatedButtons.sorted().prefix(20).joined(separator: ", ")
            let others = names.isEmpty ? "the transport is not simulated" : "the simulated buttons are \(names)"
            return .error("there is no simulated button \"\(button)\"; \(others)")
        }
        emit(.pressSimulated(button: button, press: press))
        return .ok(.object([]))
    }
}

extension Hub.Effect {
    fileprivate var isChangeOfStore: Bool {
        if case .record(_, let changes) = self { !changes.isEmpty } else { false }
    }
}
