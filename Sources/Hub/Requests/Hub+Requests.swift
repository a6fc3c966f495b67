import ButtonModel
import Expressions
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
            if let refusal = answer.refusal { publishRefusal(refusal, of: broker.topics.request(name)) }
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
        RequestKind(name: ControlRequestName.watch.rawValue, privilege: .owner) { hub, _, context in
            guard case .client(let client, _) = context.requester else { return .ok(.object([])) }
            hub.control.watch(client)
            return .ok(.object([]))
        },
        RequestKind(name: ControlRequestName.status.rawValue, privilege: .owner) { hub, _, context in
            .ok(hub.status(at: context.now))
        },
        RequestKind(name: ControlRequestName.buttons.rawValue, privilege: .owner) { hub, _, _ in
            .ok(.array(hub.buttons.sorted.map(hub.describe)))
        },
        RequestKind(name: ControlRequestName.pressSimulated.rawValue, privilege: .owner) { hub, data, _ in
            hub.pressSimulated(data)
        },
    ]

    /// Presses a simulated button. The member `models` of the data lists the models that can do this, because the hub does not
    /// know what a simulated button can do; without it, a model does what it can, such as a click for a swipe.
    private mutating func pressSimulated(_ data: JSONValue) -> RequestAnswer {
        guard let text = data["button"]?.stringValue, let press = data["press"]?.stringValue else {
            return .error(#"data needs "button" and "press""#)
        }
        let found = simulatedButtons(called: text)
        guard let button = found.first else { return .error(noSimulatedButton(called: text)) }
        guard found.count == 1 else {
            return .error("\(found.count) simulated buttons are called \"\(text)\"; use a serial number")
        }
        if let models = data["models"]?.arrayValue, let model = configuration.simulatedIdentities[button]?.model,
            !models.contains(.string(model.rawValue))
        {
            return .error("\(button) is a \(model.productName), which has no \(press)")
        }
        emit(.pressSimulated(button: button, press: press))
        return .ok(["button": .string(button), "press": .string(press)])
    }

    /// The simulated buttons that a request names, as names of the simulator file. If the file has no button with this name, the
    /// text is resolved as in other requests, and as the name of a button in the rules.
    private func simulatedButtons(called text: String) -> [String] {
        guard !configuration.simulatedButtons.contains(text) else { return [text] }
        let known = Set(buttons.buttons(called: text) { label(of: $0) })
        let declared = rules.set.buttons.first { $0.name == text }?.hardware
        let lowercase = text.lowercased()
        return configuration.simulatedIdentities.filter { _, identity in
            known.contains(identity.id) || declared?.matches(identity) ?? false
                || [identity.id.description, identity.address.description.lowercased(), identity.serial.lowercased()]
                    .contains(lowercase)
        }.keys.sorted()
    }

    private func noSimulatedButton(called text: String) -> String {
        let names = configuration.simulatedButtons.sorted()
        guard !names.isEmpty else {
            return "there is no simulated button \"\(text)\"; the transport is not simulated"
        }
        // Buttons of the rules that are not simulated are of no help.
        let declared = rules.set.buttons.filter { button in
            configuration.simulatedIdentities.values.contains(where: button.hardware.matches)
        }
        let near = Suggestions.nearest(to: text, among: names + declared.map(\.name))
        return "there is no simulated button \"\(text)\"; "
            + (near.map { "did you mean \"\($0)\"?" }
                ?? "the simulated buttons are \(names.prefix(20).joined(separator: ", "))")
    }
}

extension Hub.Effect {
    fileprivate var isChangeOfStore: Bool {
        if case .record(_, let changes) = self { !changes.isEmpty } else { false }
    }
}
