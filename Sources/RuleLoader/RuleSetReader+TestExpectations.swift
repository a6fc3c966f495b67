import ButtonModel
import Expressions
import JSON
import Rules
import YAMLFiles

/// Reads the effects and outcomes that a test expects: `expect` and `expect_rules`.
extension RuleSetReader {
    mutating func expectedEffects(_ node: YAMLNode) -> [ExpectedEffect]? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E603", at: node, "\"expect\" is a list of effects",
                    hint: Hint(
                        "for nothing write []",
                        node.scalar == nil ? checker.wrapping(node, in: "[", "]") : [.init(nil, "[]")]))
            }
            return nil
        }
        let effects = nodes.compactMap { checker.reportsNullEntry($0) ? nil : expectedEffect($0) }
        return effects.count == nodes.count ? effects : nil
    }

    private mutating func expectedEffect(_ node: YAMLNode) -> ExpectedEffect? {
        guard case .mapping = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    "E603", at: node, "an expected effect must be a mapping, not \(checker.kind(of: node))",
                    hint: "write publish: {…}, run: […], shell: …, http: {…} or log: …")
            }
            return nil
        }
        guard let fields = checker.fields(node, .expectedEffect),
            let key = checker.action(
                of: Set(StepKind.expected.map(\.rawValue)), in: fields, "an expected effect", code: "E603",
                hint: "add publish:, run:, shell:, http: or log:"),
            let value = fields.node(key.text)
        else { return nil }
        let kind = StepKind(rawValue: key.text)?.language.expectation?.read(&self, value)
        return kind.map { ExpectedEffect($0, at: fields.duration("at"), location: location(of: key)) }
    }

    // MARK: Parts of effects

    /// - Returns: `nil` when the content is faulty; a content of `nil` when none is written.
    mutating func expectedContent(_ fields: CheckedMapping, text: String) -> (content: ExpectedContent?, Void)? {
        let names = [text, "json", "json_includes"]
        let written = names.compactMap { fields.key($0) }.sorted { $0.start < $1.start }
        guard let key = written.first else { return (nil, ()) }
        guard written.count == 1 else {
            checker.error(
                "E210", at: written[1], "give either \"\(key.text)\" or \"\(written[1].text)\", not both")
            return nil
        }
        guard key.text != text else { return fields.string(text).map { (.text($0), ()) } }
        guard let node = fields.node(key.text), let json = readJSON(node, in: scope) else { return nil }
        guard case .value(let value) = json else {
            checker.error(
                "E407", at: node, "no template is allowed in an expectation",
                hint: "write the value that is expected")
            return nil
        }
        return (key.text == "json" ? .json(value) : .jsonIncluding(value), ())
    }

    mutating func texts(_ node: YAMLNode, key: String) -> [String]? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error("E603", at: node, "\"\(key)\" must be a list", hint: "write \(key): [one, two]")
            }
            return nil
        }
        let texts = nodes.compactMap { node in
            checker.reportsNullArgument(node) ? nil : checker.text(node, key: key, .areForbidden)?.string
        }
        return texts.count == nodes.count ? texts : nil
    }

    /// The entries of `env` or `headers`: none when the key is absent, `nil` when its value is faulty.
    mutating func expectedFields(_ fields: CheckedMapping, _ key: String) -> [ExpectedField]? {
        guard let node = fields.node(key) else { return fields.isWritten(key) ? nil : [] }
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    "E603", at: node, "\"\(key)\" must be a mapping of name to text",
                    hint: "write \(key): {NAME: value}")
            }
            return nil
        }
        let read = entries.compactMap { entry -> ExpectedField? in
            guard !checker.reportsNull(entry, hint: "write \"\" for an empty one") else { return nil }
            return checker.text(entry.value, key: entry.key.text, .areForbidden).map {
                ExpectedField(entry.key.text, $0.string)
            }
        }
        return read.count == entries.count ? read : nil
    }

    // MARK: Rules

    mutating func expectedOutcomes(_ node: YAMLNode) -> [ExpectedOutcome]? {
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    "E603", at: node, "\"expect_rules\" must be a mapping of rule to outcome",
                    hint: "write expect_rules: {\(ruleSet.rules.first?.id ?? "rule"): completed}")
            }
            return nil
        }
        let words = Outcome.allCases.map(\.rawValue)
        return entries.compactMap { entry in
            guard isRule(entry.key.text) else {
                reportUnknown(entry.key.text, of: ruleNames, at: entry.key)
                return nil
            }
            guard !checker.reportsNull(entry),
                let word = checker.plainText(entry.value, key: entry.key.text, wanted: "an outcome such as completed")
            else { return nil }
            guard let outcome = Outcome(rawValue: word) else {
                let near = checker.nearest(to: word, among: words).map { Hint.meant($0) }
                checker.error(
                    "E603", at: entry.value, "\"\(checker.shown(word))\" is not an outcome",
                    hint: near ?? Hint("one of \(Checker.list(words))"))
                return nil
            }
            return ExpectedOutcome(rule: entry.key.text, outcome: outcome)
        }
    }
}
