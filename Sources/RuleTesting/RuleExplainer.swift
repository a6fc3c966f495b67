import ButtonModel
import Gestures
package import Rules

/// What a rule set would do, with nothing but itself: the declared buttons, values that are given, and a clock.
package struct RuleExplainer {
    private var stage: Stage

    /// - Parameter given: states, variables and the clock; the rest is as at a start.
    package init(_ set: RuleSet, given: RuleTest.Given = RuleTest.Given()) {
        stage = Stage(set)
        stage.begin(given)
    }

    /// How the presses of a declared button are read.
    package func listening(to button: String) -> Listening? {
        stage.buttons.id(of: button).map { stage.engine.listening(to: $0) }
    }

    /// Gate by gate, performing nothing; `nil` for a button that is not declared, and for what is no gesture.
    package func explain(_ event: SimulatedEvent) -> Explanation? {
        stage.buttons.recognised(event, at: stage.now).map { stage.engine.explain($0, at: stage.now) }
    }
}
