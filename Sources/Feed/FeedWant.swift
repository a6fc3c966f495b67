/// The engine asks for what follows a number: `S/feed/ID/want`.
///
/// It names the hello that it answers. A want of a later session than the site's tells a site that it was restored from an
/// old copy of its disk, so that its hello counts as an old one.
package struct FeedWant: Hashable, Sendable {
    static let maximumLength = 1024

    /// The engine has everything up to this number.
    package var after: Int

    /// The session and the installation of the hello; `nil` if the engine does not say them.
    package var session: Int?
    package var installation: String?

    package init(after: Int, session: Int? = nil, installation: String? = nil) {
        self.after = after
        self.session = session
        self.installation = installation
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        let installation = try fields.optionalText("installation")
        self.init(
            after: try fields.number("after"), session: try fields.optionalNumber("session"),
            installation: installation.isEmpty ? nil : installation)
    }

    package func encoded() -> [UInt8] {
        var want = FeedMembers()
        want.add("after", after)
        want.add("session", session)
        want.add("installation", installation)
        return want.encoded()
    }
}
