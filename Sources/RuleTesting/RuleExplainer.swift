import ButtonModel
package import Expressions
import Gestures
package import Rules

/// Explains what a rule set would do for an event, with given values and a given time. It performs nothing.
package struct RuleExplainer {
    /// The maximum number of lines for the steps of a rule.
    private static let maximumSteps = 40

    /// All rules have `dry_run`.
    private var stage: TestRun

    /// - Parameter given: states, variables and the clock. Everything else is as after a start of the program.
    package init(_ set: RuleSet, given: RuleTest.Given = RuleTest.Given()) {
        var set = set
        for index in set.rules.indices { set.rules[index].isDryRun = true }
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
        return stage.buttons.recognised(event, at: stage.now).map(explain)
    }

    /// Explains the chords of these declared buttons. `nil` if a button is not declared, or if no rule has such a chord.
    package func explain(chord buttons: [String]) -> Explanation? {
        let members = buttons.compactMap { stage.buttons.id(of: $0) }
        guard members.count == buttons.count, let last = members.last else { return nil }
        let chords = stage.engine.chords(of: Set(members))
        guard !chords.isEmpty else { return nil }
        var all = Explanation()
        for chord in chords {
            let explanation = explain(RecognisedEvent(button: last, kind: .chord(chord), at: stage.now))
            all.verdicts += explanation.verdicts
            all.notConsidered += explanation.notConsidered
        }
        return all
    }

    /// Explains the next `at` triggers within a minute from the given time on, and says when each rule with `at` comes next.
    package func explainTimes() -> Explanation {
        var explanation = Explanation()
        if let time = stage.engine.timeDue(from: stage.wallClock) {
            explanation = explain(stage.engine.explain(timesAt: time, at: stage.now)) { $0.rehearse(timeAt: time) }
        }
        explanation.nextTimes = stage.engine.nextTimes(from: stage.wallClock)
        return explanation
    }

    /// Explains what the triggers of a declared state do when it changes to a value; `nil` if the value before the change is
    /// not given, because a change from an unknown value fires nothing. A default is no known value.
    package func explain(change state: String, to value: Value) -> Explanation? {
        stage.engine.explain(change: state, to: value, at: stage.now).map { explanation in
            explain(explanation) { $0.rehearse(change: state, to: value) }
        }
    }

    private func explain(_ event: RecognisedEvent) -> Explanation {
        explain(stage.engine.explain(event, at: stage.now)) { $0.rehearse(event) }
    }

    /// Adds what the steps of the rules that run would do.
    ///
    /// - Parameter rehearse: makes the event, the time or the change happen in a copy of the stage.
    private func explain(_ gates: Explanation, _ rehearse: (inout TestRun) -> Void) -> Explanation {
        var explanation = gates
        guard explanation.verdicts.contains(where: { $0.stoppedBy == nil }) else { return explanation }
        var rehearsal = stage
        rehearse(&rehearsal)
        for index in explanation.verdicts.indices where explanation.verdicts[index].stoppedBy == nil {
            let lines = rehearsal.engine.traces(of: explanation.verdicts[index].rule).last?.lines ?? []
            explanation.verdicts[index].steps = lines.prefix(RuleExplainer.maximumSteps).map { line in
                let after =
                    line.after < .milliseconds(1)
                    ? "" : "after \(DurationText.text(milliseconds: line.after.milliseconds)): "
                return stage.redaction("\(after)\(line.step): \(line.text)")
            }
        }
        return explanation
    }

    /// The event with a name, or the pattern that is written as `short,long`. Events of connections and batteries are excluded,
    /// because they are not actions on a button.
    package static func event(named name: String) -> TriggerEvent? {
        switch TriggerEvent(name: name) {
        case .connected, .disconnected, .batteryLow: nil
        case nil: pattern(name)
        case let event?: event
        }
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
