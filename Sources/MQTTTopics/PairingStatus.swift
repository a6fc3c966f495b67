package import JSON

/// The payload of the retained topic `bridge/pairing`: the latest step of pairing, with a sentence for users.
package struct PairingStatus: Hashable, Sendable {
    /// The members of the latest message `pairing` on `bridge/event`; empty if there was none.
    private var members: [JSONValue.Member] = []

    package init() {}

    /// The name of the step, such as `found_public`; `idle` if no search was made or the last one found nothing to report.
    private var step: String { text(of: "step") ?? "idle" }

    /// Takes the next step. The end of a search leaves its result.
    ///
    /// - Parameter members: the data of the message, with its `step`.
    package mutating func advance(_ members: [JSONValue.Member]) {
        let isEnd = members.contains { $0.name == "step" && $0.value == "ended" }
        guard isEnd else { return self.members = members }
        if step != "paired", step != "failed" { self.members = [] }
    }

    package var json: JSONValue {
        .object(
            [.init("step", .string(step)), .init("text", .string(sentence))] + members.filter { $0.name != "step" })
    }

    private var sentence: String {
        let address = text(of: "address").map { " (\($0))" } ?? ""
        return switch step {
        case "idle": "Not looking for new buttons"
        case "searching": "Looking for new buttons: hold the button down for 7 seconds, until its light changes"
        case "found_private": "Found a button that is not in pairing mode\(address): hold it down for 7 seconds"
        case "found_public": "Found a button\(address)"
        case "already_paired": "This button is paired already\(address)"
        case "connecting": "Connecting to the button\(address)"
        case "connected": "Connected to the button\(address)"
        case "verifying": "Checking that the button is genuine\(address)"
        case "paired": "Paired: \(text(of: "button") ?? "a button")"
        case "failed": text(of: "advice") ?? "Pairing failed"
        default: step
        }
    }

    private func text(of name: String) -> String? { members.first { $0.name == name }?.value.stringValue }
}
