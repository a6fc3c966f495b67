package import ButtonModel
package import JSON

/// The content of the messages about one event of a button.
package struct PressReport: Hashable, Sendable {
    package var button: ButtonID
    /// The button's display name.
    package var name: String
    /// Counts the events of this button, across restarts, so that a consumer can drop duplicates.
    package var sequence: Int64
    /// Counts the `down` events of this button, across restarts.
    package var pressCount: Int64
    package var at: UTCTime
    package var facts: PressFacts
    /// The steps of a rotation, positive for clockwise; `nil` for other events.
    package var steps: Int?

    /// The `reason` of a `hold_release` that is reported because the link was lost.
    package static let linkLost = "link_lost"

    package init(
        button: ButtonID, name: String, sequence: Int64, pressCount: Int64, at: UTCTime, facts: PressFacts,
        steps: Int? = nil
    ) {
        self.button = button
        self.name = name
        self.sequence = sequence
        self.pressCount = pressCount
        self.at = at
        self.facts = facts
        self.steps = steps
    }

    /// The length in octets of a payload with small numbers, without the names of button and event.
    private static let usualLength = 160

    /// The JSON for `/event` and `/raw`, written without a `JSONValue` because each press needs it at once.
    fileprivate func payload(_ eventName: String) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(PressReport.usualLength + name.utf8.count + eventName.utf8.count)
        append(eventName, to: &output)
        return output
    }

    fileprivate func append(_ eventName: String, to output: inout [UInt8]) {
        output.append(contentsOf: #"{"event_type":"#.utf8)
        output.append(json: eventName)
        output.append(contentsOf: #","id":""#.utf8)
        output.append(contentsOf: button.description.utf8)
        output.append(contentsOf: #"","name":"#.utf8)
        output.append(json: name)
        output.append(contentsOf: #","seq":"#.utf8)
        output.append(json: sequence)
        output.append(contentsOf: #","ts":""#.utf8)
        at.append(to: &output)
        output.append(contentsOf: #"","queued":"#.utf8)
        output.append(json: facts.wasQueued)
        output.append(contentsOf: #","age_ms":"#.utf8)
        output.append(json: facts.age.milliseconds)
        output.append(contentsOf: #","press_count":"#.utf8)
        output.append(json: pressCount)
        facts.forEachOptionalMember(steps: steps) { name, value in
            output.append(contentsOf: #",""#.utf8)
            output.append(contentsOf: name.utf8)
            output.append(contentsOf: #"":"#.utf8)
            value.write(into: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension PressFacts {
    /// Calls `body` with the name and value of each member that only some events have, in the order in which messages
    /// and the live stream show them.
    ///
    /// - Parameter steps: the steps of a rotation; `nil` for other events.
    package func forEachOptionalMember(steps: Int?, _ body: (String, JSONValue) -> Void) {
        if isLinkLost { body("reason", .string(PressReport.linkLost)) }
        if let part { body("part", .string(part.rawValue)) }
        guard let steps else { return }
        body("steps", .integer(Int64(steps)))
        body("position", .integer(Int64(position)))
        if slot != 0 { body("slot", .integer(Int64(slot))) }
    }
}

extension Topics {
    /// The messages about a gesture: the bare name for device triggers, then JSON for all other consumers. They are
    /// never retained, because Home Assistant would handle a retained event again at every restart.
    package func messages(_ eventName: String, _ report: PressReport) -> [MQTTMessage] {
        [
            MQTTMessage(
                topicName: action(of: report.button, report.facts.part), payload: Array(eventName.utf8), qos: 1),
            MQTTMessage(
                topicName: event(of: report.button, report.facts.part), payload: report.payload(eventName), qos: 1),
        ]
    }

    package func rawMessage(_ eventName: String, _ report: PressReport) -> MQTTMessage {
        MQTTMessage(topicName: raw(of: report.button, report.facts.part), payload: report.payload(eventName), qos: 1)
    }

    /// The message on `bridge/event` about a gesture that came too late to act on.
    package func staleMessage(_ eventName: String, _ report: PressReport) -> MQTTMessage {
        var payload = Array(#"{"type":"stale_event","data":"#.utf8)
        report.append(eventName, to: &payload)
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
