package import ButtonModel
package import Expressions

/// What a run answers: one event of one button, or a request to run.
package struct Occurrence: Hashable, Sendable {
    /// `nil`: somebody asked for the run.
    package var button: ButtonID?
    /// All that expressions and programs see of it.
    package var facts: TriggerFacts
    /// The wall clock at the press itself.
    package var at: UTCTime

    package init(button: ButtonID? = nil, facts: TriggerFacts = TriggerFacts(), at: UTCTime) {
        self.button = button
        self.facts = facts
        self.at = at
    }
}

/// A run of a rule; counts up from 1 and is never used again, restarts included.
package struct RunID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: RunID, right: RunID) -> Bool { left.rawValue < right.rawValue }
}

/// One thing done for one run.
package struct StepID: Hashable, Sendable {
    package var run: RunID
    /// From 0, counting every attempt of every step.
    package var index: Int
    package init(run: RunID, index: Int) {
        self.run = run
        self.index = index
    }
}

/// How an action ended.
package enum StepOutcome: Hashable, Sendable {
    /// Of a message: handed over or acknowledged. Of a program: exit status 0. Of a request: an answer, whatever its status.
    case completed(ResultFacts? = nil)
    /// `R822`, `R824`, … and a sentence.
    case failed(code: String, message: String, ResultFacts? = nil)
}
