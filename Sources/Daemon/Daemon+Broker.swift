import ButtonModel
import HomeAssistant
import Hub
import Logging
import Reactor
import RuleLoader

// The broker the configuration names.
extension Daemon {
    func startBroker() {
        switch setup.configuration.broker {
        case .none: return
        case .embedded:
            let broker = EmbeddedBroker(
                loop: loop, directory: setup.stateDirectory + "/broker", seed: Surroundings.randomSeed
            ) { [weak self] event in
                switch event {
                case .ready(let path): self?.embeddedBrokerReady(path)
                case .failed(let reason): self?.deliver(.brokerDisconnected(reason))
                }
            }
            self.broker = broker
            broker.start()
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

    /// Also when it has come back after it died: the connection is made at once, not when the next attempt is due.
    private func embeddedBrokerReady(_ path: String) {
        deliver(.brokerAddress("unix:\(path)"))
        // The edge lives until it is done with the broker that is no more.
        if let mqtt { mqtt.disconnect { withExtendedLifetime(mqtt) {} } }
        connect(to: .unix(path: path))
    }

    private func connect(to endpoint: MQTTOptions.Endpoint) {
        let configuration = setup.configuration
        let offline = hub.offlineMessage
        let options = MQTTOptions(
            configuration, endpoint: endpoint,
            clientIdentifier: configuration.mqttClientIdentifier ?? "tryck_" + hub.installationID,
            will: MQTTWill(
                topicName: offline.topicName, payload: offline.payload, qos: offline.qos, retain: offline.retain))
        let mqtt = MQTTEdge(loop: loop, options: options, seed: Surroundings.randomSeed) { [weak self] in
            self?.brokerSaid($0)
        }
        self.mqtt = mqtt
        mqtt.connect()
    }

    private func brokerSaid(_ event: MQTTEvent) {
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
            logger.error("the broker refuses to send \(topicFilter): \(reason)")
        case .dropped(let reason): deliver(.messageDropped(reason))
        }
    }
}
