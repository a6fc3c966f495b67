import ButtonModel
import Expressions
import Gestures

/// The rules that the events of a button's presses trigger, with their actions, as far as these are known in advance.
///
/// `RuleEngine.preview` uses it to find out what a press starts before the engine handles the press. It is made from the
/// rule set and the index, and is outdated when either changes.
struct PressPlan: Sendable {
    /// An event with a plan.
    enum Kind: Int, CaseIterable, Sendable {
        case down, up, click, doubleClick, holdRelease

        init?(_ kind: RecognisedEvent.Kind) {
            switch kind {
            case .down: self = .down
            case .up: self = .up
            case .pattern(.click): self = .click
            case .pattern(.doubleClick): self = .doubleClick
            case .holdRelease: self = .holdRelease
            case .pattern, .hold, .chord, .swipe, .rotation: return nil
            }
        }

        var recognised: RecognisedEvent.Kind {
            switch self {
            case .down: .down
            case .up: .up
            case .click: .pattern(.click)
            case .doubleClick: .pattern(.doubleClick)
            case .holdRelease: .holdRelease
            }
        }
    }

    /// A rule whose run performs these actions at once, and then ends or waits.
    struct PlannedRule: Sendable {
        /// An index in `RuleSet.rules`.
        var rule: Int
        var id: String
        var group: ConcurrencyGroupID
        var rateLimit: Rule.Rate
        var trigger: Trigger?
        var conditions: [Condition]
        /// The steps that perform the actions; never empty.
        var steps: [ActionStep]
        /// True if a step publishes a message. How far the run goes then depends on the connection to the broker.
        var publishes: Bool
        /// The actions for an event without an age; `nil` if more of the event is needed to decide whether or how they are
        /// performed.
        var constantActions: [Action]?
    }

    /// The maximum number of actions of a rule. It is far below the limit for a run without waiting.
    static let maximumActions = 16

    /// By `Kind.rawValue`, in document order; `nil` if what the event starts depends on more than the plan contains.
    private var rules: [[PlannedRule]?]

    subscript(kind: Kind) -> [PlannedRule]? { rules[kind.rawValue] }

    /// - Parameter facts: the facts of an event of the button that is not late. Its time is not known.
    init(of button: ButtonID, _ set: RuleSet, _ index: RuleIndex, facts: (Kind) -> TriggerFacts) {
        rules = Kind.allCases.map { kind in
            var planned: [PlannedRule] = []
            for match in index.matches(EventKey(kind.recognised), of: button) {
                guard let rule = PlannedRule(match, set.rules[match.rule], of: button, facts: { facts(kind) }) else {
                    return nil
                }
                planned.append(rule)
            }
            return planned
        }
    }
}

extension PressPlan.PlannedRule {
    /// `nil` if a gate is not known in advance, if an expression reads what the event itself changes, or if the run does more
    /// at once than actions and storing its start.
    fileprivate init?(_ match: RuleIndex.Match, _ rule: Rule, of button: ButtonID, facts: () -> TriggerFacts) {
        guard rule.cooldown == .zero, !rule.isFallback, !rule.isDryRun, rule.onRestart == .drop,
            rule.conditions.allSatisfy(\.isKnownBeforePress), let steps = Self.steps(of: rule), !steps.isEmpty
        else { return nil }
        self.rule = match.rule
        id = rule.id
        group = ConcurrencyGroupID(rule: match.rule, button: rule.scope == .button ? button : nil)
        rateLimit = rule.rateLimit
        trigger = rule.triggers.indices.contains(match.trigger) ? rule.triggers[match.trigger] : nil
        conditions = rule.conditions
        self.steps = steps
        publishes = !steps.allSatisfy(\.isExternal)
        guard conditions.isEmpty, steps.allSatisfy({ $0.isLiteral }) else { return }
        var values = StepValues(environment: EvaluationContext(), rule: id)
        values.environment.trigger = facts()
        constantActions = try? steps.map { try $0.action(&values) }
    }

    /// The steps that a run of the rule begins before it waits or ends; `nil` if their actions are not known in advance.
    private static func steps(of rule: Rule) -> [ActionStep]? {
        var steps: [ActionStep] = []
        for step in rule.steps where step.isEnabled {
            guard case .perform(let action) = step.action, action.isKnownBeforePress,
                steps.count < PressPlan.maximumActions
            else { return nil }
            steps.append(action)
            // The run waits for the result of every action but a message with QoS 0.
            guard case .publish(let publish) = action, publish.qos == 0 else { break }
        }
        return steps
    }
}

extension Condition {
    fileprivate var isKnownBeforePress: Bool {
        switch test {
        case .time: true
        case .expression(let expression): expression.isKnownBeforePress
        }
    }
}

extension ActionStep {
    /// True if the step contains no expressions. The environment of a program contains facts of the event, of which a plan knows all
    /// but the age.
    fileprivate var isLiteral: Bool {
        var isLiteral = true
        forEachTemplate { template in
            for part in template.parts {
                if case .literal = part { continue }
                isLiteral = false
            }
        }
        return isLiteral
    }

    fileprivate var isKnownBeforePress: Bool {
        var isKnown = true
        forEachTemplate { template in
            for case .expression(let expression, _) in template.parts where !expression.isKnownBeforePress {
                isKnown = false
            }
        }
        return isKnown
    }
}

extension Expression {
    /// True if the value does not depend on what the event changes before the action is performed, nor on `random`.
    fileprivate var isKnownBeforePress: Bool {
        !drawsRandom
            && reads.allSatisfy { reference in
                switch reference {
                case .trigger, .state, .variable, .now, .sun, .broker: true
                case .button, .rule, .result, .input, .error, .repeat, .change: false
                }
            }
    }
}
