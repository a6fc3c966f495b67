import ButtonModel
import Expressions
import JSON

/// The received values of the declared states, and when they expire.
struct StateTable: Sendable {
    /// The maximum length of a text in octets. A longer text makes the value unknown, and a longer message is not read as
    /// JSON.
    static let maximumLength = 65_536
    /// The shortest time between two reports of faulty messages for a state.
    static let faultInterval = Duration.seconds(600)

    private let declared: [DeclaredState]
    private let pointers: [JSONPointer?]
    private let indicesOfTopics: [String: [Int]]
    /// The states with `as`, by index, and their topics.
    private let filters: [(index: Int, filter: TopicFilter)]
    /// The values of the states in `filters`, by index.
    private var matches: [Int: TopicMatches] = [:]
    /// Sentences about states with too many topics since the last `takeWarnings`.
    private var warnings: [String] = []
    /// The received values, by index; `nil` if unknown.
    private var received: [Value?]
    /// When the values become unknown, by index.
    private var expiries = Deadlines<Int>()
    /// The messages since the last `takeFaults` that could not be converted.
    private var faults: [StateFault] = []
    /// When a fault of each state, by index, was last reported.
    private var reportedFaults: [Int: Instant] = [:]
    /// The number of messages that could not be converted, whether they were reported or not.
    private(set) var faultCount = 0
    /// The maximum number of topics in `oversized`. More are not reported, because a client of the broker can invent topics
    /// for a state with wildcards.
    private static let maximumOversized = 64
    /// Topics whose last message was too long to be read.
    private var oversized: Set<String> = []

    init(_ declared: [DeclaredState]) {
        self.declared = declared
        pointers = declared.map { JSONPointer($0.pointer) }
        indicesOfTopics = Dictionary(grouping: declared.indices) { declared[$0].topicName }
        filters = declared.indices.filter { declared[$0].combination != nil }
            .map { ($0, TopicFilter(declared[$0].topicName)) }
        received = Array(repeating: nil, count: declared.count)
    }

    /// The topics of all states, some with wildcards, sorted and unique.
    var topics: [String] { indicesOfTopics.keys.sorted() }

    /// The received value, or else the fallback.
    func value(at index: Int) -> Value {
        guard declared.indices.contains(index) else { return .unknown }
        return received[index] ?? declared[index].fallback
    }

    /// The received value without the fallback; `nil` if it is unknown.
    func receivedValue(at index: Int) -> Value? { received.indices.contains(index) ? received[index] : nil }

    /// The indices of the states with this topic.
    func indices(of topicName: String) -> [Int] {
        let exact = indicesOfTopics[topicName] ?? []
        guard !filters.isEmpty else { return exact }
        let others = filters.filter { !exact.contains($0.index) && $0.filter.matches(topicName) }
        return others.isEmpty ? exact : (exact + others.map(\.index)).sorted()
    }

    var nextDeadline: Instant? { expiries.earliest }

    /// The indices of the states that `expire` will make unknown.
    func expired(at now: Instant) -> [Int] { expiries.due(at: now) }

    private func hasPointer(_ indices: [Int]) -> Bool { indices.contains { !declared[$0].pointer.isEmpty } }

    /// True if the message is too long to be read as JSON and the previous message of its topic was not, so that a series of such
    /// messages is reported once.
    mutating func refusesFirst(_ payload: [UInt8], on topicName: String) -> Bool {
        guard payload.count > Self.maximumLength, hasPointer(indices(of: topicName)) else {
            if !oversized.isEmpty { oversized.remove(topicName) }
            return false
        }
        guard oversized.count < Self.maximumOversized else { return false }
        return oversized.insert(topicName).inserted
    }

    /// - Returns: the indices of the states with this topic.
    mutating func receive(_ payload: [UInt8], on topicName: String, at now: Instant) -> [Int] {
        let indices = indices(of: topicName)
        guard !indices.isEmpty else { return [] }
        let isRead = payload.count <= Self.maximumLength
        let json = isRead && hasPointer(indices) ? try? JSONValue(parsing: payload) : nil
        for index in indices {
            if declared[index].pointer.isEmpty {
                let text = String(decoding: payload.prefix(StateTable.maximumLength + 4), as: UTF8.self)
                let isKnown = set(.string(text), index, topicName, now)
                // An empty message only says that a retained message was removed, and `null` that there is no value.
                guard !isKnown, isRead, !payload.isEmpty, text != "null" else { continue }
                noteFault(.string(text), index, topicName, now)
            } else if let json {
                // A message without the value leaves the state unchanged, because many devices send only changed
                // values.
                guard let value = pointers[index]?.value(in: json) else { continue }
                let leaf = Value(leaf: value)
                let isKnown = set(leaf, index, topicName, now)
                if !isKnown, leaf != .unknown { noteFault(leaf, index, topicName, now) }
            } else {
                set(.unknown, index, topicName, now)
                if isRead, !payload.isEmpty {
                    noteFault(nil, index, topicName, now, text: String(decoding: payload, as: UTF8.self))
                }
            }
        }
        return indices
    }

    /// Sets the value as if a message on a topic had contained it.
    ///
    /// - Parameter topicName: for a state with `as`: the topic; `nil` sets the value of the whole state.
    /// - Returns: false if the value is unknown, or has another type than the state.
    @discardableResult
    mutating func set(_ value: Value, _ index: Int, _ topicName: String?, _ now: Instant) -> Bool {
        guard declared.indices.contains(index) else { return false }
        let state = declared[index]
        let expiry = state.maximumAge.map { now + $0 }
        guard let combination = state.combination else {
            received[index] = value.converted(to: state.type)
            expiries.set(index, at: received[index] == nil ? nil : expiry)
            return received[index] != nil
        }
        guard let topicName else {
            matches[index]?.removeAll()
            received[index] = value.converted(to: state.type)
            expiries.set(index, at: received[index] == nil ? nil : expiry)
            return received[index] != nil
        }
        // An empty message says that a retained message was removed, so the topic has no value any more.
        let isRemoved = state.pointer.isEmpty && value == .string("")
        let converted = isRemoved ? nil : value.converted(to: state.messageType)
        if matches[index, default: TopicMatches()].set(converted, of: topicName, until: expiry) {
            warnings.append(
                "state \(state.name) has values of \(DeclaredState.maximumMatches) topics, so \(topicName) is ignored")
        }
        combine(index, combination)
        return converted != nil
    }

    /// Computes the value of a state with `as` from the values of its topics.
    private mutating func combine(_ index: Int, _ combination: DeclaredState.Combination) {
        received[index] = matches[index]?.value(combination)
        expiries.set(index, at: matches[index]?.earliestExpiry)
    }

    /// Returns the sentences about states with too many topics, each once.
    mutating func takeWarnings() -> [String] {
        guard !warnings.isEmpty else { return [] }
        defer { warnings = [] }
        return warnings
    }

    /// Counts a message that could not be converted, and keeps it for `takeFaults`: the first one of a state, and then at
    /// most one in ten minutes.
    ///
    /// - Parameter value: `nil` if the message is no JSON, although the state has a pointer.
    private mutating func noteFault(
        _ value: Value?, _ index: Int, _ topicName: String, _ now: Instant, text: String = ""
    ) {
        faultCount += 1
        if let reported = reportedFaults[index], now - reported < StateTable.faultInterval { return }
        reportedFaults[index] = now
        let state = declared[index]
        // A state with `as: count` has no `type` that could be changed.
        let types: [ExpressionType.Scalar] = state.combination == .count ? [] : [.integer, .number, .boolean, .string]
        faults.append(
            StateFault(
                state: state.name, topicName: topicName, value: StateFault.shown(value?.text ?? text),
                type: state.messageType, isJSON: value != nil,
                fittingType: value.flatMap { value in types.first { $0 != state.type && value.converted(to: $0) != nil }
                }))
    }

    /// Returns the faults that must be reported now, each once.
    mutating func takeFaults() -> [StateFault] {
        guard !faults.isEmpty else { return [] }
        defer { faults = [] }
        return faults
    }

    /// Continues the count of an earlier table.
    mutating func continueCount(of earlier: StateTable) { faultCount += earlier.faultCount }

    /// - Returns: the indices of the states that have expired.
    mutating func expire(at now: Instant) -> [Int] {
        let expired = expiries.due(at: now)
        for index in expired {
            expiries.cancel(index)
            received[index] = nil
            guard let combination = declared[index].combination else { continue }
            matches[index]?.expire(at: now)
            combine(index, combination)
        }
        return expired
    }

    /// Copies the values of states with the same topic, pointer and type from an earlier table, whatever their names.
    ///
    /// - Returns: the topics whose retained messages must be read again, because the earlier table has no value for
    ///   some state.
    mutating func takeOver(_ old: StateTable, at now: Instant) -> [String] {
        struct Source: Hashable {
            var topicName, pointer: String
            var type: ExpressionType.Scalar
            var combination: DeclaredState.Combination?
        }
        func source(_ state: DeclaredState) -> Source {
            Source(
                topicName: state.topicName, pointer: state.pointer, type: state.type,
                combination: state.combination)
        }
        let indices = Dictionary(
            old.declared.indices.map { (source(old.declared[$0]), $0) }, uniquingKeysWith: { first, _ in first })
        var missing: Set<String> = []
        for (index, state) in declared.enumerated() {
            guard let before = indices[source(state)] else {
                missing.insert(state.topicName)
                continue
            }
            reportedFaults[index] = old.reportedFaults[before]
            if let combination = state.combination, var values = old.matches[before], !values.known.isEmpty {
                values.changeMaximumAge(from: old.declared[before].maximumAge, to: state.maximumAge, at: now)
                values.expire(at: now)
                matches[index] = values
                combine(index, combination)
                continue
            }
            received[index] = old.received[before]
            guard received[index] != nil else { continue }
            // The arrival of a value without `maximumAge` is not known, so its age is counted from now.
            let arrival = old.expiries.deadline(of: before).flatMap { expiry in
                old.declared[before].maximumAge.map { expiry - $0 }
            }
            expiries.set(index, at: state.maximumAge.map { (arrival ?? now) + $0 })
        }
        return missing.sorted()
    }
}

extension DeclaredState {
    /// The value while no value is known.
    var fallback: Value { combination == .count ? .integer(0) : defaultValue ?? .unknown }
}

extension Value {
    /// The value of a payload or a part of it; an object or an array becomes its JSON text.
    fileprivate init(leaf json: JSONValue) {
        self =
            switch json {
            case .null: .unknown
            case .bool(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .number(let value): .number(value)
            case .string(let text): .string(text)
            case .array, .object: .string(json.description)
            }
    }

    /// The value converted to the state's type; `nil` if it cannot be converted.
    fileprivate func converted(to type: ExpressionType.Scalar) -> Value? {
        guard let text, text.utf8.count <= StateTable.maximumLength else { return nil }
        return switch type {
        case .string: .string(text)
        case .integer: integerValue.map(Value.integer)
        case .number: numericValue.flatMap { $0.isFinite ? .number($0) : nil }
        case .boolean:
            switch text {
            case "true", "ON", "on", "1": .boolean(true)
            case "false", "OFF", "off", "0": .boolean(false)
            default: nil
            }
        case .duration: (try? DurationText.milliseconds(text)).map { .duration(milliseconds: $0) }
        }
    }
}
