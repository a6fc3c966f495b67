extension Value {
    /// The value as text: `true`, `12`, `0.5`, `1m30s`. `nil` for an unknown value and for lists.
    package var text: String? {
        switch self {
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .number(let value): Decimal(value).text
        case .string(let text): text
        case .duration(let milliseconds): DurationText.text(milliseconds: milliseconds)
        case .unknown, .list: nil
        }
    }
}
