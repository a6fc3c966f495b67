import Bytes
import FlicdProtocol
import JSON
import Rules

// The JSON of `FlicdReport`s in a recording. Octets are written in hexadecimal as received, because a flicd packet may be
// split between reports.
extension FlicdReport {
    func json(hiding redaction: Redaction) -> JSONValue {
        switch self {
        case .listening(let address, let warning):
            ["flicd": "listening", "address": .string(address), "warning": warning.map { .string($0) } ?? .null]
        case .notListening(let reason): ["flicd": "not_listening", "reason": .string(redaction(reason))]
        case .connected(let client, let peer): client.json("connected", .init("peer", .string(peer)))
        case .received(let client, let octets): client.json("received", .init("octets", .string(octets.hex)))
        case .finished(let client): client.json("finished")
        case .blocked(let client): client.json("blocked")
        case .drained(let client): client.json("drained")
        case .gone(let client): client.json("gone")
        }
    }

    init(recorded report: JSONValue) throws(RecordingFailure) {
        switch try report.string("flicd") {
        case "listening":
            self = .listening(
                try report.string("address"), warning: try report.optional("warning", \.stringValue))
        case "not_listening": self = .notListening(try report.string("reason"))
        case "connected": self = .connected(try Self.client(report), peer: try report.string("peer"))
        case "received":
            self = .received(
                try Self.client(report), try report.member("octets") { $0.stringValue.flatMap { [UInt8](hex: $0) } })
        case "finished": self = .finished(try Self.client(report))
        case "blocked": self = .blocked(try Self.client(report))
        case "drained": self = .drained(try Self.client(report))
        case "gone": self = .gone(try Self.client(report))
        default: throw .badMember("flicd")
        }
    }

    private static func client(_ report: JSONValue) throws(RecordingFailure) -> FlicdServer.ClientID {
        FlicdServer.ClientID(rawValue: try report.integer("client"))
    }
}

extension FlicdServer.ClientID {
    fileprivate func json(_ kind: String, _ more: JSONValue.Member...) -> JSONValue {
        .object([.init("flicd", .string(kind)), .init("client", JSONValue(rawValue))] + more)
    }
}
