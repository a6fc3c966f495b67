import ButtonModel
import Gestures
import JSON
import MQTTTopics
import Rules

// MQTT discovery: the devices that are announced to Home Assistant.
extension Hub {
    /// - Returns: whether the message was on one of the topics of `BrokerQueue.discoveryFilters`.
    mutating func discoveryMessageReceived(
        _ topicName: String, _ payload: [UInt8], retained isRetained: Bool, at now: Instant
    ) -> Bool {
        switch broker.discoveryMessage(topicName, payload, isRetained: isRetained) {
        case nil: return false
        case .other: break
        case .homeAssistantStarted: setTimer(.announce, at: now + broker.announcementDelay(at: now))
        case .config(let topic):
            if broker.configSeen(topic, payload, isRetained: isRetained, of: device(of: topic)) {
                log(
                    .info, "a device was deleted in Home Assistant; it is not announced again until tryckd is restarted"
                )
            }
        }
        return true
    }

    func device(of record: ButtonRecord) -> ButtonDevice {
        let identity = record.identity
        let listening = rules.listening(to: identity.id)
        return ButtonDevice(
            id: identity.id, address: identity.address, name: record.displayName, serial: identity.serial,
            firmwareVersion: identity.firmwareVersion, model: identity.model,
            clickCounts: Set(
                listening.gestures.filter { !$0.contains(.long) }.map(\.count).filter { $0 > 2 }),
            hasFirmwareFile: firmwareFile(for: record) != nil, usedDials: usedDials(of: identity),
            fixedTriggerMode: listening.isFixed ? listening.mode : nil,
            isRemote: record.source.map { EngineFeed.isSite(source: $0) } ?? false)
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
        guard broker.announcesDevices, broker.isConnected else { return }
        for button in buttons.keys.sorted() { invalidateDevice(of: button, at: now) }
    }

    /// Announces a button if its name, its used gestures or its available firmware have changed.
    mutating func invalidateDevice(of button: ButtonID, at now: Instant) {
        guard broker.announcesDevices, broker.isConnected, let record = buttons[button],
            let before = broker.announcedDevice(of: button), before != device(of: record)
        else { return }
        invalidateDebounced(.config(button), at: now)
    }

    /// True if the bridge is announced to Home Assistant. A first start that cannot store the bridge's id on the disk has another
    /// id at the next start, and Home Assistant would keep a device with the first id.
    var announcesBridge: Bool { broker.announcesDevices && journal.isRecordOnDisk }

    /// Publishes the announcements again, because Home Assistant has restarted.
    mutating func announceAgain() {
        guard broker.announcesDevices else { return }
        if announcesBridge { invalidate(.bridgeConfig) }
        for button in buttons.keys.sorted() { invalidate(.config(button)) }
    }

    /// The device that a config topic announces; `nil` for the bridge and for a button that is not known.
    func device(of topic: RetainedTopic) -> ButtonDevice? {
        guard case .config(let button) = topic else { return nil }
        return buttons[button].map { device(of: $0) }
    }
}
