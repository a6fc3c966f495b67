/// A web server's response, or the reason why there is none.
package struct HTTPResult: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The server responded, perhaps with an error status or with a redirect that was not followed.
        case answered(status: Int)
        /// The reason, as a sentence for users. It contains neither the path nor the query of the URL, which may be
        /// secret.
        case failed(String)
    }

    package var outcome: Outcome
    /// The first 64 KiB.
    package var body: [UInt8]
    /// Excludes the time in the queue.
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
