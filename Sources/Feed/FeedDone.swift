/// How far everything has come out: `S/feed/ID/done`, retained, published at most once a second. What is claimed and not
/// done when an engine dies was interrupted.
package struct FeedDone: Hashable, Sendable {
    static let maximumLength = 1024

    /// The highest number up to which every gesture is settled and every first action is out.
    package var number: Int
    package var term: Int
    package var installation: String

    package init(number: Int, term: Int, installation: String) {
        self.number = number
        self.term = term
        self.installation = installation
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        self.init(
            number: try fields.number("n"), term: try fields.number("term"),
            installation: try fields.text("installation"))
    }

    package func encoded() -> [UInt8] {
        var done = FeedMembers()
        done.add("n", number)
        done.add("term", term)
        done.add("installation", installation)
        return done.encoded()
    }
}
