import ButtonModel
import Expressions
import JSON
import Rules
import YAMLFiles

extension StepLanguage {
    static let log = StepLanguage(
        summary: "write a line into the log",
        detail: KeyDetail(
            .either([.template, .mapping(.fields(of: .log))]), "good night",
            ["message": "good night", "level": "debug"]),
        snippet: "log: ${0:text}",
        fields: .init(
            name: "log", table: .log,
            details: [
                "message": KeyDetail("{{ trigger.button }} was pressed"), "level": KeyDetail(else: .value("info")),
            ]),
        expectation: Expectation(
            summary: "a line in the log",
            detail: KeyDetail(.either([.text, .mapping(.expectation(of: .log))]), "good night"),
            fields: .init(
                name: "expected_log", table: .expectedLog,
                details: ["message": KeyDetail("good night"), "level": KeyDetail()]),
            read: { $0.expectedLog($1) })
    ) { reader, node, _, context in reader.readLog(node, in: context.scope) }
}

extension MappingTable {
    static let log = MappingTable(
        name: "\"log\"",
        keys: [
            Key("message", .template, required: true, "the text of the line"),
            Key("level", .oneOf(LogLevel.allCases.map(\.rawValue)), "the log level"),
        ])

    fileprivate static let expectedLog = MappingTable(
        name: "an expected \"log\"",
        keys: [
            Key("message", .text(.areForbidden), "the text of the line"),
            Key("level", .oneOf(LogLevel.allCases.map(\.rawValue)), "the log level"),
        ])
}

extension RuleSetReader {
    fileprivate mutating func readLog(_ node: YAMLNode, in scope: Scope) -> StepAction? {
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

    fileprivate mutating func expectedLog(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard case .mapping = node.content else {
            return checker.text(node, key: "log", .areForbidden).map { .log(level: nil, message: $0.string) }
        }
        guard let fields = checker.fields(node, .expectedLog, owner: "\"log\"") else { return nil }
        return .log(
            level: fields.string("level").flatMap(LogLevel.init(rawValue:)), message: fields.string("message"))
    }
}
