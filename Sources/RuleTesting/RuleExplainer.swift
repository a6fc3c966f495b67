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
    ///
    /// A `hold` with `heldFor` is explained at the last stage that it reaches.
    package func explain(_ event: SimulatedEvent) -> Explanation? {
        var event = event
        if case .hold(nil) = event.event, let heldFor = event.heldFor, let id = stage.buttons.id(of: event.button) {
            let reached = stage.engine.holdStages(of: id).filter { $0 <= heldFor }.max()
            event.event = .hold(after: reached ?? heldFor)
        }
        return stage.buttons.recognised(event, at: stage.now).map { stage.engine.explain($0, at: stage.now) }
    }

    /// The pattern of 2 to 8 presses that is written as `short,long`.
    package static func pattern(_ text: String) -> TriggerEvent? {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let presses = words.map { PressLength(rawValue: String($0)) }
        guard (2...8).contains(presses.count) else { return nil }
        let known = presses.compactMap(\.self)
        return known.count == presses.count ? .pattern(known) : nil
    }
}
