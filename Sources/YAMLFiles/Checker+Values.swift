package import Diagnostics
package import Expressions

extension Checker {
    mutating func value(_ node: YAMLNode, _ type: ValueType, key: String) -> CheckedMapping.Value? {
        switch type {
        case .template, .anything: .node
        case .text(let templates): text(node, key: key, templates).map(CheckedMapping.Value.text)
        case .name: name(node, key: key).map { .text(LoadedText(string: $0, isSecret: false)) }
        case .boolean: boolean(node, key: key).map(CheckedMapping.Value.boolean)
        case .integer(let range): integer(node, key: key, range).map(CheckedMapping.Value.integer)
        case .number(let range): number(node, key: key, range).map(CheckedMapping.Value.number)
        case .duration(let range): duration(node, key: key, range).map(CheckedMapping.Value.duration)
        case .oneOf(let words, let planned):
            oneOf(node, key: key, words, planned: planned).map { .text(LoadedText(string: $0, isSecret: false)) }
        }
    }

    /// Returns the text of a scalar that has neither a tag nor a template. Reports anything else with `code`, or E407 for a
    /// template.
    private mutating func plainScalar(
        _ node: YAMLNode, key: String, wanted: @autoclosure () -> String, code: String = "E203"
    ) -> (String, YAMLNode.ScalarStyle)? {
        switch node.content {
        case .invalid: return nil
        case .scalar(let text, let style):
            if let tag = node.tag {
                error(code, at: node, "\"\(key)\" must be \(wanted()); \(tag.rawValue) gives text")
                return nil
            }
            return refusesTemplate(node, key: key) ? nil : (text, style)
        case .sequence, .mapping:
            error(code, at: node, "\"\(key)\" must be \(wanted()), not \(kind(of: node))")
            return nil
        }
    }

    /// Reports E407 and returns true when the value of `key` holds a template.
    mutating func refusesTemplate(_ node: YAMLNode, key: String) -> Bool {
        guard node.holdsTemplate else { return false }
        refuse("E407", templateIn: node, "no template is allowed in \"\(key)\"")
        return true
    }

    /// Reports an error at the opening braces of a template in a node that allows none.
    package mutating func refuse(_ code: String, templateIn node: YAMLNode, _ message: String, hint: Hint? = nil) {
        let mark = node.scalar?.contains("{{") == true ? "{{" : "{%"
        let start = position(of: mark, in: node)
        error(code, from: start, to: start.advanced(by: 2), alias: node.alias, message, hint: hint)
    }

    /// Reads a keyword or a declared name, in which tags and templates are refused.
    package mutating func plainText(_ node: YAMLNode, key: String, wanted: String) -> String? {
        guard let (text, _) = plainScalar(node, key: key, wanted: wanted),
            !rejectsTemplate(text, node, key: key, .areForbidden)
        else { return nil }
        return text
    }

    package func kind(of node: YAMLNode) -> String {
        switch node.content {
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .scalar, .invalid: "a text"
        }
    }

    // MARK: Text

    /// Reads any scalar as text and resolves its tag: `!literal`, `!secret` or `!env_var`.
    package mutating func text(
        _ node: YAMLNode, key: String, _ templates: ValueType.Templates, code: String = "E203"
    ) -> LoadedText? {
        guard case .scalar(let written, _) = node.content else {
            if case .invalid = node.content { return nil }
            error(code, at: node, "\"\(key)\" must be a text, not \(kind(of: node))")
            return nil
        }
        switch node.tag {
        case .literal: return LoadedText(string: written, isSecret: false)
        case .secret: return secret(written, node)
        case .environmentVariable: return environmentVariable(written, node)
        case nil: break
        }
        guard !rejectsTemplate(written, node, key: key, templates) else { return nil }
        return LoadedText(string: written, isSecret: false)
    }

    mutating func rejectsTemplate(
        _ text: String, _ node: YAMLNode, key: String, _ templates: ValueType.Templates
    ) -> Bool {
        let mark: String
        switch templates {
        case .areText: return false
        case .areForbidden:
            guard let brace = text.utf8.firstIndex(of: UInt8(ascii: "{")) else { return false }
            let rest = text[brace...]
            if rest.contains("{{") {
                mark = "{{"
            } else if rest.contains("{%") {
                mark = "{%"
            } else {
                return false
            }
        }
        let start = position(of: mark, in: node)
        if mark == "{%" {
            error(
                "E408", from: start, to: start.advanced(by: 2), alias: node.alias, "{% … %} is not supported",
                hint: "write !literal before text that is not a template")
        } else {
            error(
                "E407", from: start, to: start.advanced(by: 2), alias: node.alias,
                "no template is allowed in \"\(key)\"")
        }
        return true
    }

    private mutating func secret(_ name: String, _ node: YAMLNode) -> LoadedText? {
        if inputs.hasPlaceholders { return confidential(Self.placeholder(of: name), name: name) }
        let start = position(of: "!secret", in: node)
        switch secrets.value(of: name) {
        case .found(let value):
            noteSecret(value)
            return confidential(value, name: name)
        case .unreadable: return nil
        case .hidden:
            error(
                "E309", from: start, to: start.advanced(by: 7), alias: node.alias,
                "\(secrets.fileName) cannot be read by this user",
                hint: "run the command with sudo; the daemon's user must be able to read it, too")
            return nil
        case .missing(let hint):
            error(
                "E309", from: start, to: start.advanced(by: 7), alias: node.alias,
                "secret \"\(shown(name))\" is not in \(secrets.fileName)",
                hint: hint.map { self.hint($0, forSecret: name, in: node) })
            return nil
        }
    }

    /// The message about a secret is about its tag, and the hint about the name after it.
    private func hint(_ hint: Hint, forSecret name: String, in node: YAMLNode) -> Hint {
        guard reportsExactly,
            let tag = source.find("!secret", from: node.start, to: node.end)?.advanced(by: "!secret".count),
            let place = source.octets(of: name, from: tag, to: node.end)
        else { return Hint(hint.sentence) }
        return Hint(hint.sentence, hint.changes.map { Hint.Change(place, $0.text) })
    }

    private mutating func environmentVariable(_ written: String, _ node: YAMLNode) -> LoadedText? {
        let parts = written.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        if inputs.hasPlaceholders { return confidential(Self.placeholder(of: name), name: name) }
        if let value = inputs.variables[name] { return confidential(value, name: name) }
        if parts.count == 2 { return confidential(String(parts[1]), name: name) }
        let start = position(of: "!env_var", in: node)
        error(
            "E310", from: start, to: start.advanced(by: 8), alias: node.alias,
            "environment variable \(shown(name)) is not set and has no default")
        return nil
    }

    // MARK: Words and numbers

    package mutating func boolean(_ node: YAMLNode, key: String, code: String = "E203") -> Bool? {
        guard let (text, style) = plainScalar(node, key: key, wanted: "true or false", code: code) else { return nil }
        switch (text, style) {
        case ("true", .plain): return true
        case ("false", .plain): return false
        default: break
        }
        let hint: Hint? =
            switch text.lowercased() {
            case text where text == "true" || text == "false": Hint("remove the quotes", replacing: text)
            case "true", "false": .write(text.lowercased())
            case "yes", "on", "y": .write("true")
            case "no", "off", "n": .write("false")
            case "~": Hint("write true or false", replacing: "true", "false")
            default: nil
            }
        error(code, at: node, "\"\(key)\" must be true or false, not the text \"\(shown(text))\"", hint: hint)
        return nil
    }

    /// Returns the text of a number without quotes, which messages call `wanted`. Reports anything else with `code`.
    private mutating func numeral(
        _ node: YAMLNode, key: String, wanted: String, code: String, _ isNumeral: (String) -> Bool
    ) -> String? {
        guard let (text, style) = plainScalar(node, key: key, wanted: wanted, code: code) else { return nil }
        guard isNumeral(text) else {
            error(
                code, at: node, "\"\(key)\" must be \(wanted), not \"\(shown(text))\"",
                hint: YAMLNumber.looksLikeNumber(text) && !YAMLNumber.isDecimal(text)
                    ? "write it with decimal digits only" : nil)
            return nil
        }
        guard style == .plain else {
            error(
                code, at: node, "\"\(key)\" must be a number, not a text",
                hint: Hint("remove the quotes", replacing: text))
            return nil
        }
        return text
    }

    package mutating func integer(
        _ node: YAMLNode, key: String, _ range: ClosedRange<Int>, code: String = "E203"
    ) -> Int? {
        guard let text = numeral(node, key: key, wanted: "a whole number", code: code, YAMLNumber.isInteger) else {
            return nil
        }
        let number = Int(text)
        guard number != nil || range != .min ... .max else {
            error("E205", at: node, "\(shown(text)) is too large for a whole number")
            return nil
        }
        guard let value = number, range.contains(value) else {
            let bounds =
                range.upperBound == .max
                ? "at least \(range.lowerBound)" : "between \(range.lowerBound) and \(range.upperBound)"
            error("E205", at: node, "\"\(key)\" must be \(bounds), not \(shown(text))")
            return nil
        }
        return value
    }

    package mutating func number(
        _ node: YAMLNode, key: String, _ range: ClosedRange<Double>, code: String = "E203"
    ) -> Double? {
        guard let text = numeral(node, key: key, wanted: "a number", code: code, YAMLNumber.isDecimal) else {
            return nil
        }
        guard let value = Double(text), value.isFinite, range.contains(value) else {
            let low = Value.number(range.lowerBound).text ?? ""
            let high = Value.number(range.upperBound).text ?? ""
            error("E205", at: node, "\"\(key)\" must be between \(low) and \(high), not \(shown(text))")
            return nil
        }
        return value
    }

    package mutating func duration(_ node: YAMLNode, key: String, _ range: ClosedRange<Duration>) -> Duration? {
        if case .mapping(let entries) = node.content {
            let hint = DurationText.meant(by: entries).map(Hint.write) ?? "write 10s, 500ms or 1h30m"
            error("E206", at: node, "\"\(key)\" must be a duration, not a mapping", hint: hint)
            return nil
        }
        guard let (text, _) = plainScalar(node, key: key, wanted: "a duration such as 10s") else { return nil }
        switch DurationText.parse(text) {
        case .failure(let fault):
            error("E206", at: node, "\"\(shown(text))\" \(fault.message)", hint: fault.hint)
            return nil
        case .success(let duration):
            guard range.contains(duration) else {
                let (low, high) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
                error("E205", at: node, "\"\(key)\" must be between \(low) and \(high), not \(shown(text))")
                return nil
            }
            return duration
        }
    }

    package mutating func oneOf(_ node: YAMLNode, key: String, _ words: [String], planned: [String] = []) -> String? {
        guard let (text, _) = plainScalar(node, key: key, wanted: Checker.list(words)) else { return nil }
        if words.contains(text) { return text }
        if planned.contains(text) {
            error("E204", at: node, reservedMessage(text))
            return nil
        }
        error(
            "E204", at: node, "\"\(key)\" must be \(Checker.list(words)), not \"\(shown(text))\"",
            hint: words.first { $0.lowercased() == text.lowercased() }.map(Hint.write)
                ?? nearest(to: text, among: words + planned).map { .meantWord($0) })
        return nil
    }

    /// Joins words for a message: `a, b or c`.
    package static func list(_ words: [String]) -> String {
        guard words.count > 1, let last = words.last else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    // MARK: Names

    private mutating func name(_ node: YAMLNode, key: String) -> String? {
        guard let (text, style) = plainScalar(node, key: key, wanted: "a name") else { return nil }
        return checkName(text, isPlain: style == .plain, from: node.start, to: node.end, alias: node.alias) ? text : nil
    }

    /// Returns whether a name may be declared, and reports E209 if not. W709 warns of a plain `y` or `n`.
    package mutating func checkName(
        _ text: String, isPlain: Bool, from start: SourcePosition, to end: SourcePosition, alias: YAMLNode.Alias? = nil
    ) -> Bool {
        if let meaning = NameRules.otherMeaning(of: text) {
            error(
                "E209", from: start, to: end, alias: alias, "\"\(text)\" cannot be a name",
                hint: "other YAML tools read it as \(meaning)")
            return false
        }
        if NameRules.reserved.contains(text) {
            error(
                "E209", from: start, to: end, alias: alias, "\"\(text)\" cannot be a name",
                hint: "it is a word of the language")
            return false
        }
        guard NameRules.isName(text) else {
            error(
                "E209", from: start, to: end, alias: alias, "\"\(shown(text))\" is not a name",
                hint: "a name has at most 64 of a-z, 0-9 and _, and begins with a letter")
            return false
        }
        if isPlain, text == "y" || text == "n" {
            let meaning = text == "y" ? "true" : "false"
            warning(
                "W709", at: YAMLNode.Key(text: text, isPlain: true, start: start, end: end, alias: alias),
                "other YAML tools read \(text) as \(meaning)",
                hint: Hint("put the name in quotes, or choose a longer one", replacing: "\"\(text)\""))
        }
        return true
    }
}

package enum NameRules {
    package static let reserved: Set<String> = [
        "any", "all", "none", "and", "or", "not", "in", "if", "else", "trigger", "states", "variables", "buttons",
        "rules", "results", "inputs", "error", "now", "sun", "broker", "repeat",
    ]

    /// True if `checkName` accepts the text without an error.
    package static func isDeclarable(_ text: String) -> Bool {
        isName(text) && !reserved.contains(text) && otherMeaning(of: text) == nil
    }

    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }

    /// The value that YAML 1.1 reads from a plain scalar, such as `true` from `yes`; `nil` when it reads a text.
    package static func otherMeaning(of text: String) -> String? {
        switch text.lowercased() {
        case "true", "yes", "on": "true"
        case "false", "no", "off": "false"
        case "null", "~": "null"
        default: nil
        }
    }
}
