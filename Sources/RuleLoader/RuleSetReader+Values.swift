import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    /// Reads a value whose type is declared: a variable's `initial`, a state's `default`.
    ///
    /// - Parameter code: that of a value of another type.
    mutating func value(
        _ node: YAMLNode, key: String, _ type: ExpressionType.Scalar, code: String = "E203"
    ) -> Value? {
        switch type {
        case .boolean: checker.boolean(node, key: key, code: code).map(Value.boolean)
        case .integer: checker.integer(node, key: key, .min ... .max, code: code).map { .integer(Int64($0)) }
        case .number: checker.number(node, key: key, .anyNumber, code: code).map(Value.number)
        case .string: checker.text(node, key: key, .areForbidden, code: code).map { .string($0.string) }
        case .duration: checker.duration(node, key: key, .zero ... .longest).map { Value($0) }
        }
    }

    /// Reads a value whose spelling determines its type: `true`, `3`, `2.5`, `"3"`. A plain text that other YAML tools
    /// read as another type is refused (E208).
    ///
    /// - Parameter takesNull: whether hints may suggest `null`, which the caller then reads.
    mutating func value(_ node: YAMLNode, key: String, takesNull: Bool = false) -> Value? {
        guard case .scalar(let text, .plain) = node.content, node.tag == nil else {
            return checker.text(node, key: key, .areForbidden).map { .string($0.string) }
        }
        switch text {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        if YAMLNumber.isDecimal(text) { return number(text, node) }
        if let meaning = NameRules.otherMeaning(of: text) {
            checker.error(
                "E208", at: node, "\(text) could be text or \(meaning) here",
                hint: meaning == "null" && !takesNull
                    ? Hint("write \"\(text)\" in quotes", replacing: "\"\(text)\"")
                    : Hint("write \"\(text)\" in quotes, or \(meaning)", replacing: "\"\(text)\"", meaning))
            return nil
        }
        if YAMLNumber.looksLikeNumber(text) {
            checker.error(
                "E208", at: node, "\(checker.shown(text)) could be text or a number here",
                hint: Hint("quote it, or write it with decimal digits only", replacing: "\"\(text)\""))
            return nil
        }
        return checker.text(node, key: key, .areForbidden).map { .string($0.string) }
    }

    private mutating func number(_ text: String, _ node: YAMLNode) -> Value? {
        if YAMLNumber.isInteger(text) {
            if let value = Int64(text) { return .integer(value) }
        } else if let value = Double(text), value.isFinite {
            return .number(value)
        }
        checker.error(
            "E205", at: node, "\(checker.shown(text)) is too large for a number",
            hint: Hint("quote it if it is a text", replacing: "\"\(text)\""))
        return nil
    }

    /// Reads a rate, the number of runs in a duration: `20/1m`.
    mutating func rate(_ node: YAMLNode, key: String) -> Rule.Rate? {
        guard let text = checker.plainText(node, key: key, wanted: "a rate such as 20/1m") else { return nil }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, YAMLNumber.isInteger(String(parts[0])) else {
            checker.error(
                "E206", at: node, "\"\(checker.shown(text))\" is not a rate", hint: "write a number and a time: 20/1m")
            return nil
        }
        guard let count = Int(parts[0]), (1...Rule.Rate.largestCount).contains(count) else {
            checker.error(
                "E205", at: node, "\"\(key)\" must allow 1 to \(Rule.Rate.largestCount) runs, not \(parts[0])")
            return nil
        }
        switch DurationText.parse(String(parts[1])) {
        case .failure(let fault):
            checker.error(
                "E206", at: node, "\"\(checker.shown(String(parts[1])))\" \(fault.message)",
                hint: fault.hint.map { hint in
                    guard !hint.changes.isEmpty else { return "write a number and a time: 20/1m" }
                    return Hint(hint.sentence, hint.changes.map { .init(nil, "\(parts[0])/\($0.text)") })
                })
            return nil
        case .success(let duration):
            guard duration > .zero else {
                checker.error("E205", at: node, "\"\(key)\" needs a period longer than \(parts[1])")
                return nil
            }
            return Rule.Rate(count: count, per: duration)
        }
    }
}
