package import Expressions
package import JSON

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
    package var place: Place

    package init(
        _ action: StepAction, alias: String? = nil, isEnabled: Bool = true, timeout: Duration? = nil,
        retry: Retry? = nil, continuesOnError: Bool = false, savesAs: Int? = nil, path: String = "",
        place: Place = Place()
    ) {
        self.action = action
        self.alias = alias
        self.isEnabled = isEnabled
        self.timeout = timeout
        self.retry = retry
        self.continuesOnError = continuesOnError
        self.savesAs = savesAs
        self.path = path
        self.place = place
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
    case publish(PublishStep)
    /// A `run` or `shell` step.
    case process(ProcessStep)
    case http(HTTPStep)
    /// The template's value is a duration, or text that denotes a duration.
    case delay(Template)
    case wait(until: Expression, timeout: Duration)
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
    case log(LogLevel, Template)
    case stop(Template)

    /// The key of the step in the file.
    package var word: String {
        switch self {
        case .publish: "publish"
        case .process(let process): process.isShell ? "shell" : "run"
        case .http: "http"
        case .delay: "delay"
        case .wait: "wait"
        case .set: "set"
        case .cycle: "cycle"
        case .repeat: "repeat"
        case .choose(_, _, let isIf): isIf ? "if" : "choose"
        case .script: "script"
        case .enable(_, let isEnabling): isEnabling ? "enable" : "disable"
        case .log: "log"
        case .stop: "stop"
        }
    }
}

package struct PublishStep: Hashable, Sendable {
    package var topicName: Template
    package var payload: Content
    /// The quality of service, 0…2.
    package var qos: Int
    package var retain: Bool
    /// How long the message may wait while the broker is not connected.
    package var maximumAge: Duration

    package init(
        topicName: Template, payload: Content = .nothing, qos: Int = 0, retain: Bool = false,
        maximumAge: Duration = .seconds(5)
    ) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.maximumAge = maximumAge
    }
}

/// The payload of a message, or the body of a request.
package enum Content: Hashable, Sendable {
    case nothing
    case text(Template)
    case json(JSONTemplate)
}

/// JSON whose leaves may be templates, each of which keeps the type of its value.
package indirect enum JSONTemplate: Hashable, Sendable {
    case value(JSONValue)
    case template(Template)
    case array([JSONTemplate])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package var name: String
        package var value: JSONTemplate

        package init(_ name: String, _ value: JSONTemplate) {
            self.name = name
            self.value = value
        }
    }
}

/// A `run` step, or a `shell` step with the arguments `/bin/sh -c SCRIPT sh ARGS…`.
package struct ProcessStep: Hashable, Sendable {
    package struct Variable: Hashable, Sendable {
        package var name: String
        package var value: Template

        package init(_ name: String, _ value: Template) {
            self.name = name
            self.value = value
        }
    }

    /// The first argument is literal. `StepValues.action` refuses values that could become options.
    package var arguments: [Template]
    package var environment: [Variable]
    /// If `nil`, the state directory.
    package var directory: String?
    package var standardInput: Template
    package var isShell: Bool

    package init(
        arguments: [Template], environment: [Variable] = [], directory: String? = nil,
        standardInput: Template = Template(literal: ""), isShell: Bool = false
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.standardInput = standardInput
        self.isShell = isShell
    }
}

package struct HTTPStep: Hashable, Sendable {
    /// Scheme and host are literal; inserted values are percent-encoded.
    package var url: Template
    /// The method, such as `GET` or `POST`.
    package var method: String
    package var headers: [ProcessStep.Variable]
    package var body: Content
    package var expectation: [ExpectedStatus]

    package init(
        url: Template, method: String = "GET", headers: [ProcessStep.Variable] = [], body: Content = .nothing,
        expectation: [ExpectedStatus] = [.family(2)]
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.expectation = expectation
    }
}

package enum ExpectedStatus: Hashable, Sendable {
    case exactly(Int)
    /// The first digit: 2 for `2xx`.
    case family(Int)

    package func admits(_ status: Int) -> Bool {
        switch self {
        case .exactly(let wanted): status == wanted
        case .family(let family): status / 100 == family
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
    package var place: Place

    package init(conditions: [Condition], steps: [Step], place: Place = Place()) {
        self.conditions = conditions
        self.steps = steps
        self.place = place
    }
}

/// The level of a `log` step. The raw value is the word in the file.
package enum LogLevel: String, CaseIterable, Hashable, Sendable {
    case debug, info, warning, error
}
