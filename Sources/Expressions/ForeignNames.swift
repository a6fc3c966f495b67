/// Names and operators of other template languages, and hints what to write instead.
enum ForeignNames {
    /// The hint for an unknown function.
    ///
    /// - Parameter arguments: the texts among its first arguments, in which other languages write the name of a state and a
    ///   value.
    static func hint(forFunction name: String, _ arguments: [String], in scope: Scope) -> String? {
        switch name {
        case "is_state":
            "write "
                + scope.exampleOfCondition(
                    naming: arguments.first, comparedWith: arguments.dropFirst().first ?? "ON")
        case "state_attr", "from_json", "fromjson": "write json_get(text, '/pointer')"
        case "int": "write integer"
        case "float": "write number"
        case "str": "write string"
        case "bool": "compare with == 'ON'"
        case "len", "count": "write length"
        case "lowercase", "tolower": "write lower"
        case "uppercase", "toupper": "write upper"
        case "strip": "write trim"
        case "to_json", "tojson": "write json"
        case "urlencode": "write url"
        case "rand", "randint", "random_int", "randrange": "write random(1, 6)"
        case "is_defined", "defined", "has_value": "write known"
        case "time", "today_at", "as_timestamp", "utcnow": "write now.time, now.hour or now.unix"
        default: Root(rawValue: name).map { "write \(scope.example(of: $0, naming: arguments.first))" }
        }
    }

    /// The hint for an unknown name.
    static func hint(forName name: String) -> String? {
        switch name {
        case "True", "TRUE": "write true"
        case "False", "FALSE": "write false"
        case "None", "none", "nil", "Null", "NULL", "undefined", "unknown", "unavailable":
            "write null, or '\(name)' for text"
        default: nil
        }
    }

    /// The hint for a word after a value, where an operator is expected.
    static func hint(forOperator name: String) -> String? {
        switch name {
        case "AND", "And": "write and"
        case "OR", "Or": "write or"
        case "NOT", "Not": "write not"
        case "IN", "In": "write in"
        case "is", "eq", "equals": "to compare, write =="
        case "ne": "to compare, write !="
        case "lt": "to compare, write <"
        case "gt": "to compare, write >"
        default: nil
        }
    }
}
