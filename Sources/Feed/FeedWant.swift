/// The engine asks for what follows a number: `S/feed/ID/want`.
package struct FeedWant: Hashable, Sendable {
    static let maximumLength = 1024

    /// The engine has everything up to this number.
    package var after: Int

    package init(after: Int) { self.after = after }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        self.init(after: try fields.number("after"))
    }

    package func encoded() -> [UInt8] {
        var want = FeedMembers()
        want.add("after", after)
        return want.encoded()
    }
}
