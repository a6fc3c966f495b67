/// The functions of the language. The raw value is the function's name.
package enum Function: String, CaseIterable, Hashable, Sendable {
    case known, `default`, integer, number, string
    case round, floor, ceil, abs, min, max, clamp
    case lower, upper, trim, replace, slice, length
    case contains
    case startsWith = "starts_with"
    case endsWith = "ends_with"
    case like, next, seconds, milliseconds
    case minutesSince = "minutes_since"
    case json
    case jsonGet = "json_get"
    case url
    case inTime = "in_time"
    case random
}

/// The parameters and the result of a function, for the compiler, the reference and completion.
package struct FunctionDescription: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Any type, including optional types.
        case anything
        /// Any type that is not optional.
        case value
        case text
        case integer
        case number
        case textOrNumber
        case duration
        case numberOrDuration
        case list
        /// A time of day, as a text literal.
        case clock
    }

    package struct Parameter: Hashable, Sendable {
        package var name: String
        package var kind: Kind
        package var isRequired = true
    }

    package enum Outcome: Hashable, Sendable {
        case always(ExpressionType)
        /// The common type of all arguments.
        case likeArguments
        /// The common type of all arguments; optional only if the last argument is.
        case likeArgumentsWithFallback
        /// The type of the list's elements.
        case entry
        /// Number if the optional argument is given, else integer.
        case integerUnlessPlaces
    }

    package var parameters: [Parameter]
    /// True if the last parameter may be repeated, up to `Limits.listCount` arguments in all.
    package var isVariadic = false
    package var outcome: Outcome
    /// A description in one line.
    package var summary: String
}

extension Function {
    package var description: FunctionDescription {
        typealias Parameter = FunctionDescription.Parameter
        func row(
            _ parameters: [(String, FunctionDescription.Kind)], _ outcome: FunctionDescription.Outcome,
            _ summary: String,
            optional: (String, FunctionDescription.Kind)? = nil, isVariadic: Bool = false
        ) -> FunctionDescription {
            FunctionDescription(
                parameters: parameters.map { Parameter(name: $0.0, kind: $0.1) }
                    + (optional.map { [Parameter(name: $0.0, kind: $0.1, isRequired: false)] } ?? []),
                isVariadic: isVariadic, outcome: outcome, summary: summary)
        }
        return switch self {
        case .known: row([("x", .anything)], .always(.boolean), "whether x is known")
        case .default: row([("x", .anything), ("d", .anything)], .likeArgumentsWithFallback, "x, or d if x is unknown")
        case .integer:
            row(
                [("x", .textOrNumber)], .always(.integer), "x as an integer; if x is not one, d, or else a failure",
                optional: ("d", .integer))
        case .number:
            row(
                [("x", .textOrNumber)], .always(.number), "x as a number; if x is not one, d, or else a failure",
                optional: ("d", .number))
        case .string: row([("x", .anything)], .always(.string), "x as text")
        case .round:
            row(
                [("x", .number)], .integerUnlessPlaces, "x rounded half away from zero, to n digits after the point",
                optional: ("n", .integer))
        case .floor: row([("x", .number)], .always(.integer), "x rounded down")
        case .ceil: row([("x", .number)], .always(.integer), "x rounded up")
        case .abs: row([("x", .number)], .likeArguments, "the absolute value of x")
        case .min:
            row(
                [("a", .numberOrDuration), ("b", .numberOrDuration)], .likeArguments, "the smallest argument",
                isVariadic: true)
        case .max:
            row(
                [("a", .numberOrDuration), ("b", .numberOrDuration)], .likeArguments, "the largest argument",
                isVariadic: true)
        case .clamp:
            row(
                [("x", .numberOrDuration), ("low", .numberOrDuration), ("high", .numberOrDuration)], .likeArguments,
                "x limited to the range from low to high")
        case .lower: row([("s", .text)], .always(.string), "s in lower case")
        case .upper: row([("s", .text)], .always(.string), "s in upper case")
        case .trim: row([("s", .text)], .always(.string), "s without white space at both ends")
        case .replace:
            row([("s", .text), ("a", .text), ("b", .text)], .always(.string), "s with b in place of every a")
        case .slice:
            row(
                [("s", .text), ("from", .integer), ("length", .integer)], .always(.string),
                "length characters of s, beginning at index from; the first index is 0")
        case .length: row([("s", .text)], .always(.integer), "the number of characters of s")
        case .contains: row([("s", .text), ("t", .text)], .always(.boolean), "whether t occurs in s")
        case .startsWith: row([("s", .text), ("t", .text)], .always(.boolean), "whether s begins with t")
        case .endsWith: row([("s", .text), ("t", .text)], .always(.boolean), "whether s ends with t")
        case .like:
            row(
                [("s", .text), ("p", .text)], .always(.boolean),
                "whether s matches p; * matches any text, ? any character")
        case .next:
            row(
                [("list", .list), ("x", .value)], .entry,
                "the entry after x; after the last entry the first; next(variables.x) uses the values of x")
        case .seconds: row([("d", .duration)], .always(.number), "d in seconds")
        case .milliseconds: row([("d", .duration)], .always(.integer), "d in milliseconds")
        case .minutesSince:
            row([("time", .text)], .always(.integer), "the whole minutes since a time such as trigger.at")
        case .json: row([("x", .value)], .always(.string), "x as JSON")
        case .jsonGet:
            row(
                [("s", .text), ("pointer", .text)], .always(.string.optional),
                "the value at the JSON Pointer in the JSON text s, as text")
        case .url: row([("s", .text)], .always(.string), "s percent-encoded, including /")
        case .inTime:
            row(
                [("after", .clock), ("before", .clock)], .always(.boolean),
                "whether the time is in the window, such as in_time('22:00', '06:00')")
        case .random:
            row([("a", .integer), ("b", .integer)], .always(.integer), "a random integer from a to b, both included")
        }
    }

    /// The function with its parameters, such as `round(x, n)`.
    package var usage: String {
        let names = description.parameters.map(\.name).joined(separator: ", ")
        return "\(rawValue)(\(names)\(description.isVariadic ? ", …" : ""))"
    }
}
