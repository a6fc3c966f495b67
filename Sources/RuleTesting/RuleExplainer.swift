import ButtonModel
import Gestures
package import Rules

/// Explains what a rule set would do for an event, with given values and a given time. It performs nothing.
package struct RuleExplainer {
    private var stage: TestRun

    /// - Parameter given: states, variables and the clock. Everything else is as after a start of the program.
    package init(_ set: RuleSet, given: RuleTest.Given = RuleTest.Given()) {
        stage = TestRun(set)
        stage.begin(given)
    }

    /// How the recogniser reads the presses of a declared button.
    package func clickTiming(of button: String) -> ClickTiming? {
        stage.buttons.id(of: button).map { stage.engine.clickTiming(of: $0) }
    }

    /// Explains what each gate of each rule decides about an event. `nil` for an undeclared button, or an event that is
    /// no gesture.
    package func explain(_ event: SimulatedEvent) -> Explanation? {
        stage.buttons.recognised(event, at: stage.now).map { stage.engine.explain($0, at: stage.now) }
    }
}
