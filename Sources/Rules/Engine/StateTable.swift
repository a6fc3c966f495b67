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
    /// Topics whose last message was too long to be read.
    private var oversized: Set<String> = []

    init(_ declared: [DeclaredState]) {
        self.declared = declared
        pointers = declared.map { JSONPointer($0.pointer) }
        indicesOfTopics = Dictionary(grouping: declared.indices) { declared[$0].topicName }
        received = Array(repeating: nil, count: declared.count)
    }

    /// The topics of all states, sorted and unique.
    var topics: [String] { indicesOfTopics.keys.sorted() }

    /// The received value, or else the fallback.
    func value(at index: Int) -> Value {
        guard declared.indices.contains(index) else { return .unknown }
        return received[index] ?? declared[index].defaultValue ?? .unknown
    }

    /// The received value without the fallback; `nil` if it is unknown.
    func receivedValue(at index: Int) -> Value? { received.indices.contains(index) ? received[index] : nil }

    /// The indices of the states with this topic.
    func indices(of topicName: String) -> [Int] { indicesOfTopics[topicName] ?? [] }

    var nextDeadline: Instant? { expiries.earliest }

    /// The indices of the states that `expire` will make unknown.
    func expired(at now: Instant) -> [Int] { expiries.due(at: now) }

    private func hasPointer(_ indices: [Int]) -> Bool { indices.contains { !declared[$0].pointer.isEmpty } }

    /// True if the message is too long to be read as JSON, and the one before it on its topic was not.
    mutating func refusesFirst(_ payload: [UInt8], on topicName: String) -> Bool {
        guard payload.count > Self.maximumLength, let indices = indicesOfTopics[topicName], hasPointer(indices) else {
            if !oversized.isEmpty { oversized.remove(topicName) }
            return false
        }
        return oversized.insert(topicName).inserted
    }

    /// - Returns: the indices of the states with this topic.
    mutating func receive(_ payload: [UInt8], on topicName: String, at now: Instant) -> [Int] {
        guard let indices = indicesOfTopics[topicName] else { return [] }
        let isRead = payload.count <= Self.maximumLength
        let json = isRead && hasPointer(indices) ? try? JSONValue(parsing: payload) : nil
        for index in indices {
            if declared[index].pointer.isEmpty {
                let text = String(decoding: payload.prefix(StateTable.maximumLength + 4), as: UTF8.self)
                set(.string(text), index, now)
                // An empty message only says that a retained message was removed.
                if received[index] == nil, isRead, !payload.isEmpty { noteFault(.string(text), index, now) }
            } else if let json {
                // A message without the value leaves the state unchanged, because many devices send only changed
                // values.
                guard let value = pointers[index]?.value(in: json) else { continue }
                let leaf = Value(leaf: value)
                set(leaf, index, now)
                if received[index] == nil, leaf != .unknown { noteFault(leaf, index, now) }
            } else {
                set(.unknown, index, now)
                if isRead, !payload.isEmpty {
                    noteFault(nil, index, now, text: String(decoding: payload, as: UTF8.self))
                }
            }
        }
        return indices
    }

    /// Sets the value as if a message had contained it.
    mutating func set(_ value: Value, _ index: Int, _ now: Instant) {
        guard declared.indices.contains(index) else { return }
        let state = declared[index]
        received[index] = value.converted(to: state.type)
        expiries.set(index, at: received[index] == nil ? nil : state.maximumAge.map { now + $0 })
    }

    /// Counts a message that could not be converted, and keeps it for `takeFaults`: the first one of a state, and then at
    /// most one in ten minutes.
    ///
    /// - Parameter value: `nil` if the message is no JSON, although the state has a pointer.
    private mutating func noteFault(_ value: Value?, _ index: Int, _ now: Instant, text: String = "") {
        faultCount += 1
        if let reported = reportedFaults[index], now - reported < StateTable.faultInterval { return }
        reportedFaults[index] = now
        let state = declared[index]
        let types: [ExpressionType.Scalar] = [.integer, .number, .boolean, .string]
        faults.append(
            StateFault(
                state: state.name, topicName: state.topicName, value: StateFault.shown(value?.text ?? text),
                type: state.type, isJSON: value != nil,
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
            received[index] = nil
            expiries.cancel(index)
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
        }
        func source(_ state: DeclaredState) -> Source {
            Source(topicName: state.topicName, pointer: state.pointer, type: state.type)
        }
        let indices = Dictionary(
            old.declared.indices.map { (source(old.declared[$0]), $0) }, uniquingKeysWith: { first, _ in first })
        var missing: Set<String> = []
        for (index, state) in declared.enumerated() {
            guard let before = indices[source(state)] else {
                missing.insert(state.topicName)
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
