import ButtonModel
import Expressions
import Gestures
import JSON
import MQTTTopics
import Rules

/// A button as users know it.
struct ButtonName: Hashable, Sendable {
    var id: ButtonID
    /// The name in the rules, else the button's own.
    var label: String
}

/// Something that happened, for the clients that watch. `line` is its form in the live stream.
enum Occurrence: Sendable {
    /// - Parameters:
    ///   - address: of the adapter, if it is ready.
    ///   - reason: a sentence for users, if it is not.
    ///   - radio: the name of the radio, if there are several.
    case adapter(AdapterState, address: BluetoothAddress? = nil, reason: String? = nil, radio: String? = nil)
    /// The labels of the buttons that have no link, because the adapter has no room for all.
    case linkShortage(waiting: [String])
    case brokerConnected
    case brokerDisconnected(reason: String)
    /// The run and its rule are `nil` if no run has published the message.
    case published(MQTTMessage, by: RunID? = nil, rule: String? = nil)
    case sourceConnected(url: String, adapter: String)
    case sourceLost(url: String, reason: String)

    /// The state of a button's link, or how it has departed. The radio is named when the button is ready, if there are several.
    case button(ButtonName, state: String, radio: String? = nil)
    case disconnected(ButtonName, reason: String)
    case sessionFailed(ButtonName, reason: String, advice: String)
    /// - Parameter data: everything that is known of the button.
    case changed(label: String, data: JSONValue)
    case event(ButtonName, String, RecognisedEvent, at: UTCTime)
    case batteryLow(ButtonName, at: UTCTime)
    /// A step of the search for new buttons, or of a pairing.
    case pairing([JSONValue.Member])
    case firmware(ButtonName, FirmwareStep)

    case runStarted(RunID, rule: String, RunCause, button: String?)
    case ruleStopped(rule: String, Gate, RunCause, button: String?, reason: String)
    case stepFailed(
        RunID, rule: String, step: String, SourceLocation, code: String, message: String, isFinal: Bool)
    case runEnded(RunID, rule: String, RunResult)
    /// The run and its rule are `nil` if no run has set the variable.
    case variable(String, Value, by: RunID? = nil, rule: String? = nil)
    /// A `log` step.
    case ruleLog(RunID, rule: String, LogLevel, String)
    /// A message of a state that cannot be converted to the type of the state (R830).
    case stateFault(StateFault)
    case jobEnded(EndedJob, by: RunID, rule: String)
    case rulesLoaded(isOK: Bool, fingerprint: String, count: Int, problems: [JSONValue])

    /// The progress of a firmware update.
    enum FirmwareStep: Hashable, Sendable {
        case waiting
        /// - Parameter percentage: 0…100.
        case transferring(percentage: Int)
        case finished
        case failed(reason: String, advice: String)
    }

    private var kind: StreamKind {
        switch self {
        case .adapter: .adapter
        case .linkShortage: .linkShortage
        case .brokerConnected, .brokerDisconnected: .broker
        case .published: .publish
        case .sourceConnected, .sourceLost: .source
        case .button: .button
        case .disconnected: .disconnected
        case .sessionFailed: .sessionFailed
        case .changed: .changed
        case .event, .batteryLow: .event
        case .pairing: .pairing
        case .firmware: .firmware
        case .runStarted, .ruleStopped, .stepFailed, .runEnded: .rule
        case .variable: .variable
        case .ruleLog: .ruleLog
        case .stateFault: .stateFault
        case .jobEnded(let job, _, _): job.streamKind
        case .rulesLoaded: .rules
        }
    }

    /// The line of the live stream without secrets. Its kind stays, because clients tell lines apart by it, also if a secret is
    /// the same word.
    func line(hiding redaction: Redaction) -> JSONValue {
        guard case .object(var members) = redaction(line) else { return .null }
        members[0] = JSONValue.Member("kind", .string(kind.rawValue))
        return .object(members)
    }

    /// The line of the live stream.
    var line: JSONValue {
        var line: [JSONValue.Member] = [.init("kind", .string(kind.rawValue))]
        func add(_ name: String, _ value: JSONValue) { line.append(.init(name, value)) }
        func add(_ button: ButtonName) {
            add("button", .string(button.label))
            add("id", .string(button.id.description))
        }
        func add(_ run: RunID) { add("run", .integer(Int64(clamping: run.rawValue))) }
        switch self {
        case .adapter(let state, let address, let reason, let radio):
            add("state", .string(state.name))
            if let radio { add("radio", .string(radio)) }
            if let address { add("address", .string(address.description)) }
            if let reason { add("reason", .string(reason)) }
        case .linkShortage(let waiting): add("waiting", .array(waiting.map { .string($0) }))
        case .brokerConnected: add("state", "connected")
        case .brokerDisconnected(let reason):
            add("state", "disconnected")
            add("reason", .string(reason))
        case .published(let message, let run, let rule):
            add("topic", .string(message.topicName))
            add("payload", .string(String(decoding: message.payload, as: UTF8.self)))
            add("qos", .integer(Int64(message.qos)))
            add("retain", .bool(message.retain))
            if let rule { add("rule", .string(rule)) }
            if let run { add(run) }
        case .sourceConnected(let url, let adapter):
            add("url", .string(url))
            add("connected", true)
            add("adapter", .string(adapter))
        case .sourceLost(let url, let reason):
            add("url", .string(url))
            add("connected", false)
            add("reason", .string(reason))
        case .button(let button, let state, let radio):
            add(button)
            add("state", .string(state))
            if let radio { add("radio", .string(radio)) }
        case .disconnected(let button, let reason):
            add(button)
            add("reason", .string(reason))
        case .sessionFailed(let button, let reason, let advice):
            add(button)
            add("reason", .string(reason))
            add("advice", .string(advice))
        case .changed(let label, let data):
            add("button", .string(label))
            add("data", data)
        case .event(let button, let name, let recognised, let at):
            add(button)
            line += Self.members(of: recognised, name, at: at)
        case .batteryLow(let button, let at):
            add(button)
            add("event", "battery_low")
            add("queued", false)
            add("age_ms", 0)
            add("at", .string(at.description))
        case .pairing(let members): line += members
        case .firmware(let button, let step):
            add(button)
            line += step.members
        case .runStarted(let run, let rule, let cause, let button):
            line += Self.members(of: rule, cause, button, outcome: "started")
            add(run)
        case .ruleStopped(let rule, let gate, let cause, let button, let reason):
            line += Self.members(of: rule, cause, button, outcome: gate.rawValue)
            if !reason.isEmpty { add("reason", .string(reason)) }
        case .stepFailed(let run, let rule, let step, let place, let code, let message, let isFinal):
            add("rule", .string(rule))
            add(run)
            add("outcome", "step_failed")
            add("step", .string(step))
            line += place.members
            add("code", .string(code))
            add("reason", .string(message))
            add("final", .bool(isFinal))
        case .runEnded(let run, let rule, let result):
            add("rule", .string(rule))
            add(run)
            add("outcome", .string(result.rawValue))
        case .variable(let name, let value, let run, let rule):
            add("variable", .string(name))
            add("value", value.json)
            if let rule { add("rule", .string(rule)) }
            if let run { add(run) }
        case .ruleLog(let run, let rule, let level, let message):
            add("rule", .string(rule))
            add("level", .string(level.rawValue))
            add("message", .string(message))
            add(run)
        case .stateFault(let fault):
            add("state", .string(fault.state))
            add("topic", .string(fault.topicName))
            add("value", .string(fault.value))
            add("code", .string(StateFault.code))
            add("message", .string(fault.message))
        case .jobEnded(let job, let run, let rule):
            line += job.members(rule: rule)
            add(run)
        case .rulesLoaded(let isOK, let fingerprint, let count, let problems):
            add("state", isOK ? "ok" : "error")
            add("active", .string(fingerprint))
            add("rules", .integer(Int64(count)))
            add("problems", .array(problems))
        }
        return .object(line)
    }

    private static func members(
        of rule: String, _ cause: RunCause, _ button: String?, outcome: String
    ) -> [JSONValue.Member] {
        [
            .init("rule", .string(rule)), .init("button", button.map { .string($0) } ?? .null),
            .init("event", .string(cause.facts.event)), .init("outcome", .string(outcome)),
        ] + cause.changeMembers
    }

    private static func members(of recognised: RecognisedEvent, _ name: String, at: UTCTime) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("event", .string(name)), .init("queued", .bool(recognised.wasQueued)),
            .init("age_ms", .integer(recognised.age.milliseconds)), .init("at", .string(at.description)),
        ]
        recognised.facts.forEachOptionalMember(steps: recognised.steps) { members.append(.init($0, $1)) }
        return members
    }
}

extension Occurrence.FirmwareStep {
    fileprivate var members: [JSONValue.Member] {
        switch self {
        case .waiting: [.init("state", "waiting")]
        case .transferring(let percentage):
            [.init("state", "transferring"), .init("percentage", .integer(Int64(percentage)))]
        case .finished: [.init("state", "finished")]
        case .failed(let reason, let advice):
            [.init("state", "failed"), .init("reason", .string(reason)), .init("advice", .string(advice))]
        }
    }
}

extension RecognisedEvent {
    /// The steps of a rotation; `nil` for other events.
    var steps: Int? {
        if case .rotation(let steps, _) = kind { steps } else { nil }
    }
}
