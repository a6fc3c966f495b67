import ButtonModel
import MQTTTopics
import TestSupport

@testable import Feed

// The steps of the engine's process.
extension FeedWorld {
    /// Carries out one effect, or hands over one input.
    mutating func stepEngine() {
        guard engine.machine != nil else { return }
        if !engine.effects.isEmpty {
            carryOut(engine.effects.removeFirst())
        } else if !engine.inputs.isEmpty {
            switch engine.inputs.removeFirst() {
            case .machine(let input):
                let wasTaking = engine.machine?.isTaking == true
                engine.effects = engine.machine?.handle(input, at: now) ?? []
                if wasTaking, let term = engine.term, engine.machine?.outrankingTerm ?? 0 > term { lead() }
                if input == .disconnected { failActions() }
                // A leader raises its term within 3 s, and nothing depends on when.
                if engine.machine?.ignoredTerm != nil { lead() }
            case .marker: lead()
            case .acknowledge(let id): network.send(WorldEngine.client, .acknowledge(id: id))
            }
        }
    }

    private mutating func carryOut(_ effect: FeedSource.Effect) {
        switch effect {
        case .record(let position):
            engine.disk[.init(site: position.site, button: position.button)] = position
            noteClaim(of: position)
        case .forget(let site, let button): engine.disk[.init(site: site, button: button)] = nil
        case .publish(let message):
            let id = send(.init(topicName: message.topicName, payload: message.payload, isRetained: message.retain))
            engine.unacknowledged[id] = message.topicName
        case .took(let place, let steps):
            // The action carries the presses, so that the broker's owner knows them.
            let action = FeedMessage(number: place.number, previous: place.number - 1, content: .steps(steps))
            let id = send(.init(topicName: Self.lamp + place.button.description, payload: action.encoded()))
            engine.actions.append(.init(id: id, place: place))
            // The connection may have ended while the effects were carried out.
            if !network.isConnected(WorldEngine.client) { failActions() }
        case .lost(let place, let count):
            _ = send(Self.reportMessage(place, first: place.number - count + 1, Self.lost))
        case .interrupted(let place, let first): _ = send(Self.reportMessage(place, first: first))
        case .beganAnew(let place, let former):
            // A new life of the same installation reports what was claimed in the life before and not done.
            guard FeedLife(place.installation).root != FeedLife(former.installation).root else { break }
            account.interrupted(
                first: 1,
                to: FeedPlace(
                    site: place.site, button: place.button, installation: former.installation, number: former.number))
        case .setTimer(let deadline): engine.timer = deadline
        case .cancelTimer: engine.timer = nil
        case .gaveUp, .inherited, .known, .offline, .removed, .restored, .anomaly: break
        }
    }

    /// Notes which presses the engine has claimed. The message of a new claim is handed over after its record.
    private mutating func noteClaim(of position: FeedPosition) {
        for case .took(let place, let steps) in engine.effects
        where place.button == position.button && place.number == position.claim.number
            && place.installation == position.claim.installation
        {
            account.claimed(steps.presses(of: place.button), as: place)
        }
    }

    /// Leads, as an engine without a stand-by does: always, in a term above all that were heard.
    private mutating func lead() {
        guard let machine = engine.machine, network.isConnected(WorldEngine.client) else { return }
        if engine.term ?? 0 < machine.highestTerm || engine.term == nil { engine.term = machine.highestTerm + 1 }
        _ = send(.init(topicName: Self.state, payload: Array("online".utf8), isRetained: true))
        engine.inputs.append(.machine(.lead(term: engine.term ?? 1)))
    }

    /// The connection has ended: actions that the broker has not acknowledged are reported, and not sent again.
    private mutating func failActions() {
        for action in engine.actions {
            account.interrupted(first: action.place.number, to: action.place)
            engine.inputs.append(.machine(.settled(action.place)))
        }
        engine.actions = []
        engine.unacknowledged = [:]
    }

    private mutating func send(_ message: SimulatedBroker.Message) -> Int {
        network.send(WorldEngine.client, .publish(message, id: engine.nextID))
        engine.nextID += 1
        return engine.nextID - 1
    }

    mutating func engineReceived(_ answer: SimulatedBroker.Answer) {
        guard engine.machine != nil else { return }
        switch answer {
        case .connected:
            engine.inputs.append(.machine(.connected))
            network.send(WorldEngine.client, .subscribe(FeedTopic.filters(ofSites: "tryck/+") + [Self.marker]))
            _ = send(.init(topicName: Self.marker, payload: [], qos: 0))
        case .message(let message, let id, _):
            if message.topicName == Self.marker {
                engine.inputs.append(.marker)
            } else {
                let age = message.expiry.map { FeedUplink.expiry - $0 } ?? .zero
                engine.inputs.append(
                    .machine(
                        .received(topicName: message.topicName, payload: message.payload, brokerAge: age)))
            }
            if message.qos > 0 { engine.inputs.append(.acknowledge(id)) }
        case .acknowledged(let id):
            if let topicName = engine.unacknowledged.removeValue(forKey: id) {
                engine.inputs.append(.machine(.acknowledged(topicName: topicName)))
            }
            guard let index = engine.actions.firstIndex(where: { $0.id == id }) else { return }
            // The broker acknowledges in order, so all actions before it are out as well.
            let place = engine.actions.remove(at: index).place
            engine.inputs.append(.machine(.settled(place)))
        case .subscribed: break
        }
    }
}
