/// What a web server answered, or why there is no answer.
package struct HTTPResult: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Any answer of the server, an error or a redirect that was not followed among them.
        case answered(status: Int)
        /// A sentence for people. It has neither the path nor the query of the URL, where secrets are kept.
        case failed(String)
    }

    package var outcome: Outcome
    /// The first 64 KiB.
    package var body: [UInt8]
    /// Without the time in line.
    package var duration: Duration
    /// Why a redirect was not followed.
    package var note: String?

    package init(outcome: Outcome, body: [UInt8] = [], duration: Duration = .zero, note: String? = nil) {
        self.outcome = outcome
        self.body = body
        self.duration = duration
        self.note = note
    }
}
