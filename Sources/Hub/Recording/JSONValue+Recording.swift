import ButtonModel
import JSON
import Radios
import Rules

// The encoding of single values in a recording.

extension JSONValue {
    init(_ number: some FixedWidthInteger) { self = .integer(Int64(clamping: number)) }

    /// The address, with ` random` after it if it is a random address: `C0:11:22:33:44:55 random`.
    init(_ address: BluetoothAddress) {
        self = .string(address.kind == .random ? "\(address) random" : "\(address)")
    }

    init(_ id: ButtonID) { self = .string(id.description) }

    /// The duration in nanoseconds; an array of nanoseconds and attoseconds if it is not a whole number of nanoseconds.
    init(exactly duration: Duration) {
        let remainder = duration - .nanoseconds(duration.nanoseconds)
        let nanoseconds = JSONValue(duration.nanoseconds)
        self = remainder == .zero ? nanoseconds : [nanoseconds, JSONValue(remainder.components.attoseconds)]
    }

    /// Redacted octets: a string if they are a text, else an array of numbers. Octets that are too long become an object with
    /// their `beginning` and their `length`.
    init(octets: [UInt8], hiding redaction: Redaction, keeping maximum: Int = Recording.maximumOctets) {
        let kept = Array(octets.prefix(maximum))
        let value: JSONValue
        if let text = String(validating: kept, as: UTF8.self) {
            value = .string(redaction(jsonOrText: text))
        } else {
            let text = String(decoding: kept, as: UTF8.self)
            let hidden = redaction(text)
            value = hidden == text ? .array(kept.map { JSONValue($0) }) : .string(hidden)
        }
        self = kept.count < octets.count ? ["beginning": value, "length": JSONValue(octets.count)] : value
    }
}

extension JSONValue {
    /// The object with a further member if `isThere` is true, otherwise the object itself. A member that a button does not have is
    /// left out of its record, so that the record stays the same as that of an older version.
    func adding(_ name: String, _ value: JSONValue, if isThere: Bool) -> JSONValue {
        guard isThere, case .object(let members) = self else { return self }
        return .object(members + [Member(name, value)])
    }

    /// A member that must exist.
    func member<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(RecordingFailure) -> Value {
        guard let value = self[name].flatMap(read) else { throw .badMember(name) }
        return value
    }

    /// The time of a clock in milliseconds since 1970; `nil` outside the years 1…9999, because calendars and rules
    /// calculate with the clock, and other times could overflow.
    var clockTime: UTCTime? {
        guard let time = integerValue, (-62_135_596_800_000...253_402_300_799_999).contains(time) else { return nil }
        return UTCTime(milliseconds: time)
    }

    /// A member that may be missing or null.
    func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(RecordingFailure) -> Value? {
        guard let value = self[name], value != .null else { return nil }
        guard let read = read(value) else { throw .badMember(name) }
        return read
    }

    func string(_ name: String) throws(RecordingFailure) -> String { try member(name, \.stringValue) }
    func bool(_ name: String) throws(RecordingFailure) -> Bool { try member(name, \.boolValue) }

    func integer<Number: FixedWidthInteger>(_ name: String) throws(RecordingFailure) -> Number {
        try member(name) { $0.integerValue.flatMap(Number.init(exactly:)) }
    }

    func tally(_ name: String) throws(RecordingFailure) -> Tally {
        try member(name) { $0.integerValue.flatMap { Tally($0) } }
    }

    func button(_ name: String) throws(RecordingFailure) -> ButtonID {
        try member(name) { $0.stringValue.flatMap { ButtonID($0) } }
    }

    func octets(_ name: String) throws(RecordingFailure) -> [UInt8] { try member(name, \.octetsValue) }

    func duration(_ name: String) throws(RecordingFailure) -> Duration { try member(name, \.durationValue) }

    var addressValue: BluetoothAddress? {
        guard let words = stringValue?.split(separator: " ", maxSplits: 1), let first = words.first else { return nil }
        guard let second = words.dropFirst().first else { return BluetoothAddress(first) }
        return second == "random" ? BluetoothAddress(first, kind: .random) : nil
    }

    var durationValue: Duration? {
        if let nanoseconds = integerValue { return .nanoseconds(nanoseconds) }
        guard let parts = arrayValue, parts.count == 2, let nanoseconds = parts[0].integerValue,
            let attoseconds = parts[1].integerValue, (-999_999_999...999_999_999).contains(attoseconds)
        else { return nil }
        return .nanoseconds(nanoseconds) + Duration(secondsComponent: 0, attosecondsComponent: attoseconds)
    }

    var octetsValue: [UInt8]? {
        let value = self["beginning"] ?? self
        if let text = value.stringValue { return Array(text.utf8) }
        guard let numbers = value.arrayValue else { return nil }
        let octets = numbers.compactMap { $0.integerValue.flatMap(UInt8.init(exactly:)) }
        return octets.count == numbers.count ? octets : nil
    }
}

extension RadioID {
    /// The member `radio`, which recordings of version 0.2 and before do not have.
    init(recorded object: JSONValue) throws(RecordingFailure) {
        self.init(rawValue: try object.optional("radio") { $0.integerValue.flatMap(UInt8.init(exactly:)) } ?? 0)
    }
}
