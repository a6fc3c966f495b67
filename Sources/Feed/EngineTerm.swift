/// A claim to lead: `ENGINE/leader`, retained. Of two claims with the same term, that of the greater name counts, and of the
/// same name that of the greater installation.
///
/// A stand-by publishes the same members on `ENGINE/standby` (`EnginePresence`).
package struct EngineTerm: Hashable, Comparable, Sendable {
    static let maximumLength = 1024

    package var term: Int
    /// The engine's name, at most 64 octets.
    package var engine: String
    /// The engine's installation, at most 64 octets; empty if the engine does not say it. Two engines that were given the same
    /// name by mistake have different ones.
    package var installation: String

    /// The largest plausible difference between a new term and the highest known one. A takeover adds only one, so a
    /// program that publishes a much higher term violates the protocol.
    static let greatestLeap = 1 << 20
    /// The highest term that is believed at all. Above it there is room for many takeovers before numbers end.
    static let greatest = 1 << 52

    /// A sentence about the fault of a received term; `nil` if the term is plausible.
    ///
    /// - Parameters:
    ///   - highest: the highest term that is known.
    ///   - leads: false for an engine that stands by. It may have been off while the terms of others grew.
    static func fault(of term: Int, after highest: Int, leads: Bool) -> String? {
        term <= (leads ? min(greatest, highest + greatestLeap) : greatest)
            ? nil : "the term \(term) is far above \(highest), and is ignored"
    }

    /// The identity of an engine.
    struct Owner: Hashable, Sendable {
        var engine: String
        var installation: String
    }

    var owner: Owner { Owner(engine: engine, installation: installation) }

    package init(term: Int, engine: String, installation: String = "") {
        self.term = term
        self.engine = engine
        self.installation = installation
    }

    package static func < (left: EngineTerm, right: EngineTerm) -> Bool {
        (left.term, left.engine, left.installation) < (right.term, right.engine, right.installation)
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        try self.init(FeedFields(parsing: octets, maximumLength: Self.maximumLength))
    }

    init(_ fields: FeedFields) throws(FeedPayloadFailure) {
        self.init(
            term: try fields.number("term"), engine: try fields.text("engine"),
            installation: try fields.optionalText("installation"))
    }

    /// The name of the number of a publication, because a broker may send several copies of a message. It is new for each claim of an
    /// engine in a term, and for each `online` of a process. An engine leads by no claim with the number 1.
    static let numberName = "n"

    /// - Parameter number: that of the publication, 1 for a claim that is made for another engine; `nil` in earlier versions.
    package func encoded(number: Int? = nil) -> [UInt8] {
        var claim = members
        claim.add(Self.numberName, number)
        return claim.encoded()
    }

    var members: FeedMembers {
        var claim = FeedMembers()
        claim.add("term", term)
        claim.add("engine", engine)
        if !installation.isEmpty { claim.add("installation", installation) }
        return claim
    }
}
