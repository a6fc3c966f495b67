import ButtonModel
import Expressions
import JSON

/// What messages brought for the declared states, and until when it counts.
struct StateTable: Sendable {
    /// A longer text is no value, and a longer message is not read as JSON.
    static let maximumLength = 65_536

    private let declared: [DeclaredState]
    private let pointers: [JSONPointer?]
    private let placesOfTopics: [String: [Int]]
    /// By place; `nil` is unknown.
    private var received: [Value?]
    /// When they become unknown, by place.
    private var expiries = DeadlineTable<Int>()
    /// Topics whose last message was too long to be read.
    private var oversized: Set<String> = []

    init(_ declared: [DeclaredState]) {
        self.declared = declared
        pointers = declared.map { JSONPointer($0.pointer) }
        placesOfTopics = Dictionary(grouping: declared.indices) { declared[$0].topicName }
        received = Array(repeating: nil, count: declared.count)
    }

    /// Sorted, each once.
    var topics: [String] { placesOfTopics.keys.sorted() }

    /// By place: what was received, else the fallback.
    func value(at place: Int) -> Value {
        guard declared.indices.contains(place) else { return .unknown }
        return received[place] ?? declared[place].fallback ?? .unknown
    }

    var nextDeadline: Instant? { expiries.earliest }

    private func hasPointer(_ places: [Int]) -> Bool { places.contains { !declared[$0].pointer.isEmpty } }

    /// Whether the message is too long to be read as JSON, and the one before it on its topic was not.
    mutating func refusesFirst(_ payload: [UInt8], on topicName: String) -> Bool {
        guard payload.count > Self.maximumLength, let places = placesOfTopics[topicName], hasPointer(places) else {
            if !oversized.isEmpty { oversized.remove(topicName) }
            return false
        }
        return oversized.insert(topicName).inserted
    }

    /// - Returns: the places of the states this was for.
    mutating func receive(_ payload: [UInt8], on topicName: String, at now: Instant) -> [Int] {
        guard let places = placesOfTopics[topicName] else { return [] }
        let isRead = payload.count <= Self.maximumLength
        let json = isRead && hasPointer(places) ? try? JSONValue(parsing: payload) : nil
        for place in places {
            if declared[place].pointer.isEmpty {
                set(.string(String(decoding: payload.prefix(StateTable.maximumLength + 4), as: UTF8.self)), place, now)
            } else if let json {
                // A message that does not speak of the state leaves it as it is: many devices tell only what changed.
                guard let value = pointers[place]?.value(in: json) else { continue }
                set(Value(leaf: value), place, now)
            } else {
                set(.unknown, place, now)
            }
        }
        return places
    }

    /// As if a message had brought it.
    mutating func set(_ value: Value, _ place: Int, _ now: Instant) {
        guard declared.indices.contains(place) else { return }
        let state = declared[place]
        received[place] = value.converted(to: state.type)
        expiries.set(place, received[place] == nil ? nil : state.maximumAge.map { now + $0 })
    }

    /// - Returns: the places of the states that are too old now.
    mutating func expire(at now: Instant) -> [Int] {
        let expired = expiries.due(at: now)
        for place in expired {
            received[place] = nil
            expiries.set(place, nil)
        }
        return expired
    }

    /// Takes over what the same declarations had under other names.
    ///
    /// - Returns: the topics that have to be read again, since what they said last was not kept for all that ask now.
    mutating func takeOver(_ old: StateTable, at now: Instant) -> [String] {
        struct Source: Hashable {
            var topicName, pointer: String
            var type: ExpressionType.Scalar
        }
        func source(_ state: DeclaredState) -> Source {
            Source(topicName: state.topicName, pointer: state.pointer, type: state.type)
        }
        let places = Dictionary(
            old.declared.indices.map { (source(old.declared[$0]), $0) }, uniquingKeysWith: { first, _ in first })
        var missing: Set<String> = []
        for (place, state) in declared.enumerated() {
            guard let before = places[source(state)] else {
                missing.insert(state.topicName)
                continue
            }
            received[place] = old.received[before]
            guard received[place] != nil else { continue }
            // Of what had no end the arrival is not known: it counts from now.
            let arrival = old.expiries[before].flatMap { expiry in old.declared[before].maximumAge.map { expiry - $0 } }
            expiries.set(place, state.maximumAge.map { (arrival ?? now) + $0 })
        }
        return missing.sorted()
    }
}

extension Value {
    /// What a payload or a place in it says; an object or an array as its text.
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

    /// What was received, as the state's type has it; `nil` where it cannot be.
    fileprivate func converted(to type: ExpressionType.Scalar) -> Value? {
        guard let text, text.utf8.count <= StateTable.maximumLength else { return nil }
        return switch type {
        case .string: .string(text)
        case .integer: wholeNumber.map(Value.integer)
        case .number: anyNumber.flatMap { $0.isFinite ? .number($0) : nil }
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
