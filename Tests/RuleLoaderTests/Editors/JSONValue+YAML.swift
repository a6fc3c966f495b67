import JSON
import YAMLFiles

@testable import RuleLoader

extension JSONValue {
    /// The value that an editor reads from a file: aliases and merge keys are resolved, plain scalars are read by the
    /// core schema, and scalars with tags such as `!secret` are text.
    ///
    /// - Source: YAML 1.2.2, 10.3.2.
    init(editing node: YAMLNode) {
        switch node.content {
        case .invalid: self = .null
        case .sequence(let nodes): self = .array(nodes.map(JSONValue.init(editing:)))
        case .mapping(let entries):
            self = .object(entries.map { .init($0.key.text, JSONValue(editing: $0.value)) })
        case .scalar(let text, .plain) where node.tag == nil: self = JSONValue(plain: text)
        case .scalar(let text, _): self = .string(text)
        }
    }

    private init(plain text: String) {
        switch text {
        case "", "~", "null", "Null", "NULL": self = .null
        case "true", "True", "TRUE": self = true
        case "false", "False", "FALSE": self = false
        default: self = JSONValue.number(in: text) ?? .string(text)
        }
    }

    private static func number(in text: String) -> JSONValue? {
        if text.wholeMatch(of: /[-+]?[0-9]+/) != nil {
            return Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) }
        }
        if text.wholeMatch(of: /0o[0-7]+/) != nil { return Int64(text.dropFirst(2), radix: 8).map { .integer($0) } }
        if text.wholeMatch(of: /0x[0-9a-fA-F]+/) != nil {
            return Int64(text.dropFirst(2), radix: 16).map { .integer($0) }
        }
        if text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil {
            return Double(text.hasSuffix(".") ? text + "0" : text).map { .number($0) }
        }
        if text.wholeMatch(of: /[-+]?(\.inf|\.Inf|\.INF)/) != nil { return .number(.infinity) }
        return [".nan", ".NaN", ".NAN"].contains(text) ? .number(.nan) : nil
    }
}
