package import JSON

/// The text form of server-sent events.
///
/// - Source: the HTML standard, 9.2.
package enum ServerSentEvent {
    package static let comment: [UInt8] = Array(": \n\n".utf8)
    /// Says that the connection is alive. A page sees events, and no comments.
    package static let beat = named("beat", [:])

    /// A line of the live stream. JSON in one line contains no line end.
    package static func line(_ octets: [UInt8], id: String) -> [UInt8] {
        Array("id: \(id)\ndata: ".utf8) + octets + Array("\n\n".utf8)
    }

    /// - Parameter id: `nil` keeps the id that the reader has.
    package static func named(_ name: String, _ data: JSONValue, id: String? = nil) -> [UInt8] {
        Array("event: \(name)\n".utf8) + Array((id.map { "id: \($0)\n" } ?? "").utf8) + Array("data: ".utf8)
            + data.encoded() + Array("\n\n".utf8)
    }
}
