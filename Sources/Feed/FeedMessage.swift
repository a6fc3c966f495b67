package import ButtonModel
import JSON

/// A message on the topic `S/feed/ID`. It contains a notification of the button, or the number of messages that the
/// journal has lost.
package struct FeedMessage: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// At least one step, and at most `maximumSteps`. All presses among them have the same boot.
        case steps([FeedStep])
        /// The journal has no longer the messages after `previous` up to this one.
        case lost
    }

    /// More steps than a notification of a button can contain.
    package static let maximumSteps = 64
    package static let maximumLength = 16 * 1024

    /// The number of the message in the site's journal for this button, from 1 without gaps.
    package var number: Int
    /// The number before it: `number` − 1, except if messages were lost.
    package var previous: Int
    package var content: Content

    /// The number of lost messages; `nil` unless the content is `lost`.
    package var lostCount: Int? {
        switch content {
        case .steps: nil
        case .lost: number - previous
        }
    }

    package init(number: Int, previous: Int, content: Content) {
        self.number = number
        self.previous = previous
        self.content = content
    }

    package init(parsing octets: [UInt8], of button: ButtonID) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        number = try fields.number("n", in: 1...FeedFields.maximumNumber)
        previous = try fields.number("prev")
        guard previous < number else { throw .invalid("prev") }
        if let lost = try fields.optionalNumber("lost") {
            guard lost == number - previous else { throw .invalid("lost") }
            content = .lost
            return
        }
        guard previous == number - 1 else { throw .invalid("prev") }
        let bootID = try fields.optionalNumber("boot", in: 0...Int(UInt32.max)).map { UInt32($0) }
        guard let list = fields.value["steps"] else {
            content = .steps([try FeedStep(fields, of: button, bootID: bootID)])
            return
        }
        guard let list = list.arrayValue, !list.isEmpty else { throw .invalid("steps") }
        guard list.count <= Self.maximumSteps else { throw .tooMany("steps") }
        var steps: [FeedStep] = []
        for step in list { steps.append(try FeedStep(FeedFields(step), of: button, bootID: bootID)) }
        content = .steps(steps)
    }

    package func encoded() -> [UInt8] {
        var message = FeedMembers()
        message.add("n", number)
        message.add("prev", previous)
        switch content {
        case .lost: message.add("lost", number - previous)
        case .steps(let steps):
            message.add("boot", steps.lazy.compactMap(\.bootID).first.map { Int($0) })
            if steps.count == 1 {
                steps[0].add(to: &message)
            } else {
                message.add(
                    "steps",
                    .array(
                        steps.map { step in
                            var members = FeedMembers()
                            step.add(to: &members)
                            return members.json
                        }))
            }
        }
        return message.encoded()
    }
}
