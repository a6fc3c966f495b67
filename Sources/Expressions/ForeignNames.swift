/// Names and operators of other template languages, and hints what to write instead.
enum ForeignNames {
    /// The hint for an unknown function.
    ///
    /// - Parameters:
    ///   - arguments: the texts among its first arguments, in which other languages write the name of a state and a value.
    ///   - call: the octets of the call with its arguments.
    static func hint(
        forFunction name: String, _ arguments: [String], in scope: Scope, _ call: Range<Int>
    ) -> Hint? {
        switch name {
        case "is_state":
            .example(
                "write ",
                scope.exampleOfCondition(
                    naming: arguments.first, comparedWith: arguments.dropFirst().first ?? "ON"), at: call)
        case "state_attr", "from_json", "fromjson": "write json_get(text, '/pointer')"
        case "int": .write("integer")
        case "float": .write("number")
        case "str": .write("string")
        case "bool": "compare with == 'ON'"
        case "len", "count": .write("length")
        case "lowercase", "tolower": .write("lower")
        case "uppercase", "toupper": .write("upper")
        case "strip": .write("trim")
        case "to_json", "tojson": .write("json")
        case "urlencode": .write("url")
        case "rand", "randint", "random_int", "randrange":
            Hint("write random(1, 6)", [.init(call, "random(1, 6)")])
        case "is_defined", "defined", "has_value": .write("known")
        case "time", "today_at", "as_timestamp", "utcnow":
            Hint(
                "write now.time, now.hour or now.unix",
                ["now.time", "now.hour", "now.unix"].map { Hint.Change(call, $0) })
        default:
            Root(rawValue: name).map {
                .example("write ", scope.example(of: $0, naming: arguments.first), at: call)
            }
        }
    }

    /// The hint for an unknown name.
    static func hint(forName name: String) -> Hint? {
        switch name {
        case "True", "TRUE": .write("true")
        case "False", "FALSE": .write("false")
        case "None", "none", "nil", "Null", "NULL", "undefined", "unknown", "unavailable":
            Hint("write null, or '\(name)' for text", replacing: "null", "'\(name)'")
        default: nil
        }
    }

    /// The fields of `trigger` that other programs call by other names: they have the values before and after a change.
    static let fieldOfTrigger = [
        "from": "old", "from_state": "old", "to": "new", "to_state": "new", "value": "new",
    ]

    /// The hint for a word after a value, where an operator is expected.
    static func hint(forOperator name: String) -> Hint? {
        switch name {
        case "AND", "And": .write("and")
        case "OR", "Or": .write("or")
        case "NOT", "Not": .write("not")
        case "IN", "In": .write("in")
        case "is", "eq", "equals": comparison("==")
        case "ne": comparison("!=")
        case "lt": comparison("<")
        case "gt": comparison(">")
        default: nil
        }
    }

    static func comparison(_ symbol: String) -> Hint { Hint("to compare, write \(symbol)", replacing: symbol) }
}
