package import ButtonModel
package import Expressions

/// The cause of a run: an event of a button, or a request to run the rule.
package struct RunCause: Hashable, Sendable {
    /// `nil` if the run was requested.
    package var button: ButtonID?
    /// The facts that expressions and programs can read.
    package var facts: TriggerFacts
    /// The wall clock time of the press.
    package var at: UTCTime

    package init(button: ButtonID? = nil, facts: TriggerFacts = TriggerFacts(), at: UTCTime) {
        self.button = button
        self.facts = facts
        self.at = at
    }
}

/// The id of a run, counting from 1. Ids are not reused, not even after a restart.
package struct RunID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: RunID, right: RunID) -> Bool { left.rawValue < right.rawValue }
}

/// The id of an action of a run.
package struct ActionID: Hashable, Sendable {
    package var run: RunID
    /// The number of earlier attempts of steps in this run.
    package var index: Int
    package init(run: RunID, index: Int) {
        self.run = run
        self.index = index
    }
}

/// The result of an action.
package enum ActionResult: Hashable, Sendable {
    /// The message was sent or acknowledged, the program ended with status 0, or the server responded with any status.
    case completed(ResultFacts? = nil)
    /// An error code such as `R822`, and a message.
    case failed(code: String, message: String, ResultFacts? = nil)
}
