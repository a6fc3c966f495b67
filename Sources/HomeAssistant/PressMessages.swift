package import ButtonModel
package import JSON

/// The content of the messages about one event of a button.
package struct PressReport: Hashable, Sendable {
    package var button: ButtonID
    /// The button's name for people.
    package var name: String
    /// Counts the events of this button, across restarts, so that a consumer can drop duplicates.
    package var sequence: Int64
    /// Counts the `down` events of this button, across restarts.
    package var pressCount: Int64
    package var at: UTCTime
    package var wasQueued: Bool
    package var age: Duration
    /// `nil` for a button with only one part.
    package var part: ButtonPart?
    /// Whether a `hold_release` is reported because the link was lost before the `up` arrived.
    package var isLinkLost: Bool
    package var turn: Turn?

    /// The `reason` of a `hold_release` that is reported because the link was lost.
    package static let linkLost = "link_lost"

    /// What messages report of a turn besides its word.
    package struct Turn: Hashable, Sendable {
        /// Positive for clockwise.
        package var steps: Int
        /// 0…100.
        package var position: Int
        /// 1…12 on a Twist, else 0.
        package var slot: Int

        package init(steps: Int, position: Int, slot: Int) {
            self.steps = steps
            self.position = position
            self.slot = slot
        }
    }

    package init(
        button: ButtonID, name: String, sequence: Int64, pressCount: Int64, at: UTCTime, wasQueued: Bool, age: Duration,
        part: ButtonPart? = nil, isLinkLost: Bool = false, turn: Turn? = nil
    ) {
        self.button = button
        self.name = name
        self.sequence = sequence
        self.pressCount = pressCount
        self.at = at
        self.wasQueued = wasQueued
        self.age = age
        self.part = part
        self.isLinkLost = isLinkLost
        self.turn = turn
    }

    /// The octets of a payload with small numbers, without name and word.
    private static let usualLength = 160

    /// The JSON for `/event` and `/raw`. It is written without a `JSONValue`, because it is written at every press.
    fileprivate func payload(_ word: String) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(PressReport.usualLength + name.utf8.count + word.utf8.count)
        append(word, to: &output)
        return output
    }

    fileprivate func append(_ word: String, to output: inout [UInt8]) {
        output.append(contentsOf: #"{"event_type":"#.utf8)
        output.append(json: word)
        output.append(contentsOf: #","id":""#.utf8)
        output.append(contentsOf: button.description.utf8)
        output.append(contentsOf: #"","name":"#.utf8)
        output.append(json: name)
        output.append(contentsOf: #","seq":"#.utf8)
        output.append(json: sequence)
        output.append(contentsOf: #","ts":""#.utf8)
        at.append(to: &output)
        output.append(contentsOf: #"","queued":"#.utf8)
        output.append(json: wasQueued)
        output.append(contentsOf: #","age_ms":"#.utf8)
        output.append(json: age.milliseconds)
        output.append(contentsOf: #","press_count":"#.utf8)
        output.append(json: pressCount)
        if isLinkLost {
            output.append(contentsOf: #","reason":""#.utf8)
            output.append(contentsOf: PressReport.linkLost.utf8)
            output.append(UInt8(ascii: "\""))
        }
        if let part {
            output.append(contentsOf: #","part":""#.utf8)
            output.append(contentsOf: part.rawValue.utf8)
            output.append(UInt8(ascii: "\""))
        }
        if let turn {
            output.append(contentsOf: #","steps":"#.utf8)
            output.append(json: Int64(turn.steps))
            output.append(contentsOf: #","position":"#.utf8)
            output.append(json: Int64(turn.position))
            if turn.slot != 0 {
                output.append(contentsOf: #","slot":"#.utf8)
                output.append(json: Int64(turn.slot))
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension Topics {
    /// The messages about a gesture: the bare word for device triggers, then JSON for all other consumers. They are
    /// never retained, because a retained event would fire again at every restart of Home Assistant.
    package func messages(_ word: String, _ report: PressReport) -> [MQTTMessage] {
        [
            MQTTMessage(topicName: action(of: report.button, report.part), payload: Array(word.utf8), qos: 1),
            MQTTMessage(topicName: event(of: report.button, report.part), payload: report.payload(word), qos: 1),
        ]
    }

    package func rawMessage(_ word: String, _ report: PressReport) -> MQTTMessage {
        MQTTMessage(topicName: raw(of: report.button, report.part), payload: report.payload(word), qos: 1)
    }

    /// The message on `bridge/event` about a gesture that came too late to act on.
    package func staleMessage(_ word: String, _ report: PressReport) -> MQTTMessage {
        var payload = Array(#"{"type":"stale_event","data":"#.utf8)
        report.append(word, to: &payload)
        payload.append(UInt8(ascii: "}"))
        return MQTTMessage(topicName: bridgeEvent, payload: payload, qos: 1)
    }

    /// The message `{"type":…,"data":…}` on `bridge/event`.
    package func bridgeMessage(_ type: String, _ data: JSONValue) -> MQTTMessage {
        let payload: JSONValue = ["type": .string(type), "data": data]
        return MQTTMessage(topicName: bridgeEvent, payload: payload.encoded(), qos: 1)
    }

    package func bridgeStateMessage(isOnline: Bool) -> MQTTMessage {
        MQTTMessage(
            topicName: bridgeState, payload: Array((isOnline ? "online" : "offline").utf8), qos: 1, retain: true)
    }
}
