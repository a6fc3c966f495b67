import ButtonModel
import Expressions
import JSON
import Rules

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

extension HTTPResult {
    /// The outcome for the step that made the request.
    var stepOutcome: ActionResult {
        var facts = ResultFacts()
        facts.duration = duration
        switch outcome {
        case .answered(let status):
            facts.status = Int64(status)
            facts.isOK = true
            facts.body = String(decoding: body, as: UTF8.self)
            return .completed(facts)
        case .failed(let reason): return .failed(code: "R823", message: reason, facts)
        }
    }

    /// The members of its line in the live stream.
    func members(of action: HTTPAction, rule: String) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("rule", .string(rule)), .init("method", .string(action.method)),
            .init("url", .string(action.url)),
            .init("duration_ms", .number(Double(duration.nanoseconds / 10_000) / 100)),
        ]
        switch outcome {
        case .answered(let status): members.append(.init("status", .integer(Int64(status))))
        case .failed(let reason): members.append(.init("reason", .string(reason)))
        }
        return members
    }
}
