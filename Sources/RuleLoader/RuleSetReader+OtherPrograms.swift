import Expressions
import YAMLFiles

/// Files that are written like those of another program for automations: a list at the top, or the keys of a single rule.
extension RuleSetReader {
    private static let keysOfRule: Set<String> = [
        "alias", "trigger", "triggers", "condition", "conditions", "action", "actions",
    ]

    /// Reports a file whose top level is a list of rules or a rule, and returns whether it is.
    mutating func reportsMissingRules(_ root: YAMLNode) -> Bool {
        switch root.content {
        case .scalar, .invalid: return false
        case .sequence(let nodes):
            checker.error(
                "E203", from: root.start, to: root.start.advanced(by: 1),
                "a list at the top of a file is an automation of another program",
                hint: hint(for: nodes.first))
            return true
        case .mapping(let entries):
            guard !entries.contains(where: { $0.key.text == "rules" }),
                let first = entries.first(where: { RuleSetReader.keysOfRule.contains($0.key.text) })
            else { return false }
            checker.error(
                "E201", at: first.key,
                "\"\(first.key.text)\" at the top of a file is an automation of another program",
                hint: hint(for: root))
            return true
        }
    }

    /// The three lines with which a rule begins here. The name of the rule is made from its `id` or `alias`.
    private func hint(for rule: YAMLNode?) -> Hint {
        let title = rule?["id"]?.scalar ?? rule?["alias"]?.scalar ?? ""
        var name = ""
        for scalar in title.lowercased().unicodeScalars {
            let isPart = ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar)
            if isPart { name.unicodeScalars.append(scalar) } else if !name.hasSuffix("_") { name += "_" }
        }
        name = String(name.drop { !("a"..."z").contains($0) })
        while name.hasSuffix("_") { name.removeLast() }
        if !NameRules.isDeclarable(name) { name = "my_rule" }
        return Hint(
            "begin with the lines \"version: 1\", \"rules:\" and \"  - id: \(name)\"; "
                + "then write triggers: and actions:")
    }
}
