package import ButtonModel
package import Expressions

/// A step whose action is performed outside the engine. Each kind of action has its own file in this folder, and a line
/// in each `switch` below.
package enum ActionStep: Hashable, Sendable {
    case publish(PublishStep)
    /// A `run` or `shell` step.
    case process(ProcessStep)
    case http(HTTPStep)

    package var kind: StepKind {
        switch self {
        case .publish: .publish
        case .process(let process): process.isShell ? .shell : .run
        case .http: .http
        }
    }

    /// True if the step performs an `ExternalAction`.
    package var isExternal: Bool {
        switch self {
        case .process, .http: true
        case .publish: false
        }
    }

    /// Calls `body` with each template of the step.
    package func forEachTemplate(_ body: (Template) -> Void) {
        switch self {
        case .publish(let step): step.forEachTemplate(body)
        case .process(let step): step.forEachTemplate(body)
        case .http(let step): step.forEachTemplate(body)
        }
    }

    /// The action with all templates evaluated.
    func action(_ values: inout StepValues) throws(StepFailure) -> Action {
        switch self {
        case .publish(let step): .publish(try values.action(step))
        case .process(let step): .process(try values.action(step))
        case .http(let step): .http(try values.action(step))
        }
    }

    /// The failure of the step if it does not accept this result of a completed action; else `nil`.
    func failure(for facts: ResultFacts) -> StepFailure? {
        switch self {
        case .http(let step): step.failure(for: facts)
        case .publish, .process: nil
        }
    }

    /// The result as shown in traces.
    func traceSuffix(for facts: ResultFacts) -> String {
        switch self {
        case .process(let step): step.traceSuffix(for: facts)
        case .http(let step): step.traceSuffix(for: facts)
        case .publish: ""
        }
    }
}

/// An action to perform for a step, with all templates evaluated.
package enum Action: Hashable, Sendable {
    case message(MessageAction)
    case external(ExternalAction)
    case log(LogLevel, String)

    package static func publish(_ message: PublishAction) -> Action { .message(.publish(message)) }
    package static func process(_ process: ProcessAction) -> Action { .external(.process(process)) }
    package static func http(_ request: HTTPAction) -> Action { .external(.http(request)) }

    package var kind: StepKind {
        switch self {
        case .message(let message): message.kind
        case .external(let action): action.kind
        case .log: .log
        }
    }

    /// The action in a few words without its verb: `zigbee2mqtt/kitchen/set {"state":"TOGGLE"}`.
    package var details: String {
        switch self {
        case .message(.publish(let message)): message.details
        case .external(.process(let process)): process.simulation.subject
        case .external(.http(let request)): request.details
        case .log(let level, let text): "\(level.rawValue): \(text)"
        }
    }

    /// Everything that the action does, for a comparison with another action of the same kind.
    package var aspects: [ActionAspect] {
        switch self {
        case .message(.publish(let message)): message.aspects
        case .external(.process(let process)): process.aspects
        case .external(.http(let request)): request.aspects
        case .log(let level, let text):
            [ActionAspect(name: "level", value: level.rawValue), ActionAspect(name: "message", value: text)]
        }
    }

    /// True if the time limit begins only when the action is handed over to the broker.
    var isMessage: Bool { if case .message = self { true } else { false } }

    /// The action as shown in traces, without headers, body, environment and standard input.
    var summary: String {
        switch self {
        case .message(.publish(let message)): message.summary
        case .external(.process(let process)): process.summary
        case .external(.http(let request)): request.summary
        case .log(let level, let text): "\(level.rawValue): \(Run.traceText(text))"
        }
    }
}

/// A value of an action, such as its topic or one of its headers, and how the value is called.
package struct ActionAspect: Hashable, Sendable {
    /// The key of the step in a rule file, and the name of a header or of a variable: `qos`, `header Accept`.
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// An action that publishes a message. The message may wait while the broker is not connected, and its time limit
/// begins when it is handed over to the broker.
package enum MessageAction: Hashable, Sendable {
    case publish(PublishAction)

    package var kind: StepKind {
        switch self {
        case .publish: .publish
        }
    }

    /// The quality of service, 0…2.
    package var qos: Int {
        switch self {
        case .publish(let message): message.qos
        }
    }

    /// How long the message may wait while the broker is not connected.
    package var maximumAge: Duration {
        switch self {
        case .publish(let message): message.maximumAge
        }
    }
}

/// An action that is started, can be cancelled while it is in progress, and ends with a result.
package enum ExternalAction: Hashable, Sendable {
    case process(ProcessAction)
    case http(HTTPAction)

    package var kind: StepKind {
        switch self {
        case .process(let process): process.isShell ? .shell : .run
        case .http: .http
        }
    }

    /// The kind of result that a test can give for the action, and the text with which its prefix is compared; `nil` if a test
    /// cannot give a result, so that the action always succeeds at once.
    package var simulation: (kind: RuleTest.SimulatedResult.Kind, subject: String)? {
        switch self {
        case .process(let process): process.simulation
        case .http(let request): (.http, request.url)
        }
    }
}
