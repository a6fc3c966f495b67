import CommandText
import JSON
import MQTTTopics

/// Matches the messages that the broker delivers with the lines in which the daemon tells of them.
///
/// A message arrives up to some milliseconds before its line, because the daemon publishes before it tells what has caused the
/// message. It is shown when both are there, so that it stands behind the press and the rule that sent it. A message of which
/// the daemon does not tell, such as one that the user publishes, is shown when the daemon has answered a request that was
/// made after the message arrived: its line would have come before the answer.
struct DemoMessages: Hashable, Sendable {
    private struct Delivery: Hashable {
        var message: PressTracker.Message
        var qos: Int
    }

    /// Lines of messages that the broker has not delivered yet, in order.
    private var lines: [PressTracker.Message: [JSONValue]] = [:]
    /// Messages without their lines, in order.
    private var deliveries: [Delivery] = []
    /// How many of `deliveries` were there when the daemon was asked; `nil` if no answer is awaited.
    private var asked: Int?

    /// Takes a line of the kind `publish`.
    ///
    /// - Returns: the line to show, if the message was delivered already.
    mutating func told(_ line: JSONValue) -> JSONValue? {
        let message = PressTracker.Message(line)
        guard let index = deliveries.firstIndex(where: { $0.message == message }) else {
            lines[message, default: []].append(line)
            return nil
        }
        deliveries.remove(at: index)
        if let count = asked, index < count { asked = count - 1 }
        return line
    }

    /// Takes a message that the broker has delivered.
    ///
    /// - Returns: the line to show, if the daemon has told of the message already.
    mutating func delivered(_ message: PressTracker.Message, qos: Int) -> JSONValue? {
        guard let line = lines[message]?.first else {
            deliveries.append(Delivery(message: message, qos: qos))
            return nil
        }
        lines[message]?.removeFirst()
        if lines[message]?.isEmpty == true { lines[message] = nil }
        return line
    }

    /// True if the daemon is to be asked now, because a message has no line. The next call returns false until `answered`.
    mutating func asks() -> Bool {
        guard asked == nil, !deliveries.isEmpty else { return false }
        asked = deliveries.count
        return true
    }

    /// Takes the daemon's answer.
    ///
    /// - Returns: lines of the messages of which the daemon does not tell.
    mutating func answered() -> [JSONValue] {
        defer {
            deliveries.removeFirst(asked ?? 0)
            asked = nil
        }
        return deliveries.prefix(asked ?? 0).map { delivery in
            [
                "kind": .string(StreamKind.publish.rawValue), "topic": .string(delivery.message.topicName),
                "payload": .string(delivery.message.payload), "qos": .integer(Int64(delivery.qos)),
            ]
        }
    }
}

extension PressTracker.Message {
    /// The message of a line of the kind `publish`.
    init(_ line: JSONValue) { self.init(topicName: line.text("topic"), payload: line.text("payload")) }
}
