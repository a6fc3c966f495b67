import ButtonModel
import Edges
import Hub
import MQTTTopics
import Platform
import Settings
import Setup

// Carries out the commands to the connection to the broker of `uplink:`, and reports its events to the hub.
extension Daemon {
    func carryOut(_ effect: UplinkEffect) {
        switch effect {
        case .connect: connectUplink()
        case .subscribe(let topicFilters): uplink?.subscribe(topicFilters.map { Subscription($0, qos: 1) })
        case .publish(let message, let expiry):
            uplinkMessages &+= 1
            uplinkTopics[uplinkMessages] = message.topicName
            uplink?.publish(
                id: uplinkMessages, topicName: message.topicName, payload: message.payload, qos: message.qos,
                retain: message.retain, expiry: expiry)
        }
    }

    private func connectUplink() {
        guard let configuration = setup.configuration.uplink,
            let options = MQTTOptions(
                configuration, in: setup.directory, installationID: runner.hub.installationID,
                will: runner.hub.uplinkWill)
        else { return }
        let uplink = MQTTEdge(loop: loop, options: options, seed: SystemEnvironment.randomSeed) { [weak self] event in
            guard let self else { return }
            switch event {
            case .connected: deliver(.uplink(.connected(knowsExpiry: self.uplink?.version == .v5)))
            case .disconnected(let failure):
                uplinkTopics = [:]
                deliver(.uplink(.disconnected("\(failure)")))
            case .message(let topicName, let payload, _, _), .expiringMessage(let topicName, let payload, _, _):
                deliver(.uplink(.received(topicName: topicName, payload: payload)))
            case .subscribeFailed(let topicFilter, let reason):
                deliver(.uplink(.subscriptionRefused(topicFilter: topicFilter, reason)))
            case .subscribed(let topicFilter): deliver(.uplink(.subscriptionGranted(topicFilter: topicFilter)))
            case .publishFailed(let id, let reason):
                log(.debug, "uplink: \(reason)")
                if let topicName = uplinkTopics.removeValue(forKey: id) {
                    deliver(.uplink(.refused(topicName: topicName, reason)))
                }
            case .dropped(let reason): log(.debug, "uplink: \(reason)")
            // For presses, the acknowledgement of the broker is not needed: the journal keeps an entry until an engine has claimed it.
            case .published(let id): uplinkTopics[id] = nil
            }
        }
        self.uplink = uplink
        uplink.connect()
    }
}
