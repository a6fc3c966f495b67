import ButtonModel
package import Expressions
import Gestures
package import JSON
package import Rules

// The JSON of what the rules keep, in recordings and in the store's columns.

extension Value {
    /// With its type: `{"integer":3}`. What is unknown and lists are never kept.
    package var stored: JSONValue {
        switch self {
        case .unknown, .list: .null
        case .boolean(let value): ["boolean": .bool(value)]
        case .integer(let value): ["integer": .integer(value)]
        case .number(let value): ["number": .number(value)]
        case .string(let text): ["string": .string(text)]
        case .duration(let milliseconds): ["duration": .integer(milliseconds)]
        }
    }

    /// `nil` for what `stored` does not write.
    package init?(stored json: JSONValue) {
        guard let members = json.objectValue, members.count == 1, let member = members.first else { return nil }
        switch (member.name, member.value) {
        case ("boolean", .bool(let value)): self = .boolean(value)
        case ("integer", .integer(let value)): self = .integer(value)
        case ("number", .number(let value)) where value.isFinite: self = .number(value)
        case ("number", .integer(let value)): self = .number(Double(value))
        case ("string", .string(let text)): self = .string(text)
        case ("duration", .integer(let milliseconds)): self = .duration(milliseconds: milliseconds)
        default: return nil
        }
    }
}

extension RunCause {
    package var stored: JSONValue {
        var members: [JSONValue.Member] = [
            .init("button", button.map { .string($0.description) } ?? .null), .init("at_ms", .integer(at.milliseconds)),
        ]
        for field in TriggerField.allCases {
            switch facts.value(of: field) {
            case .string(let text): members.append(.init(field.storedName, .string(text)))
            case .integer(let value): members.append(.init(field.storedName, .integer(value)))
            case .boolean(let value): members.append(.init(field.storedName, .bool(value)))
            case .duration(let milliseconds):
                members.append(.init(field.storedName + Self.durationSuffix, .integer(milliseconds)))
            case .unknown, .number, .list: break  // No field has such a value.
            }
        }
        return .object(members)
    }

    /// `nil` for JSON that is not a cause. Missing members have the values of a run that was requested.
    package init?(stored json: JSONValue) {
        guard let time = json["at_ms"]?.integerValue, let button = json.button else { return nil }
        var facts = TriggerFacts()
        for field in TriggerField.allCases {
            let value: Value? =
                switch facts.value(of: field) {
                case .string: json[field.storedName]?.stringValue.map(Value.string)
                case .integer: json[field.storedName]?.integerValue.map(Value.integer)
                case .boolean: json[field.storedName]?.boolValue.map(Value.boolean)
                case .duration:
                    json[field.storedName + Self.durationSuffix]?.integerValue.map { .duration(milliseconds: $0) }
                case .unknown, .number, .list: nil
                }
            if let value { facts.set(field, to: value) }
        }
        self.init(button: button, facts: facts, at: UTCTime(milliseconds: time))
    }

    /// Durations are stored in milliseconds.
    private static let durationSuffix = "_ms"
}

extension TriggerField {
    /// The name of the member in a stored cause, whose member `button` is the button's id.
    fileprivate var storedName: String { self == .button ? "name" : rawValue }
}

extension JSONValue {
    /// The member `button`, which may be missing or null; `nil` where it is anything else than a button's id.
    fileprivate var button: ButtonID?? {
        switch self["button"] {
        case nil, .null: .some(nil)
        case .string(let text): ButtonID(text).map { .some($0) }
        case .bool, .integer, .number, .array, .object: nil
        }
    }
}

extension WaitingRun {
    package var stored: JSONValue {
        [
            "run": .integer(Int64(clamping: run.rawValue)), "rule": .string(rule), "fingerprint": .string(fingerprint),
            "occurrence": cause.stored, "ends_at_ms": .integer(endsAt.milliseconds), "saved": .string(saved),
        ]
    }

    package init?(stored json: JSONValue) {
        guard let run = json["run"]?.integerValue.flatMap({ Tally($0) }),
            let rule = json["rule"]?.stringValue, let fingerprint = json["fingerprint"]?.stringValue,
            let cause = json["occurrence"].flatMap({ RunCause(stored: $0) }),
            let endsAt = json["ends_at_ms"]?.integerValue, let saved = json["saved"]?.stringValue
        else { return nil }
        self.init(
            run: RunID(rawValue: UInt64(run.value)), rule: rule, fingerprint: fingerprint, cause: cause,
            endsAt: UTCTime(milliseconds: endsAt), saved: saved)
    }
}

extension KeptEvent {
    package var stored: JSONValue {
        var members: [JSONValue.Member] = [
            .init("rule", .string(rule)), .init("fingerprint", .string(fingerprint)),
            .init("trigger", .integer(Int64(trigger))),
            .init("number", .integer(Int64(clamping: number))), .init("occurrence", cause.stored),
        ]
        if let hold { members.append(.init("hold_age_ms", .integer(hold.age.milliseconds))) }
        return .object(members)
    }

    package init?(stored json: JSONValue) {
        guard let rule = json["rule"]?.stringValue, let fingerprint = json["fingerprint"]?.stringValue,
            let trigger = json["trigger"]?.integerValue.flatMap({ Int(exactly: $0) }),
            let number = json["number"]?.integerValue.flatMap({ UInt64(exactly: $0) }),
            let cause = json["occurrence"].flatMap({ RunCause(stored: $0) }), let button = cause.button
        else { return nil }
        // Only events of the button's memory are kept, and their holds are from there, too.
        let hold = json["hold_age_ms"]?.integerValue.map {
            RecognisedEvent.Lateness(wasQueued: true, age: .milliseconds($0))
        }
        self.init(
            rule: rule, fingerprint: fingerprint, trigger: trigger, button: button, number: number, cause: cause,
            hold: hold)
    }
}

extension CyclePosition {
    package var stored: JSONValue { ["next": .integer(Int64(next)), "at_ms": .integer(at.milliseconds)] }

    package init?(stored json: JSONValue) {
        guard let next = json["next"]?.integerValue.flatMap({ Int(exactly: $0) }), let at = json["at_ms"]?.integerValue
        else { return nil }
        self.init(next: next, at: UTCTime(milliseconds: at))
    }
}

extension EnabledOverride {
    package var stored: JSONValue { ["enabled": .bool(isEnabled), "in_file": .bool(inFile)] }

    package init?(stored json: JSONValue) {
        guard let isEnabled = json["enabled"]?.boolValue, let inFile = json["in_file"]?.boolValue else { return nil }
        self.init(isEnabled: isEnabled, inFile: inFile)
    }
}

extension Cooldown {
    package var stored: JSONValue {
        [
            "rule": .string(rule), "button": button.map { .string($0.description) } ?? .null,
            "ends_at_ms": .integer(endsAt.milliseconds),
        ]
    }

    package init?(stored json: JSONValue) {
        guard let rule = json["rule"]?.stringValue, let endsAt = json["ends_at_ms"]?.integerValue,
            let button = json.button
        else { return nil }
        self.init(rule: rule, button: button, endsAt: UTCTime(milliseconds: endsAt))
    }
}

extension RuleState {
    package var stored: JSONValue {
        [
            "variables": .object(variables.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.stored) }),
            "cycles": .object(cycles.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.stored) }),
            "enabled": .object(enabled.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.stored) }),
            "cooldowns": .array(cooldowns.map(\.stored)), "waiting": .array(waitingRuns.map(\.stored)),
            "kept": .array(keptEvents.map(\.stored)),
            "resets": .object(
                dailyTimes.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value.milliseconds)) }),
        ]
    }

    /// Ignores members that this version does not know.
    package init(stored json: JSONValue) {
        self.init()
        for member in json["variables"]?.objectValue ?? [] { variables[member.name] = Value(stored: member.value) }
        for member in json["cycles"]?.objectValue ?? [] { cycles[member.name] = CyclePosition(stored: member.value) }
        for member in json["enabled"]?.objectValue ?? [] {
            enabled[member.name] = EnabledOverride(stored: member.value)
        }
        cooldowns = (json["cooldowns"]?.arrayValue ?? []).compactMap { Cooldown(stored: $0) }
        for member in json["resets"]?.objectValue ?? [] {
            dailyTimes[member.name] = member.value.integerValue.map { UTCTime(milliseconds: $0) }
        }
        waitingRuns = (json["waiting"]?.arrayValue ?? []).compactMap { WaitingRun(stored: $0) }
        keptEvents = (json["kept"]?.arrayValue ?? []).compactMap { KeptEvent(stored: $0) }
    }
}
