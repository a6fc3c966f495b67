import ButtonModel
import Expressions
import Rules

/// Steps that send a message: `publish`, `http` and `log`.
extension RuleSetReader {
    mutating func readPublish(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        guard let fields = checker.fields(node, .publish, owner: "\"publish\"") else { return nil }
        let topic = fields.node("topic").flatMap { self.topic($0, in: scope) }
        guard let payload = content(fields, text: "payload", in: scope), let topic else { return nil }
        return .publish(
            PublishStep(
                topicName: topic, payload: payload, qos: fields.integer("qos") ?? defaults.qos,
                retain: fields.boolean("retain") ?? defaults.retain,
                maximumAge: fields.duration("max_age") ?? defaults.maximumAge))
    }

    private mutating func topic(_ node: YAMLNode, in scope: Scope) -> Template? {
        guard let topic = template(node, key: "topic", in: scope, inserting: .topic) else { return nil }
        if let literal = topic.literal {
            return checker.checkPublishTopic(literal, node) ? topic : nil
        }
        let hasNUL = topic.parts.contains { part in
            if case .literal(let text) = part { text.utf8.contains(0) } else { false }
        }
        guard !hasNUL else {
            checker.error("E508", at: node, "a publish topic cannot contain NUL")
            return nil
        }
        return topic
    }

    /// Reads the content of a message: a text, `json` or nothing. Returns `nil` when it is faulty.
    private mutating func content(_ fields: CheckedMapping, text: String, in scope: Scope) -> PayloadTemplate? {
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
                    hint: "write json: in place of \(text):")
                return nil
            case .scalar, .invalid: return template(node, key: text, in: scope).map { .text($0) }
            }
        case (nil, _?):
            return fields.node("json").flatMap { readJSON($0, in: scope, textKey: text) }.map { .json($0) }
        }
    }

    // MARK: http

    mutating func readHTTP(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        if case .scalar(let text, _) = node.content {
            checker.noMapping(
                "E203", at: node, "\"http\" must be a mapping, not a text",
                hint: node.tag == nil ? "write http: {url: \(checker.shown(text))}" : "write http: {url: …}")
            return nil
        }
        guard let fields = checker.fields(node, .http, owner: "\"http\"") else { return nil }
        let url = fields.node("url").flatMap { self.url($0, in: scope) }
        let body = content(fields, text: "body", in: scope)
        var headers: [ProcessStep.Variable]? = []
        if let node = fields.node("headers") { headers = self.headers(node, in: scope) }
        var expectation = [ExpectedStatus.family(2)]
        if let node = fields.node("expect") { expectation = statuses(node) }
        guard let url, let body, let headers else { return nil }
        return .http(
            HTTPStep(
                url: url, method: fields.string("method") ?? "GET", headers: headers, body: body,
                expectation: expectation))
    }

    private mutating func url(_ node: YAMLNode, in scope: Scope) -> Template? {
        guard let url = template(node, key: "url", in: scope, inserting: .url) else { return nil }
        var start = ""
        if case .literal(let text)? = url.parts.first { start = text }
        let scheme = ["http://", "https://"].first { start.lowercased().hasPrefix($0) }
        guard let scheme, start.utf8.count > scheme.utf8.count else {
            checker.error("E509", at: node, "a URL begins with https:// or http:// and a literal host")
            return nil
        }
        let hasBlank = url.parts.contains { part in
            if case .literal(let text) = part { text.utf8.contains { $0 <= 0x20 || $0 == 0x7F } } else { false }
        }
        guard !hasBlank else {
            checker.error("E203", at: node, "a URL cannot contain blanks", hint: "write %20 for a space")
            return nil
        }
        return url
    }

    private mutating func headers(_ node: YAMLNode, in scope: Scope) -> [ProcessStep.Variable]? {
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    "E203", at: node, "\"headers\" must be a mapping of name to text",
                    hint: "write headers: {Name: value}")
            }
            return nil
        }
        var headers: [ProcessStep.Variable] = []
        for entry in entries {
            guard checker.reportsMissingSpace(entry) == nil else { continue }
            guard RuleSetReader.isHeaderName(entry.key.text) else {
                checker.error(
                    "E209", at: entry.key, "\"\(checker.shown(entry.key.text))\" is not the name of a header",
                    hint: "letters, digits and -")
                continue
            }
            guard !checker.reportsNull(entry),
                let value = template(entry.value, key: entry.key.text, in: scope, inserting: .header)
            else { continue }
            let hasBreak = value.parts.contains { part in
                guard case .literal(let text) = part else { return false }
                return text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
            }
            guard !hasBreak else {
                checker.error(
                    "E203", at: entry.value, "a header cannot contain a line break or NUL",
                    hint: "write it on one line, without |")
                continue
            }
            headers.append(.init(entry.key.text, value))
        }
        return headers.count == entries.count ? headers : nil
    }

    /// True if a text is a token (RFC 9110, 5.6.2), as the name of a header must be.
    private static func isHeaderName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || YAMLNumber.isDigit($0)
                    || "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
    }

    /// Reads the statuses in `expect`: `204`, `2xx`, or a list of them.
    private mutating func statuses(_ node: YAMLNode) -> [ExpectedStatus] {
        checker.oneOrMany(node, empty: "an empty list of statuses never matches").compactMap { node in
            guard let text = checker.plainText(node, key: "expect", wanted: "a status such as 204 or 2xx") else {
                return nil
            }
            if YAMLNumber.isInteger(text), let status = Int(text) {
                if (100...599).contains(status) { return .exactly(status) }
                checker.error("E205", at: node, "\"expect\" must be between 100 and 599, not \(checker.shown(text))")
                return nil
            }
            if text.utf8.count == 3, text.lowercased().hasSuffix("xx"), let family = text.first?.wholeNumberValue,
                (1...5).contains(family)
            {
                return .family(family)
            }
            checker.error(
                "E204", at: node,
                "\"expect\" must be a status such as 204, or a family such as 2xx, not \"\(checker.shown(text))\"")
            return nil
        }
    }

    // MARK: log

    mutating func readLog(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        guard case .mapping = node.content else {
            return template(node, key: "log", in: scope).map { .log(.info, $0) }
        }
        guard let fields = checker.fields(node, .log, owner: "\"log\""), let message = fields.node("message") else {
            return nil
        }
        return template(message, key: "message", in: scope).map {
            .log(fields.string("level").flatMap(LogLevel.init(rawValue:)) ?? .info, $0)
        }
    }
}
