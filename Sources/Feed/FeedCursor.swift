/// The engine's claim: `S/feed/ID/cursor`, retained. The site never sends a claimed message again.
///
/// A claim counts only for the installation that it names. `session` is the site's session in which it was made: a site
/// that says hello in a later session with a lower number has begun to number anew.
package struct FeedCursor: Hashable, Sendable {
    static let maximumLength = 1024

    /// The number of the last claimed message; 0 if none of this installation is claimed, and a claim of a former installation or
    /// life has to be replaced.
    package var number: Int
    package var term: Int
    /// The engine's name, at most 64 octets.
    package var engine: String
    package var installation: String
    package var session: Int

    package init(number: Int, term: Int, engine: String, installation: String, session: Int) {
        self.number = number
        self.term = term
        self.engine = engine
        self.installation = installation
        self.session = session
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        self.init(
            number: try fields.number("n", in: 0...FeedFields.maximumNumber), term: try fields.number("term"),
            engine: try fields.text("engine"), installation: try fields.text("installation"),
            session: try fields.number("session"))
    }

    package func encoded() -> [UInt8] {
        var cursor = FeedMembers()
        cursor.add("n", number)
        cursor.add("term", term)
        cursor.add("engine", engine)
        cursor.add("installation", installation)
        cursor.add("session", session)
        return cursor.encoded()
    }
}
