import ButtonModel
import Edges
import Hub
import Logging
import MQTTTopics
import Platform
import Reactor
import Settings
import Setup

// Starts and uses the broker that the configuration names.
extension Daemon {
    func startBroker() {
        switch setup.configuration.broker {
        case .none: return
        case .embedded:
            // An abstract control socket has no directory.
            let runtimeDirectory =
                setup.controlSocket.hasPrefix("@")
                ? nil : SystemEnvironment.directory(of: setup.controlSocket) + "/broker"
            stopBroker = trialParts?.broker(
                loop, setup.stateDirectory + "/broker", runtimeDirectory,
                { [weak self] in self?.embeddedBrokerReady($0) },
                { [weak self] in self?.deliver(.brokerDisconnected($0)) })
        case .tcp, .unix:
            if let endpoint = MQTTOptions.Endpoint(setup.configuration, in: setup.directory) { connect(to: endpoint) }
        }
    }

    func publish(_ id: MessageID, _ message: MQTTMessage, _ expiry: Duration?) {
        guard let mqtt else { return deliver(.publishFailed(id, "there is no broker yet")) }
        mqtt.publish(
            id: id.number, topicName: message.topicName, payload: message.payload, qos: message.qos,
            retain: message.retain,
            expiry: expiry)
    }

    /// Connects at once, also after mosquitto was started again, instead of when the next attempt of the old edge is due.
    private func embeddedBrokerReady(_ path: String) {
        deliver(.brokerAddress("unix:\(path)"))
        // The closure keeps the old edge alive until it has disconnected.
        if let mqtt { mqtt.disconnect { withExtendedLifetime(mqtt) {} } }
        connect(to: .unix(path: path))
    }

    private func connect(to endpoint: MQTTOptions.Endpoint) {
        let configuration = setup.configuration
        let options = MQTTOptions(
            configuration, endpoint: endpoint,
            clientIdentifier: configuration.mqttClientIdentifier ?? "tryck_" + runner.hub.installationID,
            will: runner.hub.offlineMessage)
        let mqtt = MQTTEdge(loop: loop, options: options, seed: SystemEnvironment.randomSeed) { [weak self] in
            self?.brokerReported($0)
        }
        self.mqtt = mqtt
        mqtt.connect()
    }

    private func brokerReported(_ event: MQTTEvent) {
        switch event {
        case .connected: deliver(.brokerConnected)
        case .disconnected(let failure):
            if failure.isMalformedPacket { deliver(.brokerSentMalformedPacket) }
            deliver(.brokerDisconnected("\(failure)"))
        case .published(let id): deliver(.published(MessageID(number: id)))
        case .publishFailed(let id, let reason): deliver(.publishFailed(MessageID(number: id), reason))
        case .message(let topicName, let payload, let retained, _):
            deliver(.messageReceived(topicName: topicName, payload: payload, retained: retained))
        case .subscribeFailed(let topicFilter, let reason):
            deliver(.subscriptionRefused(topicFilter: topicFilter, reason: reason))
        case .subscribed(let topicFilter): log(.info, "the broker grants the subscription to \(topicFilter) now")
        case .dropped(let reason): deliver(.messageDropped(reason))
        case .expiringMessage(let topicName, let payload, let retained, let remaining):
            deliver(
                .expiringMessageReceived(
                    topicName: topicName, payload: payload, retained: retained, remaining: remaining))
        }
    }
}
