import Expressions
import JSON
import Rules
import YAMLFiles

extension YAMLNode {
    /// True if the value is missing; false for a written `null`.
    fileprivate var isEmpty: Bool { isNull && scalar == "" }
}

extension RuleSetReader {
    /// Reads the content of a message: a text, `json` or nothing. Returns `nil` when it is faulty.
    mutating func content(_ fields: CheckedMapping, text: String, in scope: Scope) -> PayloadTemplate? {
        switch (fields.key(text), fields.key("json")) {
        case (let written?, let json?):
            checker.error(
                "E210", at: written.start < json.start ? json : written, "give either \"\(text)\" or \"json\", not both"
            )
            return nil
        case (nil, nil): return .nothing
        case (_?, nil):
            guard let node = fields.node(text) else { return nil }
            switch node.content {
            case .mapping, .sequence:
                checker.error(
                    "E203", at: node, "\"\(text)\" must be a text, not \(checker.kind(of: node))",
                    hint: Hint(
                        "write json: in place of \(text):",
                        checker.changes(of: fields.key(text), into: "json")))
                return nil
            case .scalar, .invalid: return template(node, key: text, in: scope).map { .text($0) }
            }
        case (nil, _?):
            return fields.node("json").flatMap { readJSON($0, in: scope, textKey: text) }.map { .json($0) }
        }
    }

    /// Converts any YAML to JSON whose leaves may be templates; `nil` when a part of it is faulty.
    ///
    /// - Parameter textKey: the key for text in place of JSON, for a warning if a leaf is JSON in quotes; `nil`: none.
    mutating func readJSON(_ node: YAMLNode, in scope: Scope, textKey: String? = nil) -> JSONTemplate? {
        switch node.content {
        case .invalid: return nil
        case .sequence(let nodes):
            var entries: [JSONTemplate] = []
            entries.reserveCapacity(nodes.count)
            for node in nodes {
                if node.isEmpty, checker.reportsNullEntry(node, hint: "write null if that is meant") { continue }
                if let entry = readJSON(node, in: scope, textKey: textKey) { entries.append(entry) }
            }
            return entries.count == nodes.count ? RuleSetReader.array(entries) : nil
        case .mapping(let nodes):
            var members: [JSONTemplate.Member] = []
            members.reserveCapacity(nodes.count)
            for entry in nodes {
                if entry.value.isEmpty {
                    if checker.reportsMissingSpace(entry) != nil { continue }
                    let change = checker.insertion(ofValue: "null", after: entry.key)
                    if checker.reportsNull(entry, hint: Hint("write null if that is meant", change)) { continue }
                }
                guard checkJSONKey(entry.key), let value = readJSON(entry.value, in: scope, textKey: textKey) else {
                    continue
                }
                members.append(.init(entry.key.text, value))
            }
            return members.count == nodes.count ? RuleSetReader.object(members) : nil
        case .scalar:
            if node.isNull { return .value(.null) }
            if let textKey { warnOfQuotedJSON(node, textKey) }
            if node.holdsTemplate {
                return template(node, key: "json", in: scope, expecting: .json).map(JSONTemplate.template)
            }
            return value(node, key: "json", takesNull: true).map { .value($0.json) }
        }
    }

    /// Warns of a leaf that is an object or a list in quotes (W711), because the receiver would get a JSON string.
    /// With `!literal`, a string is meant.
    private mutating func warnOfQuotedJSON(_ node: YAMLNode, _ textKey: String) {
        guard node.tag == nil, let text = node.scalar,
            let beginning = text.unicodeScalars.firstIndex(where: { !$0.properties.isWhitespace }),
            "{[".unicodeScalars.contains(text.unicodeScalars[beginning]),
            // A value that begins with a template is neither an object nor a list. Most values with a brace are such templates.
            !text[beginning...].hasPrefix("{{"),
            let json = try? JSONValue(parsing: RuleSetReader.withoutTemplates(text)),
            json.objectValue != nil || json.arrayValue != nil
        else { return }
        checker.warning(
            "W711", at: node, "this would be sent as a JSON string",
            hint: Hint(
                "remove the quotes, or use \(textKey):",
                [.init(nil, RuleSetReader.withQuotedTemplates(text), isGuess: true)]))
    }

    /// The text of JSON with quotes around each template outside its strings, because YAML needs them. A value that is a template
    /// as a whole keeps its type.
    private static func withQuotedTemplates(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        var isInString = false
        while let character = rest.first {
            if rest.hasPrefix("{{"), let end = rest.firstRange(of: "}}") {
                let template = rest[..<end.upperBound]
                let escaped = template.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                result += isInString ? String(template) : "\"\(escaped)\""
                rest = rest[end.upperBound...]
                continue
            }
            if isInString, character == "\\" {
                result += rest.prefix(2)
                rest = rest.dropFirst(2)
                continue
            }
            if character == "\"" { isInString.toggle() }
            result.append(character)
            rest = rest.dropFirst()
        }
        return result
    }

    /// The text with a number in place of each template, which may stand for a value.
    private static func withoutTemplates(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            result += rest[..<start.lowerBound] + "0"
            rest = rest[end.upperBound...]
        }
        return result + rest
    }

    private mutating func checkJSONKey(_ key: YAMLNode.Key) -> Bool {
        guard key.text.hasTemplateMark else { return true }
        let start = checker.source.find("{", from: key.start, to: key.end) ?? key.start
        checker.error(
            "E407", from: start, to: start.advanced(by: 2), alias: key.alias, "no template is allowed in a key")
        return false
    }

    /// Folds an array whose entries hold no template into one constant value.
    private static func array(_ entries: [JSONTemplate]) -> JSONTemplate {
        var values: [JSONValue] = []
        for entry in entries {
            guard case .value(let value) = entry else { return .array(entries) }
            values.append(value)
        }
        return .value(.array(values))
    }

    private static func object(_ members: [JSONTemplate.Member]) -> JSONTemplate {
        var values: [JSONValue.Member] = []
        for member in members {
            guard case .value(let value) = member.value else { return .object(members) }
            values.append(.init(member.name, value))
        }
        return .value(.object(values))
    }
}
