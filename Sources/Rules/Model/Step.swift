package import Expressions
package import JSON

/// One step of a rule or a script.
package struct Step: Hashable, Sendable {
    package var action: StepAction
    /// Its name in traces.
    package var alias: String?
    package var isEnabled: Bool
    /// `nil` for steps that cannot wait.
    package var timeout: Duration?
    package var retry: Retry?
    package var continuesOnError: Bool
    /// The slot of `results` that its outcome goes to.
    package var savesAs: Int?
    /// `actions[2].publish`, from 0; in a script its own: `all_off.actions[0].publish`. Unique within a set together with
    /// the rule's id: positions of `cycle` are stored under it.
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
    /// Further attempts, 1…10.
    package var count: Int
    package var delay: Duration
    /// Each wait is so many times the one before, 1…10.
    package var backOff: Double

    package init(count: Int, delay: Duration = .seconds(1), backOff: Double = 2) {
        self.count = count
        self.delay = delay
        self.backOff = backOff
    }
}

package indirect enum StepAction: Hashable, Sendable {
    case publish(PublishStep)
    /// `run` and `shell`.
    case process(ProcessStep)
    case http(HTTPStep)
    /// A template gives a duration, or text that is one.
    case delay(Template)
    case wait(until: Expression, timeout: Duration)
    /// All right-hand sides are evaluated before any is assigned.
    case set([Assignment])
    case cycle([[Step]], resetAfter: Duration?)
    case `repeat`(RepeatStep)
    /// `if` has one branch.
    case choose([Branch], otherwise: [Step], isIf: Bool)
    /// A place in `RuleSet.scripts`, and a value for each of its inputs; `nil`: the input's own.
    case script(Int, with: [ValueTemplate?])
    /// Places in `RuleSet.rules`.
    case enable([Int], Bool)
    case log(LogLevel, Template)
    case stop(Template)

    /// The step's key in the file.
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
    /// 0…2
    package var qos: Int
    package var retain: Bool
    /// How long it may wait while the broker is away.
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

/// What is sent somewhere.
package enum Content: Hashable, Sendable {
    case nothing
    case text(Template)
    case json(JSONTemplate)
}

/// JSON whose leaves may be templates; each keeps its type.
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

/// `run`, or `shell`: then the arguments are `/bin/sh -c SCRIPT sh ARGS…`.
package struct ProcessStep: Hashable, Sendable {
    package struct Variable: Hashable, Sendable {
        package var name: String
        package var value: Template

        package init(_ name: String, _ value: Template) {
            self.name = name
            self.value = value
        }
    }

    /// The first is literal. Where a value may not become an option is decided by `Template.parts`.
    package var arguments: [Template]
    package var environment: [Variable]
    /// `nil`: the state directory.
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
    /// Scheme and host are literal; what is inserted is percent-encoded.
    package var url: Template
    /// `GET`, `POST`, …
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
    /// `2xx` is 2.
    case family(Int)

    package func admits(_ status: Int) -> Bool {
        switch self {
        case .exactly(let wanted): status == wanted
        case .family(let family): status / 100 == family
        }
    }
}

/// A value where several types are possible.
package enum ValueTemplate: Hashable, Sendable {
    case value(Value)
    case template(Template)
}

package struct Assignment: Hashable, Sendable {
    /// A place in `RuleSet.variables`.
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
        /// 1…1000
        case count(Int)
    }

    package var extent: Extent
    /// From start to start.
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

/// How loud a `log` step is. The raw value is the word of the file.
package enum LogLevel: String, CaseIterable, Hashable, Sendable {
    case debug, info, warning, error
}
