import ButtonModel
import Expressions
import Hub
import JSON
import Rules

// The encoding of changes in a `Reserve`: JSON arrays that begin with the kind of the change.
extension StoreChange {
    private enum ReserveKind: String {
        case progress, battery, percentage, started, ended, variable, cycle, enabled, cooldown, waiting, kept, reset
        case put, remove, settings
        case publishWatermark = "heard"
        case feed

        /// The number of elements in the JSON array, including the kind.
        var elementCount: Int {
            switch self {
            case .progress: 8
            case .kept: 4
            case .battery, .percentage: 5
            case .started: 6
            case .publishWatermark, .variable, .cycle, .enabled, .waiting, .reset, .settings, .feed: 3
            case .ended, .cooldown, .put, .remove: 2
            }
        }
    }

    /// The change as JSON; `nil` if it is not stored in a reserve, because the button reports the value again.
    var reserveJSON: JSONValue? {
        switch self {
        case .progress(let id, let cursor, let recogniser, let pressCount, let sequence, let publishWatermark, let seen):
            Self.array(
                .progress, .string(id.description), .init(cursor), .string(recogniser), .integer(pressCount.value),
                .integer(sequence.value), .integer(publishWatermark), seen.map { .integer($0.milliseconds) } ?? .null)
        case .publishWatermark(let id, let publishWatermark):
            Self.array(.publishWatermark, .string(id.description), .integer(publishWatermark))
        case .runStarted(let run):
            Self.array(
                .started, .integer(Int64(clamping: run.id)), .string(run.rule),
                run.button.map { .string($0.description) } ?? .null, .init(run.event),
                .integer(run.startedAt.milliseconds))
        case .runEnded(let id): Self.array(.ended, .integer(Int64(clamping: id)))
        case .rules(.variable(let name, let value)): Self.array(.variable, .string(name), value?.stored ?? .null)
        case .rules(.cycle(let key, let position)): Self.array(.cycle, .string(key), position?.stored ?? .null)
        case .rules(.enabled(let rule, let override)): Self.array(.enabled, .string(rule), override?.stored ?? .null)
        case .rules(.cooldown(let cooldown)): Self.array(.cooldown, cooldown.stored)
        case .rules(.waiting(let run, let waiting)):
            Self.array(.waiting, .integer(Int64(clamping: run.rawValue)), waiting?.stored ?? .null)
        case .rules(.kept(let rule, let button, let event)):
            Self.array(.kept, .string(rule), .string(button.description), event?.stored ?? .null)
        case .rules(.daily(let key, let time)):
            Self.array(.reset, .string(key), time.map { .integer($0.milliseconds) } ?? .null)
        case .putButton(let button): Self.array(.put, button.kept)
        case .removeButton(let id): Self.array(.remove, .string(id.description))
        case .settings(let id, let settings): Self.array(.settings, .string(id.description), settings.kept)
        case .fact(let id, let fact):
            fact.column.reserveKind.map { [.string($0), .string(id.description), fact.value] }
        case .battery(let id, let millivolts, let measuredAt, let isLow):
            Self.array(
                .battery, .string(id.description), .integer(Int64(millivolts)), .integer(measuredAt.milliseconds),
                .bool(isLow))
        case .batteryPercentage(let id, let percentage, let measuredAt, let isLow):
            Self.array(
                .percentage, .string(id.description), .integer(Int64(percentage)), .integer(measuredAt.milliseconds),
                .bool(isLow))
        case .feed(let change): Self.array(.feed, .string(change.key), change.value ?? .null)
        }
    }

    private static func array(_ kind: ReserveKind, _ values: JSONValue...) -> JSONValue {
        .array([.string(kind.rawValue)] + values)
    }

    /// - Returns: `nil` for JSON that `reserveJSON` does not write.
    init?(reserveJSON json: JSONValue) {
        guard let values = json.arrayValue, let name = values.first?.stringValue else { return nil }
        if values.count == 3, let id = values[1].buttonID, let fact = StoredFact(reserveKind: name, value: values[2]) {
            self = .fact(id, fact)
            return
        }
        guard let kind = ReserveKind(rawValue: name), values.count == kind.elementCount else { return nil }
        /// Reads an element that may be null; the outer optional is `nil` if the element is invalid.
        func value<T>(_ index: Int, _ read: (JSONValue) -> T?) -> T?? {
            values[index] == .null ? .some(nil) : read(values[index]).map { .some($0) }
        }
        switch kind {
        case .progress:
            guard let id = values[1].buttonID, let cursor = EventCursor(values[2]),
                let recogniser = values[3].stringValue, let pressCount = values[4].integerValue.flatMap({ Tally($0) }),
                let sequence = values[5].integerValue.flatMap({ Tally($0) }),
                let publishWatermark = values[6].integerValue,
                let seen = value(7, \.integerValue)
            else { return nil }
            self = .progress(
                id, cursor, recogniser: recogniser, pressCount: pressCount, sequence: sequence,
                publishWatermark: publishWatermark,
                seen: seen.map { UTCTime(milliseconds: $0) })
        case .battery, .percentage:
            guard let id = values[1].buttonID, let level = values[2].integerValue.flatMap({ Int(exactly: $0) }),
                let measuredAt = values[3].integerValue.map({ UTCTime(milliseconds: $0) }),
                let isLow = values[4].boolValue
            else { return nil }
            self =
                kind == .battery
                ? .battery(id, millivolts: level, measuredAt: measuredAt, isLow: isLow)
                : .batteryPercentage(id, level, measuredAt: measuredAt, isLow: isLow)
        case .publishWatermark:
            guard let id = values[1].buttonID, let publishWatermark = values[2].integerValue else { return nil }
            self = .publishWatermark(id, publishWatermark)
        case .started:
            guard let id = values[1].runNumber, let rule = values[2].stringValue,
                let button = value(3, \.buttonID), let event = EventCursor(values[4]),
                let startedAt = values[5].integerValue
            else { return nil }
            self = .runStarted(
                StoredRun(
                    id: id, rule: rule, button: button, event: event, startedAt: UTCTime(milliseconds: startedAt)))
        case .ended:
            guard let id = values[1].runNumber else { return nil }
            self = .runEnded(id)
        case .variable:
            guard let name = values[1].stringValue, let value = value(2, { Value(stored: $0) }) else { return nil }
            self = .rules(.variable(name, value))
        case .cycle:
            guard let key = values[1].stringValue, let position = value(2, { CyclePosition(stored: $0) })
            else { return nil }
            self = .rules(.cycle(key, position))
        case .enabled:
            guard let rule = values[1].stringValue, let override = value(2, { EnabledOverride(stored: $0) })
            else { return nil }
            self = .rules(.enabled(rule: rule, override))
        case .cooldown:
            guard let cooldown = Cooldown(stored: values[1]) else { return nil }
            self = .rules(.cooldown(cooldown))
        case .waiting:
            guard let run = values[1].runNumber, let waiting = value(2, { WaitingRun(stored: $0) }) else { return nil }
            self = .rules(.waiting(RunID(rawValue: run), waiting))
        case .kept:
            guard let rule = values[1].stringValue, let button = values[2].buttonID,
                let event = value(3, { KeptEvent(stored: $0) })
            else { return nil }
            self = .rules(.kept(rule: rule, button, event))
        case .reset:
            guard let variable = values[1].stringValue, let time = value(2, \.integerValue) else { return nil }
            self = .rules(.daily(variable, time.map { UTCTime(milliseconds: $0) }))
        case .put:
            guard let button = StoredButton(kept: values[1]) else { return nil }
            self = .putButton(button)
        case .remove:
            guard let id = values[1].buttonID else { return nil }
            self = .removeButton(id)
        case .settings:
            guard let id = values[1].buttonID, let settings = ButtonSettings(kept: values[2]) else { return nil }
            self = .settings(id, settings)
        case .feed:
            guard let key = values[1].stringValue,
                let change = FeedChange(key: key, value: values[2] == .null ? nil : values[2])
            else { return nil }
            self = .feed(change)
        }
    }
}

extension JSONValue {
    fileprivate init(_ cursor: EventCursor) {
        self = .array(
            [cursor.bootID, cursor.eventCount, cursor.smallEventCount].map { .integer(Int64($0)) })
    }

    fileprivate var buttonID: ButtonID? { stringValue.flatMap { ButtonID($0) } }
    /// A run's id, which is less than the maximum so that `nextRun` can be larger.
    fileprivate var runNumber: UInt64? {
        integerValue.flatMap { (0..<Int64.max).contains($0) ? UInt64($0) : nil }
    }
}

extension EventCursor {
    fileprivate init?(_ json: JSONValue) {
        let counts = (json.arrayValue ?? []).compactMap { $0.integerValue.flatMap(UInt32.init(exactly:)) }
        guard counts.count == 3, json.arrayValue?.count == 3 else { return nil }
        self.init(bootID: counts[0], eventCount: counts[1], smallEventCount: counts[2])
    }
}
