import ButtonModel
import Glibc
import Hub
import JSON
import Rules

/// Where in the household a recording is made.
enum RecordingSeam: Hashable, Sendable {
    /// Records the reports of the buttons, like a daemon.
    case reports
    /// Records each packet and all randomness, including the keys, which belong to the test.
    case radio

    func header(_ line: JSONValue, _ header: RecordingHeader) -> JSONValue {
        guard self == .radio, case .object(let members) = line else { return line }
        let pairings = header.stored.buttons.compactMap { button -> JSONValue? in
            guard let pairing = button.pairing else { return nil }
            return [
                "button": .string("\(button.id)"), "identifier": .integer(Int64(pairing.identifier)),
                "key": octets(pairing.key.octets),
            ]
        }
        let radio: JSONValue = [
            "trust_roots": .array(header.configuration.extraTrustRoots.map(octets)), "pairings": .array(pairings),
        ]
        return .object(members + [.init("radio", radio)])
    }

    /// - Parameters:
    ///   - line: what a daemon would record.
    ///   - time: since the recording began.
    func line(_ line: JSONValue?, _ input: Hub.Input, at time: Duration) -> JSONValue? {
        guard self == .radio else { return line }
        let at = JSONValue.integer(time.nanoseconds)
        switch input {
        case .received(let packet, _): return ["at_ns": at, "input": "received", "packet": octets(packet)]
        case .entropy(let random): return ["at_ns": at, "input": "entropy", "octets": octets(random)]
        default: return line
        }
    }

    private func octets(_ octets: [UInt8]) -> JSONValue { .array(octets.map { .integer(Int64($0)) }) }
}

extension Household {
    /// Writes the recording to a file, for a test that failed, and says how to look at it.
    func saveRecording(_ name: String) -> String {
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let path = "\(directory)/tryck-\(name).jsonl"
        guard let file = fopen(path, "w") else { return "\(path) cannot be written" }
        defer { fclose(file) }
        for line in recording { fputs("\(line)\n", file) }
        return "see what happened with: tryck replay \(path)"
    }
}
