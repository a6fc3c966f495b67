import Expressions
import Gestures
package import Rules

/// A change of the rules that would make the clicks of a button faster, without another effect on what its rules do.
///
/// - Source: rules/README.md, "Gestures and waiting".
package enum FasterClicks: Hashable, Sendable {
    /// The `trigger_mode` of the button reports gestures that no rule needs.
    case withoutTriggerMode
    /// Only rules with `enabled: false` need the wait.
    case withoutDisabledRules
    /// Some rules need the wait to tell a click from more presses, and then do the same for both.
    case withoutSameGesture
}

extension RuleSet {
    /// The first change that makes a click faster, for each declared button that has one.
    package func fasterClicks() -> [(button: String, change: FasterClicks, timing: ClickTiming)] {
        let present = RuleExplainer(self)
        let slow = buttons.filter { (present.clickTiming(of: $0.name)?.rank ?? .zero) > .zero }
        guard !slow.isEmpty else { return [] }
        let changes: [(FasterClicks, RuleExplainer)] = [
            (.withoutTriggerMode, withoutTriggerModes), (.withoutDisabledRules, withoutDisabledRules),
            (.withoutSameGesture, withoutSameGestures),
        ].compactMap { change, set in set == self ? nil : (change, RuleExplainer(set)) }
        return slow.compactMap { button in
            guard let wait = present.clickTiming(of: button.name)?.rank else { return nil }
            for (change, explainer) in changes {
                guard let timing = explainer.clickTiming(of: button.name), timing.rank < wait else { continue }
                return (button.name, change, timing)
            }
            return nil
        }
    }

    private var withoutTriggerModes: RuleSet {
        var set = self
        for index in buttons.indices { set.buttons[index].triggerMode = nil }
        return set
    }

    private var withoutDisabledRules: RuleSet {
        var set = self
        // The rules keep their places, because other rules name them by index.
        for index in rules.indices where !rules[index].isEnabled {
            (set.rules[index].triggers, set.rules[index].steps, set.rules[index].onError) = ([], [], [])
        }
        return set
    }

    private var withoutSameGestures: RuleSet {
        var set = self
        for index in rules.indices where !rules[index].readsItsTrigger {
            for place in rules[index].triggers.indices {
                guard case .buttons(let buttons, let events, let parts) = rules[index].triggers[place].origin,
                    events.contains(.click)
                else { continue }
                set.rules[index].triggers[place].origin = .buttons(
                    buttons, events.filter { !$0.isSeveralShortPresses }, parts: parts)
            }
        }
        return set
    }
}

extension Rule {
    fileprivate var readsItsTrigger: Bool {
        var isRead = false
        RuleSet(rules: [self]).forEachRead { if case .trigger(_) = $0 { isRead = true } }
        return isRead
    }
}

extension TriggerEvent {
    fileprivate var isSeveralShortPresses: Bool {
        if case .pattern(let presses) = self { presses.count > 1 && !presses.contains(.long) } else { false }
    }
}

extension ClickTiming {
    /// Larger for a click that is slower.
    fileprivate var rank: Duration { clickWait ?? .milliseconds(1) }
}
