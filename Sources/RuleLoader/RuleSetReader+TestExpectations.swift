import ButtonModel
import JSON
import Rules

/// Reads the effects and outcomes that a test expects: `expect` and `expect_rules`.
extension RuleSetReader {
    mutating func expectedEffects(_ node: YAMLNode) -> [ExpectedEffect]? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E603", at: node, "\"expect\" is a list of effects", hint: "for nothing write []")
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
        let kind = StepKind(rawValue: key.text).flatMap { expected($0, value) }
        return kind.map { ExpectedEffect($0, at: fields.duration("at"), location: location(of: key)) }
    }

    mutating func expectedPublish(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard let fields = checker.fields(node, .expectedPublish, owner: "\"publish\""),
            let payload = expectedContent(fields, text: "payload")
        else { return nil }
        return .publish(
            topic: fields.string("topic"), payload: payload.content, qos: fields.integer("qos"),
            retain: fields.boolean("retain"))
    }

    mutating func expectedRun(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        switch node.content {
        case .invalid: return nil
        case .sequence:
            return texts(node, key: "run").map { .run(arguments: $0, environment: [], directory: nil, stdin: nil) }
        case .scalar(let text, _):
            let words = text.split(separator: " ").joined(separator: ", ")
            checker.error(
                "E603", at: node, "\"run\" must be a list or a mapping",
                hint: "write run: [\(checker.shown(words))]")
            return nil
        case .mapping: break
        }
        guard let fields = checker.fields(node, .expectedRun, owner: "\"run\"") else { return nil }
        var arguments: [String]?
        if let argv = fields.node("argv") { arguments = texts(argv, key: "argv") }
        guard let environment = expectedFields(fields, "env") else { return nil }
        return .run(
            arguments: arguments, environment: environment, directory: fields.string("cwd"),
            stdin: fields.string("stdin"))
    }

    mutating func expectedShell(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard case .mapping = node.content else {
            return checker.text(node, key: "shell", .areText).map {
                .shell(script: $0.string, arguments: nil, environment: [], directory: nil, stdin: nil)
            }
        }
        guard let fields = checker.fields(node, .expectedShell, owner: "\"shell\"") else { return nil }
        var arguments: [String]?
        if let args = fields.node("args") { arguments = texts(args, key: "args") }
        guard let environment = expectedFields(fields, "env") else { return nil }
        return .shell(
            script: fields.string("script"), arguments: arguments, environment: environment,
            directory: fields.string("cwd"), stdin: fields.string("stdin"))
    }

    mutating func expectedHTTP(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard let fields = checker.fields(node, .expectedHTTP, owner: "\"http\""),
            let body = expectedContent(fields, text: "body"), let headers = expectedFields(fields, "headers")
        else { return nil }
        return .http(
            url: fields.string("url"), method: fields.string("method"), headers: headers, body: body.content)
    }

    mutating func expectedLog(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard case .mapping = node.content else {
            return checker.text(node, key: "log", .areForbidden).map { .log(level: nil, message: $0.string) }
        }
        guard let fields = checker.fields(node, .expectedLog, owner: "\"log\"") else { return nil }
        return .log(
            level: fields.string("level").flatMap(LogLevel.init(rawValue:)), message: fields.string("message"))
    }

    // MARK: Parts of effects

    /// - Returns: `nil` when the content is faulty; a content of `nil` when none is written.
    private mutating func expectedContent(_ fields: CheckedMapping, text: String) -> (content: ExpectedContent?, Void)?
    {
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

    private mutating func texts(_ node: YAMLNode, key: String) -> [String]? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error("E603", at: node, "\"\(key)\" must be a list", hint: "write \(key): [one, two]")
            }
            return nil
        }
        let texts = nodes.compactMap { node in
            checker.reportsNullEntry(node, hint: "write \"\" for an empty argument")
                ? nil : checker.text(node, key: key, .areForbidden)?.string
        }
        return texts.count == nodes.count ? texts : nil
    }

    /// The entries of `env` or `headers`: none when the key is absent, `nil` when its value is faulty.
    private mutating func expectedFields(_ fields: CheckedMapping, _ key: String) -> [ExpectedField]? {
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
                let near = checker.nearest(to: word, among: words).map { "did you mean \"\($0)\"?" }
                checker.error(
                    "E603", at: entry.value, "\"\(checker.shown(word))\" is not an outcome",
                    hint: near ?? "one of \(Checker.list(words))")
                return nil
            }
            return ExpectedOutcome(rule: entry.key.text, outcome: outcome)
        }
    }
}
