package import JSON

extension Value {
    /// The value as a leaf of JSON: booleans and numbers as such, text and durations as strings, unknown as `null`.
    ///
    /// Callers decide whether an unknown value may be sent.
    package var json: JSONValue {
        switch self {
        case .unknown: .null
        case .boolean(let value): .bool(value)
        case .integer(let value): .integer(value)
        // JSON has -0, the language does not.
        case .number(let value): .number(value == 0 ? 0 : value)
        case .string(let text): .string(text)
        case .duration: .string(text ?? "")
        case .list(let values): .array(values.map(\.json))
        }
    }
}
