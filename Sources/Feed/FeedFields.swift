import ButtonModel
import JSON

/// The members of a payload, read with their types and ranges.
struct FeedFields {
    /// The largest number of a message, a session or a term: JSON readers of other programs lose digits above it.
    static let maximumNumber = 1 << 53
    /// The maximum length in octets of a text, such as the name of a site.
    static let maximumTextLength = 64

    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    init(parsing octets: [UInt8], maximumLength: Int) throws(FeedPayloadFailure) {
        guard octets.count <= maximumLength else { throw .tooLong(octets.count) }
        do throws(JSONError) {
            value = try JSONValue(parsing: octets)
        } catch {
            throw .notJSON(error)
        }
    }

    func number(_ name: String, in range: ClosedRange<Int> = 0...FeedFields.maximumNumber)
        throws(FeedPayloadFailure) -> Int
    {
        guard let number = try optionalNumber(name, in: range) else { throw .missing(name) }
        return number
    }

    func optionalNumber(_ name: String, in range: ClosedRange<Int> = 0...FeedFields.maximumNumber)
        throws(FeedPayloadFailure) -> Int?
    {
        guard let member = value[name] else { return nil }
        guard let number = member.integerValue.map({ Int($0) }), range.contains(number) else { throw .invalid(name) }
        return number
    }

    func text(_ name: String) throws(FeedPayloadFailure) -> String {
        guard let member = value[name] else { throw .missing(name) }
        guard let text = member.stringValue, text.utf8.count <= Self.maximumTextLength else { throw .invalid(name) }
        return text
    }

    /// A text that is empty if it is missing.
    func optionalText(_ name: String) throws(FeedPayloadFailure) -> String { value[name] == nil ? "" : try text(name) }

    /// A member that is `false` if it is missing.
    func flag(_ name: String) throws(FeedPayloadFailure) -> Bool {
        guard let member = value[name] else { return false }
        guard let flag = member.boolValue else { throw .invalid(name) }
        return flag
    }

    /// A member with one of a few names.
    func word<Word>(_ name: String, _ parse: (String) -> Word?) throws(FeedPayloadFailure) -> Word {
        guard let word = try optionalWord(name, parse) else { throw .missing(name) }
        return word
    }

    func optionalWord<Word>(_ name: String, _ parse: (String) -> Word?) throws(FeedPayloadFailure) -> Word? {
        guard let member = value[name] else { return nil }
        guard let word = member.stringValue.flatMap(parse) else { throw .invalid(name) }
        return word
    }
}

/// Collects the members of a payload in their order.
struct FeedMembers {
    private(set) var members: [JSONValue.Member] = []

    var json: JSONValue { .object(members) }

    func encoded() -> [UInt8] { json.encoded() }

    mutating func add(_ name: String, _ number: Int?) {
        if let number { members.append(.init(name, .integer(Int64(number)))) }
    }

    mutating func add(_ name: String, _ text: String?) {
        if let text { members.append(.init(name, .string(text))) }
    }

    /// Adds a flag only if it is true.
    mutating func add(_ name: String, _ flag: Bool) {
        if flag { members.append(.init(name, .bool(true))) }
    }

    mutating func add(_ name: String, _ value: JSONValue) { members.append(.init(name, value)) }
}
