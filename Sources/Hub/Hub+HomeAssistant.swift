import ButtonModel
import Gestures
import JSON
import MQTTTopics
import Rules

// Home Assistant discovers the bridge and its buttons by retained messages on their config topics (MQTT discovery).
extension Hub {
    func device(of record: ButtonRecord) -> ButtonDevice {
        let identity = record.identity
        return ButtonDevice(
            id: identity.id, address: identity.address, name: record.displayName, serial: identity.serial,
            firmwareVersion: identity.firmwareVersion, model: identity.model,
            clickCounts: Set(
                rules.listening(to: identity.id).gestures.filter { !$0.contains(.long) }.map(\.count).filter { $0 > 2 }
            ),
            hasFirmwareFile: firmwareFile(for: record) != nil, usedDials: usedDials(of: identity))
    }

    /// The dials whose rotation triggers a rule. For the dial of a Twist, all its slots are included.
    private func usedDials(of identity: ButtonIdentity) -> Set<Dial> {
        let parts = rules.turnedParts(of: identity.id)
        return Set(
            Dial.all(of: identity.model).filter { dial in
                switch dial {
                case .part(let part): parts.contains(part)
                case .slot: parts.contains(.dial)
                case .free: parts.contains(.push)
                }
            })
    }

    /// Announces buttons whose names, used gestures or available firmware have changed.
    mutating func invalidateDevices(at now: Instant) {
        guard broker.announcements.isEnabled, broker.isConnected else { return }
        for record in buttons.sorted {
            let button = record.identity.id
            guard let before = broker.announcements.device(of: button), before != device(of: record) else { continue }
            invalidateDebounced(.config(button), at: now)
        }
    }

    /// - Returns: whether the message was on one of the topics of `Announcements.filters`.
    mutating func homeAssistantSaid(_ topicName: String, _ payload: [UInt8], retained isRetained: Bool, at now: Instant)
        -> Bool
    {
        switch broker.announcements.heard(topicName, payload, isRetained: isRetained) {
        case nil: return false
        case .other: break
        case .homeAssistantStarted: deadlines.set(.announce, at: now + broker.announcements.delay(at: now))
        case .config(let topic):
            var device: ButtonDevice?
            if case .config(let button) = topic { device = buttons[button].map { self.device(of: $0) } }
            if broker.configSeen(topic, payload, isRetained: isRetained, of: device) {
                log(
                    .info, "a device was deleted in Home Assistant; it is not announced again until tryckd is restarted"
                )
            }
        }
        return true
    }

    mutating func announceAgain() {
        guard broker.announcements.isEnabled else { return }
        invalidate(.bridgeConfig)
        for button in buttons.keys.sorted() { invalidate(.config(button)) }
    }
}
