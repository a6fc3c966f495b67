package import ButtonModel
package import JSON

/// What is published for one event of a button.
package struct PressReport: Hashable, Sendable {
    package var button: ButtonID
    /// The name people gave it.
    package var name: String
    /// Counts the events of this button, kept across restarts, so that a consumer can drop duplicates.
    package var sequence: Int64
    /// Counts its `down`s, likewise.
    package var pressCount: Int64
    package var at: UTCTime
    package var wasQueued: Bool
    package var age: Duration

    package init(
        button: ButtonID, name: String, sequence: Int64, pressCount: Int64, at: UTCTime, wasQueued: Bool, age: Duration
    ) {
        self.button = button
        self.name = name
        self.sequence = sequence
        self.pressCount = pressCount
        self.at = at
        self.wasQueued = wasQueued
        self.age = age
    }

    /// The JSON of `/event` and `/raw`.
    fileprivate func payload(_ word: String) -> JSONValue {
        [
            "event_type": .string(word), "id": .string(button.description), "name": .string(name),
            "seq": .integer(sequence), "ts": .string(at.description), "queued": .bool(wasQueued),
            "age_ms": .integer(age.milliseconds), "press_count": .integer(pressCount),
        ]
    }
}

extension Topics {
    /// A gesture is published twice: the bare word for device triggers, then JSON for everything else.
    /// Never retained: a retained event would fire again at every restart of Home Assistant.
    package func messages(_ word: String, _ report: PressReport) -> [MQTTMessage] {
        [
            MQTTMessage(topicName: action(of: report.button), payload: Array(word.utf8), qos: 1),
            MQTTMessage(
                topicName: event(of: report.button), payload: report.payload(word).encoded(), qos: 1),
        ]
    }

    package func rawMessage(_ word: String, _ report: PressReport) -> MQTTMessage {
        MQTTMessage(topicName: raw(of: report.button), payload: report.payload(word).encoded(), qos: 1)
    }

    /// A gesture that came too late to act on.
    package func staleMessage(_ word: String, _ report: PressReport) -> MQTTMessage {
        bridgeMessage("stale_event", report.payload(word))
    }

    /// `{"type":…,"data":…}` on `bridge/event`.
    package func bridgeMessage(_ type: String, _ data: JSONValue) -> MQTTMessage {
        let payload: JSONValue = ["type": .string(type), "data": data]
        return MQTTMessage(topicName: bridgeEvent, payload: payload.encoded(), qos: 1)
    }

    package func bridgeStateMessage(isOnline: Bool) -> MQTTMessage {
        MQTTMessage(
            topicName: bridgeState, payload: Array((isOnline ? "online" : "offline").utf8), qos: 1, retain: true)
    }
}
