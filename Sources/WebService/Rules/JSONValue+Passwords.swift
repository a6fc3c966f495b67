package import JSON
import RuleLoader

extension JSONValue {
    /// The value as the page may show it: `***` in place of each password that `PasswordPlaces` finds in a text.
    ///
    /// The daemon's answers quote rules, for example in the address of a web request, a line of the log, or a diagnostic. The
    /// daemon masks only values of `!secret` and `!env_var` in them.
    package var withoutPasswords: JSONValue {
        switch self {
        case .null, .bool, .integer, .number: self
        case .string(let text): .string(Self.withoutPasswords(text))
        case .array(let values): .array(values.map(\.withoutPasswords))
        case .object(let members): .object(members.map { .init($0.name, $0.value.withoutPasswords) })
        }
    }

    private static func withoutPasswords(_ text: String) -> String {
        let octets = Array(text.utf8)
        let places = PasswordPlaces.find(in: octets)
        guard !places.isEmpty else { return text }
        var masked: [UInt8] = []
        var position = 0
        for place in places {
            masked += octets[position..<place.lowerBound] + Array("***".utf8)
            position = place.upperBound
        }
        return String(decoding: masked + octets[position...], as: UTF8.self)
    }
}
