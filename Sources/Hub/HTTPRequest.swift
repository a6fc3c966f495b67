import Rules

/// A request to a web server.
package struct HTTPRequest: Hashable, Sendable {
    /// `http` or `https`.
    package var url: String
    package var method: String
    /// `Name: value`. Nothing is added but what the protocol needs; in particular no `Content-Type`.
    package var headers: [String]
    package var body: [UInt8]

    package init(url: String, method: String = "GET", headers: [String] = [], body: [UInt8] = []) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

extension HTTPRequest {
    init(_ action: HTTPAction) {
        self.init(url: action.url, method: action.method, headers: action.headers, body: action.body)
    }
}

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
