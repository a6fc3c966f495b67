import ButtonModel
import Expressions
import JSON
import Rules
import YAMLFiles

extension StepLanguage {
    static let http = StepLanguage(
        summary: "call a web hook",
        detail: KeyDetail(.mapping(.fields(of: .http)), ["url": "https://example.net/press", "method": "POST"]),
        snippet: "http: {url: ${1:https://example.net/}, method: ${2:POST}}",
        fields: .init(
            name: "http", table: .http,
            details: [
                "url": KeyDetail("https://example.net/press?from={{ trigger.button }}"),
                "method": KeyDetail(else: .value("GET")),
                "headers": KeyDetail(.headers, ["Authorization": "Bearer abc"]),
                "body": KeyDetail(else: .described("empty"), "{{ trigger.at }}"),
                "json": KeyDetail(.json, ["late": "{{ trigger.queued }}"]),
                "expect": KeyDetail(.oneOrMany(.status), else: .value("2xx"), 204, ["2xx", 304]),
            ], constraints: [.atMostOne(of: ["body", "json"])]),
        expectation: Expectation(
            summary: "a request",
            detail: KeyDetail(.mapping(.expectation(of: .http)), ["url": "https://example.net/press"]),
            fields: .init(
                name: "expected_http", table: .expectedHTTP,
                details: [
                    "url": KeyDetail("https://example.net/press"), "method": KeyDetail(),
                    "headers": KeyDetail(.matching(.header, .text), ["Accept": "text/plain"]),
                    "body": KeyDetail("hello"), "json": KeyDetail(.json, ["late": false]),
                    "json_includes": KeyDetail(.json, ["late": false]),
                ], constraints: [.atMostOne(of: ["body", "json", "json_includes"])]),
            read: { $0.expectedHTTP($1) })
    ) { reader, node, _, context in reader.readHTTP(node, in: context.scope) }
}

extension MappingTable {
    static let http = MappingTable(
        name: "\"http\"",
        keys: [
            Key("url", .template, required: true, "the URL; scheme and host must be literal"),
            Key("method", .oneOf(httpMethods), "the request method"),
            Key("headers", .anything, "the request headers"),
            Key("body", .template, "the body as text"),
            Key("json", .anything, "the body as YAML, sent as JSON"),
            Key("expect", .anything, "the statuses that count as success"),
        ],
        foreignHints: [
            "payload": "use body:", "data": "use json:", "header": "use headers:", "content_type": "use headers:",
        ])

    static let httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    fileprivate static let expectedHTTP = MappingTable(
        name: "an expected \"http\"",
        keys: [
            Key("url", .text(.areForbidden), "the whole URL"), Key("method", .oneOf(httpMethods), "the request method"),
            Key("headers", .anything, "some of the headers"), Key("body", .text(.areForbidden), "the body as text"),
            Key("json", .anything, "the body as JSON, compared whole"),
            Key(
                "json_includes", .anything,
                "some keys of the body as JSON, compared in depth; lists are compared whole"),
        ])
}

extension RuleSetReader {
    fileprivate mutating func readHTTP(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        if case .scalar(let text, _) = node.content {
            checker.noMapping(
                "E203", at: node, "\"http\" must be a mapping, not a text",
                hint: node.tag == nil
                    ? .write("http", "{url: \(text)}", shown: "{url: \(checker.shown(text))}") : "write http: {url: …}")
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
        // The scheme and the host of a URL by `!secret` are not available in a replay.
        if checker.isPlaceholder(start) { return url }
        let scheme = ["http://", "https://"].first { start.lowercased().hasPrefix($0) }
        guard let scheme, start.utf8.count > scheme.utf8.count else {
            checker.error("E509", at: node, "a URL begins with https:// or http:// and a literal host")
            return nil
        }
        let hasBlank = url.parts.contains { part in
            if case .literal(let text) = part { text.utf8.contains { $0 <= 0x20 || $0 == 0x7F } } else { false }
        }
        guard !hasBlank else {
            var hint: Hint = "write %20 for a space"
            // Blanks between the braces of a template are none of the URL.
            if let text = node.scalar, node.tag == nil, !node.holdsTemplate {
                hint.changes = [.init(0..<text.utf8.count, text.replacing(" ", with: "%20"))]
                hint = checker.hint(hint, about: 0..<text.utf8.count, in: node)
            }
            checker.error("E203", at: node, "a URL cannot contain blanks", hint: hint)
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

    fileprivate mutating func expectedHTTP(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard let fields = checker.fields(node, .expectedHTTP, owner: "\"http\""),
            let body = expectedContent(fields, text: "body"), let headers = expectedFields(fields, "headers")
        else { return nil }
        return .http(
            url: fields.string("url"), method: fields.string("method"), headers: headers, body: body.content)
    }
}
