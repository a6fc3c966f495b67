package import JSON

extension Value {
    /// As a leaf of JSON: booleans and numbers as such, text and durations as strings, what is unknown as `null`.
    ///
    /// Whoever sends it decides beforehand whether an unknown value may be sent at all.
    package var json: JSONValue {
        switch self {
        case .unknown: .null
        case .boolean(let value): .bool(value)
        case .integer(let value): .integer(value)
        // JSON can write -0, the language cannot.
        case .number(let value): .number(value == 0 ? 0 : value)
        case .string(let text): .string(text)
        case .duration: .string(text ?? "")
        case .list(let values): .array(values.map(\.json))
        }
    }
}
