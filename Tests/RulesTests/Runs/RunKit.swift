import ButtonModel
import Expressions
import JSON

@testable import Rules

/// A rule set with one rule under test, and short ways to write its steps.
///
/// States: `lux`, 30 at the start, and `door`, not known yet. Variables: `volume`, 0 to 100, `scene`, one of `day` and
/// `night`, and `name`. The first result is `answer`, a script's first input `lamp`.
enum RunKit {
    static let id = RunID(rawValue: 7)
    static let rule = "hall"
    static let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    /// 2026-01-15 12:00:00 UTC
    static let noon = UTCTime(milliseconds: 1_768_478_400_000)

    static let cause: RunCause = {
        var facts = TriggerFacts()
        facts.button = "hall"
        facts.uuid = "00112233445566778899aabbccddeeff"
        facts.serial = "BA00-K00001"
        facts.event = "double_click"
        facts.clicks = 2
        facts.steps = -3
        return RunCause(button: button, facts: facts, at: noon)
    }()

    static var late: RunCause {
        var late = cause
        late.facts.wasQueued = true
        late.facts.age = .milliseconds(2500)
        return late
    }

    static let variables = [
        DeclaredVariable(name: "volume", type: .integer, initial: .integer(30), minimum: 0, maximum: 100),
        DeclaredVariable(
            name: "scene", type: .string, initial: .string("day"), values: [.string("day"), .string("night")]),
        DeclaredVariable(name: "name", type: .string, initial: .string("")),
    ]
    static let volume = 0, scene = 1, name = 2
    static let lux = 0, door = 1

    static func set(
        _ steps: [Step], onError: [Step] = [], scripts: [Script] = [], variables: [DeclaredVariable] = []
    ) -> RuleSet {
        RuleSet(
            states: [
                DeclaredState(name: "lux", topicName: "lux", type: .integer, defaultValue: .integer(30)),
                DeclaredState(name: "door", topicName: "door"),
            ],
            variables: RunKit.variables + variables,
            scripts: scripts.map { script in
                var script = script
                script.steps = named(script.steps, "\(script.name).actions")
                return script
            },
            rules: [
                Rule(
                    id: rule, triggers: [], steps: named(steps, "actions"), onError: named(onError, "on_error"),
                    resultCount: 2, fingerprint: "as it was"),
                Rule(id: "other", triggers: [], steps: []),
            ])
    }

    private static func named(_ steps: [Step], _ prefix: String) -> [Step] {
        steps.enumerated().map { index, step in
            var step = step
            step.path = "\(prefix)[\(index)].\(step.action.kind.rawValue)"
            return step
        }
    }

    /// A world of this set in which the button is held.
    static func world(_ set: RuleSet, at now: Instant) -> World {
        var world = World(set)
        world.clock = (noon, now)
        world.held = [PressSource(button: button)]
        return world
    }

    static let scope: Scope = {
        var scope = Scope()
        scope.absent = [:]
        scope.states["lux"] = Scope.Declared(slot: lux, type: .integer)
        scope.states["door"] = Scope.Declared(slot: door, type: .string.optional)
        scope.variables["volume"] = Scope.Declared(slot: volume, type: .integer)
        scope.variables["scene"] = Scope.Declared(slot: scene, type: .string)
        scope.variables["name"] = Scope.Declared(slot: name, type: .string)
        scope.inputs["lamp"] = Scope.Declared(slot: 0, type: .string)
        scope.results["answer"] = .always(slot: 0)
        scope.buttons["hall"] = 0
        scope.rules["other"] = 1
        return scope
    }()

    static func text(_ text: String, _ insertion: Insertion = .plain) throws -> Template {
        try Template(compiling: text, in: scope, inserting: insertion)
    }

    static func value(_ text: String) throws -> ValueTemplate {
        .template(try Template(compiling: text, in: scope, expecting: .anything))
    }

    static func condition(_ text: String) throws -> Condition {
        Condition(.expression(try Expression(compiling: text, in: scope, expecting: .condition)), text: text)
    }
}

extension Step {
    static func publish(_ topic: String, _ payload: String = "on") throws -> Step {
        Step(.publish(PublishStep(topicName: try RunKit.text(topic, .topic), payload: .text(try RunKit.text(payload)))))
    }

    static func publish(_ topic: String, json: JSONTemplate) throws -> Step {
        Step(.publish(PublishStep(topicName: try RunKit.text(topic, .topic), payload: .json(json))))
    }

    static func run(_ arguments: String..., stdin: String = "", env: [String: String] = [:]) throws -> Step {
        Step(
            .process(
                ProcessStep(
                    arguments: try arguments.map { try RunKit.text($0) },
                    environment: try env.sorted { $0.key < $1.key }
                        .map { .init($0.key, try RunKit.text($0.value)) },
                    standardInput: try RunKit.text(stdin))))
    }

    static func http(
        _ url: String, headers: [String: String] = [:], body: PayloadTemplate = .nothing,
        expect: [ExpectedStatus] = [.family(2)]
    ) throws -> Step {
        Step(
            .http(
                HTTPStep(
                    url: try RunKit.text(url, .url), method: "POST",
                    headers: try headers.sorted { $0.key < $1.key }
                        .map { .init($0.key, try RunKit.text($0.value, .header)) },
                    body: body, expectation: expect)))
    }

    static func delay(_ text: String) throws -> Step {
        Step(.delay(try Template(compiling: text, in: RunKit.scope, expecting: .anything)))
    }

    static func wait(_ until: String, _ timeout: Duration, otherwise: [Step]? = nil) throws -> Step {
        let until = try Expression(compiling: until, in: RunKit.scope, expecting: .condition)
        return Step(.wait(until: until, timeout: timeout, otherwise: otherwise))
    }

    static func set(_ variable: Int, _ text: String) throws -> Step {
        Step(.set([Assignment(variable: variable, value: try RunKit.value(text))]))
    }

    static func log(_ text: String) throws -> Step { Step(.log(.info, try RunKit.text(text))) }
    static func stop(_ text: String) throws -> Step { Step(.stop(try RunKit.text(text))) }
    static func cycle(_ entries: [Step]..., resetAfter: Duration? = nil) -> Step {
        Step(.cycle(entries, resetAfter: resetAfter))
    }

    static func count(_ count: Int, every: Duration, limit: Duration = .seconds(15), _ steps: Step...) -> Step {
        Step(.repeat(RepeatStep(extent: .count(count), every: every, limit: limit, steps: steps)))
    }

    static func whileHeld(every: Duration, limit: Duration = .seconds(15), _ steps: Step...) -> Step {
        Step(.repeat(RepeatStep(extent: .whileHeld, every: every, limit: limit, steps: steps)))
    }

    static func choose(_ branches: (String, [Step])..., otherwise: [Step] = []) throws -> Step {
        Step(
            .choose(
                try branches.map { Branch(conditions: [try RunKit.condition($0.0)], steps: $0.1) },
                otherwise: otherwise, isIf: false))
    }

    static func script(_ place: Int, with inputs: ValueTemplate?...) -> Step { Step(.script(place, with: inputs)) }

    // The keys of a step beside its action.
    func named(_ alias: String) -> Step { changed { $0.alias = alias } }
    func within(_ timeout: Duration) -> Step { changed { $0.timeout = timeout } }
    func switchedOff() -> Step { changed { $0.isEnabled = false } }
    func continuing() -> Step { changed { $0.continuesOnError = true } }
    func saving(as slot: Int = 0) -> Step { changed { $0.savesAs = slot } }
    func retrying(_ count: Int, after delay: Duration = .seconds(1), backOff: Double = 2) -> Step {
        changed { $0.retry = Retry(count: count, delay: delay, backOff: backOff) }
    }

    private func changed(_ change: (inout Step) -> Void) -> Step {
        var step = self
        change(&step)
        return step
    }
}

extension Action {
    static func message(_ topic: String, _ payload: String = "on") -> Action {
        .publish(PublishAction(topicName: topic, payload: Array(payload.utf8)))
    }

    /// A program with the facts of `RunKit.cause` in its environment.
    static func program(_ arguments: String..., stdin: String = "", env: [String] = []) -> Action {
        let event = [
            "TRYCK_RULE=hall", "TRYCK_BUTTON=hall", "TRYCK_UUID=00112233445566778899aabbccddeeff",
            "TRYCK_SERIAL=BA00-K00001", "TRYCK_EVENT=double_click", "TRYCK_CLICKS=2", "TRYCK_STEPS=-3",
            "TRYCK_QUEUED=false", "TRYCK_AGE_MS=0",
        ]
        return .process(
            ProcessAction(arguments: arguments, environment: event + env, standardInput: Array(stdin.utf8)))
    }

    static func said(_ text: String) -> Action { .log(.info, text) }
}

extension ResultFacts {
    init(isOK: Bool = true, status: Int64 = 0, stdout: String = "", stderr: String = "", body: String = "") {
        self.init()
        self.isOK = isOK
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.body = body
    }
}
