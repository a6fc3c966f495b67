/// The payload of a stand-by's topic `ENGINE/standby`, which is not retained: what a claim of the stand-by would say, with the
/// highest term that it knows, the fingerprint of its rules, and its share.
package struct EnginePresence: Hashable, Sendable {
    package var claim: EngineTerm
    /// At most 64 octets; empty if the stand-by does not say it.
    package var rules: String
    /// `nil` if the stand-by does not say it.
    package var share: EngineShare?

    package init(claim: EngineTerm, rules: String = "", share: EngineShare? = .whole) {
        self.claim = claim
        self.rules = rules
        self.share = share
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: EngineTerm.maximumLength)
        self.init(
            claim: try EngineTerm(fields), rules: try fields.optionalText("rules"),
            share: try fields.optionalWord("share", EngineShare.init))
    }

    package func encoded() -> [UInt8] {
        var presence = claim.members
        if !rules.isEmpty { presence.add("rules", rules) }
        presence.add("share", share?.description)
        return presence.encoded()
    }
}
