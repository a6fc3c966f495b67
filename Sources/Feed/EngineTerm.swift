/// A claim to lead: `ENGINE/leader`, retained. Of two claims with the same term, that of the greater name counts.
package struct EngineTerm: Hashable, Comparable, Sendable {
    static let maximumLength = 1024

    package var term: Int
    /// The engine's name, at most 64 octets.
    package var engine: String

    /// The largest plausible difference between a new term and the highest known one. A takeover adds only one, so a
    /// program that publishes a much higher term violates the protocol.
    static let greatestLeap = 1 << 20

    /// A sentence about the fault of a received term; `nil` if the term is plausible.
    ///
    /// - Parameter highest: the highest term that is known.
    static func fault(of term: Int, after highest: Int) -> String? {
        term - highest <= greatestLeap ? nil : "the term \(term) is far above \(highest), and is ignored"
    }

    package init(term: Int, engine: String) {
        self.term = term
        self.engine = engine
    }

    package static func < (left: EngineTerm, right: EngineTerm) -> Bool {
        (left.term, left.engine) < (right.term, right.engine)
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        self.init(term: try fields.number("term"), engine: try fields.text("engine"))
    }

    package func encoded() -> [UInt8] {
        var claim = FeedMembers()
        claim.add("term", term)
        claim.add("engine", engine)
        return claim.encoded()
    }
}
