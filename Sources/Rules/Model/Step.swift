package import ButtonModel
package import Expressions

/// A step of a rule or a script.
package struct Step: Hashable, Sendable {
    package var action: StepAction
    /// The name of the step in traces.
    package var alias: String?
    package var isEnabled: Bool
    /// The time limit; `nil` for steps that cannot wait.
    package var timeout: Duration?
    package var retry: Retry?
    package var continuesOnError: Bool
    /// The slot of `results` in which the result is saved.
    package var savesAs: Int?
    /// The path of the step with indices from 0, such as `actions[2].publish`, or `all_off.actions[0].publish` in a
    /// script. Together with the rule's id it is unique in a set, and identifies the stored position of a `cycle`.
    package var path: String
    package var location: SourceLocation

    package init(
        _ action: StepAction, alias: String? = nil, isEnabled: Bool = true, timeout: Duration? = nil,
        retry: Retry? = nil, continuesOnError: Bool = false, savesAs: Int? = nil, path: String = "",
        location: SourceLocation = SourceLocation()
    ) {
        self.action = action
        self.alias = alias
        self.isEnabled = isEnabled
        self.timeout = timeout
        self.retry = retry
        self.continuesOnError = continuesOnError
        self.savesAs = savesAs
        self.path = path
        self.location = location
    }
}

extension Step {
    /// The lists of steps inside this step. One of them is run; the list of a `repeat` is run several times.
    package var inner: [[Step]] {
        switch action {
        case .cycle(let entries, _): entries
        case .repeat(let step): [step.steps]
        case .choose(let branches, let otherwise, _): branches.map(\.steps) + [otherwise]
        case .wait(_, _, let otherwise): otherwise.map { [$0] } ?? []
        case .waitFor(let wait): [wait.then, wait.otherwise]
        case .perform, .delay, .set, .script, .enable, .cancel, .log, .stop: []
        }
    }

    /// Calls `body` with this step and all steps inside it.
    package func forEach(_ body: (Step) -> Void) {
        body(self)
        for steps in inner { for step in steps { step.forEach(body) } }
    }
}

package struct Retry: Hashable, Sendable {
    /// The number of further attempts, 1…10.
    package var count: Int
    package var delay: Duration
    /// The factor from one delay to the next, 1…10.
    package var backOff: Double

    package init(count: Int, delay: Duration = .seconds(1), backOff: Double = 2) {
        self.count = count
        self.delay = delay
        self.backOff = backOff
    }
}

package indirect enum StepAction: Hashable, Sendable {
    /// An action outside the engine, which has a time limit.
    case perform(ActionStep)
    /// The template's value is a duration, or text that denotes a duration.
    case delay(Template)
    /// Waits until the expression is true. If the time is over before, the steps in `otherwise` are run; without them, the
    /// step fails.
    case wait(until: Expression, timeout: Duration, otherwise: [Step]?)
    case waitFor(WaitForStep)
    /// All values are evaluated before the first is assigned.
    case set([Assignment])
    case cycle([[Step]], resetAfter: Duration?)
    case `repeat`(RepeatStep)
    /// A `choose` step, or an `if` step, which has one branch.
    case choose([Branch], otherwise: [Step], isIf: Bool)
    /// An index in `RuleSet.scripts`, and a value for each of its inputs; `nil` is the input's default.
    case script(Int, with: [ValueTemplate?])
    /// Indices in `RuleSet.rules`.
    case enable([Int], Bool)
    /// Ends all runs of these rules, given by their indices in `RuleSet.rules`. If they include the rule of the step, its own run
    /// ends as well.
    case cancel([Int])
    case log(LogLevel, Template)
    case stop(Template)

    package static func publish(_ step: PublishStep) -> StepAction { .perform(.publish(step)) }
    package static func process(_ step: ProcessStep) -> StepAction { .perform(.process(step)) }
    package static func http(_ step: HTTPStep) -> StepAction { .perform(.http(step)) }

    package var kind: StepKind {
        switch self {
        case .perform(let action): action.kind
        case .delay: .delay
        case .wait: .wait
        case .waitFor: .waitFor
        case .set: .set
        case .cycle: .cycle
        case .repeat: .repeat
        case .choose(_, _, let isIf): isIf ? .if : .choose
        case .script: .script
        case .enable(_, let isEnabling): isEnabling ? .enable : .disable
        case .cancel: .cancel
        case .log: .log
        case .stop: .stop
        }
    }
}

/// A literal value, or a template that gives a value.
package enum ValueTemplate: Hashable, Sendable {
    case value(Value)
    case template(Template)
}

package struct Assignment: Hashable, Sendable {
    /// An index in `RuleSet.variables`.
    package var variable: Int
    package var value: ValueTemplate

    package init(variable: Int, value: ValueTemplate) {
        self.variable = variable
        self.value = value
    }
}

package struct RepeatStep: Hashable, Sendable {
    package enum Extent: Hashable, Sendable {
        case whileHeld
        /// The number of iterations, 1…1000.
        case count(Int)
    }

    package var extent: Extent
    /// The period from the start of an iteration to the start of the next.
    package var every: Duration
    package var limit: Duration
    package var steps: [Step]

    package init(extent: Extent, every: Duration, limit: Duration = .seconds(15), steps: [Step]) {
        self.extent = extent
        self.every = every
        self.limit = limit
        self.steps = steps
    }
}

package struct Branch: Hashable, Sendable {
    package var conditions: [Condition]
    package var steps: [Step]
    package var location: SourceLocation

    package init(conditions: [Condition], steps: [Step], location: SourceLocation = SourceLocation()) {
        self.conditions = conditions
        self.steps = steps
        self.location = location
    }
}
