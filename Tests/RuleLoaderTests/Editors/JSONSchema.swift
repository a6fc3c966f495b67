import Foundation
import JSON

/// Checks JSON against a schema as an editor would, for the keywords our schema uses and no others.
///
/// - Source: JSON Schema Validation draft-07.
struct JSONSchema: Sendable {
    /// The schema says what this cannot check.
    enum Unreadable: Error, Hashable {
        case keyword(String)
        case value(String)
        case reference(String)
    }

    private static let annotations: Set<String> = [
        "$schema", "title", "description", "default", "examples", "definitions", "patternErrorMessage",
    ]
    private static let keywords: Set<String> = [
        "$ref", "if", "then", "allOf", "anyOf", "oneOf", "not", "type", "enum", "const", "pattern", "minimum",
        "maximum", "items", "minItems", "maxItems", "properties", "patternProperties", "additionalProperties",
        "required", "dependencies",
        "minProperties",
    ]
    private static let maximumDepth = 200

    private let root: JSONValue
    private var definitions: [String: JSONValue] = [:]
    private var patterns: [String: NSRegularExpression] = [:]

    init(_ schema: JSONValue) throws {
        root = schema
        for member in schema["definitions"]?.objectValue ?? [] { definitions[member.name] = member.value }
        try prepare(schema)
        for definition in definitions.values { try prepare(definition) }
    }

    /// The first thing that is wrong, with its place; `nil` if all is well.
    func fault(in value: JSONValue) -> String? { fault(in: value, root, at: "", depth: 0) }

    /// Validates a value against a definition.
    func fault(in value: JSONValue, definition: String) -> String? {
        definitions[definition].map { fault(in: value, $0, at: "", depth: 0) } ?? "no definition \(definition)"
    }

    func fault(in value: JSONValue, schema: JSONValue) -> String? { fault(in: value, schema, at: "", depth: 0) }

    // MARK: Before

    private mutating func prepare(_ schema: JSONValue) throws {
        if schema == true || schema == false { return }
        guard let members = schema.objectValue else { throw Unreadable.value(schema.description) }
        for member in members where !JSONSchema.annotations.contains(member.name) {
            guard JSONSchema.keywords.contains(member.name) else { throw Unreadable.keyword(member.name) }
            switch member.name {
            case "allOf", "anyOf", "oneOf": for schema in member.value.arrayValue ?? [] { try prepare(schema) }
            case "if", "then", "not", "items", "additionalProperties": try prepare(member.value)
            case "properties": for member in member.value.objectValue ?? [] { try prepare(member.value) }
            case "patternProperties":
                for member in member.value.objectValue ?? [] {
                    try compile(member.name)
                    try prepare(member.value)
                }
            case "pattern": try compile(member.value.stringValue ?? "")
            case "$ref":
                guard definition(member.value) != nil else { throw Unreadable.reference(member.value.description) }
            default: break
            }
        }
    }

    private mutating func compile(_ pattern: String) throws {
        patterns[pattern] = try NSRegularExpression(pattern: pattern)
    }

    private func definition(_ reference: JSONValue) -> JSONValue? {
        let prefix = "#/definitions/"
        guard let text = reference.stringValue, text.hasPrefix(prefix) else { return nil }
        return definitions[String(text.dropFirst(prefix.count))]
    }

    private func matches(_ text: String, _ pattern: String) -> Bool {
        patterns[pattern]?.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    // MARK: Checking

    private func fault(in value: JSONValue, _ schema: JSONValue, at path: String, depth: Int) -> String? {
        if schema == true { return nil }
        guard depth < JSONSchema.maximumDepth, let members = schema.objectValue else { return "\(path): is refused" }
        // Nothing beside a reference counts.
        if let reference = schema["$ref"] {
            return definition(reference).flatMap { fault(in: value, $0, at: path, depth: depth + 1) }
        }
        for member in members {
            if let fault = fault(in: value, member, of: schema, at: path, depth: depth + 1) { return fault }
        }
        return nil
    }

    private func fault(
        in value: JSONValue, _ keyword: JSONValue.Member, of schema: JSONValue, at path: String, depth: Int
    ) -> String? {
        let wanted = keyword.value
        func say(_ text: String) -> String { "\(path): \(text), not \(value.description.prefix(80))" }
        func passes(_ schema: JSONValue) -> Bool { fault(in: value, schema, at: path, depth: depth) == nil }
        switch keyword.name {
        case "allOf":
            return wanted.arrayValue?.lazy.compactMap { fault(in: value, $0, at: path, depth: depth) }.first
        case "anyOf": return wanted.arrayValue?.contains(where: passes) == true ? nil : say("one of several")
        case "oneOf": return wanted.arrayValue?.count(where: passes) == 1 ? nil : say("exactly one of several")
        case "if":
            guard passes(wanted), let then = schema["then"] else { return nil }
            return fault(in: value, then, at: path, depth: depth)
        case "not": return passes(wanted) ? say("something else") : nil
        case "enum": return wanted.arrayValue?.contains(value) == true ? nil : say("one of \(wanted)")
        case "const": return wanted == value ? nil : say("\(wanted)")
        case "type":
            let types = wanted.arrayValue ?? [wanted]
            return types.contains { value.isOfType($0.stringValue ?? "") } ? nil : say("\(wanted)")
        case "pattern":
            guard let text = value.stringValue, let pattern = wanted.stringValue else { return nil }
            return matches(text, pattern) ? nil : say("a text like \(pattern)")
        case "minimum", "maximum":
            guard let number = value.double, let bound = wanted.double else { return nil }
            return (keyword.name == "minimum" ? number >= bound : number <= bound)
                ? nil : say("\(keyword.name) \(bound)")
        case "items":
            guard let values = value.arrayValue else { return nil }
            return values.indices.lazy.compactMap {
                fault(in: values[$0], wanted, at: "\(path)/\($0)", depth: depth)
            }.first
        case "minItems", "maxItems":
            guard let count = value.arrayValue?.count, let bound = wanted.integerValue else { return nil }
            return (keyword.name == "minItems" ? count >= bound : count <= bound)
                ? nil : say("\(keyword.name) \(bound)")
        case "required":
            guard value.objectValue != nil else { return nil }
            return wanted.arrayValue?.lazy.compactMap(\.stringValue).first { value[$0] == nil }.map {
                say("\($0) in it")
            }
        case "minProperties":
            guard let count = value.objectValue?.count, let bound = wanted.integerValue else { return nil }
            return count >= bound ? nil : say("\(bound) keys at least")
        case "dependencies":
            guard value.objectValue != nil else { return nil }
            for member in wanted.objectValue ?? [] where value[member.name] != nil {
                for other in member.value.arrayValue ?? [] where value[other.stringValue ?? ""] == nil {
                    return say("\(other) beside \(member.name)")
                }
            }
            return nil
        case "properties", "patternProperties", "additionalProperties":
            return keyword.name == JSONSchema.first(in: schema) ? memberFault(in: value, schema, at: path, depth) : nil
        default: return nil
        }
    }

    /// The three keywords about members are one thing, looked at when the first of them comes.
    private static func first(in schema: JSONValue) -> String? {
        ["properties", "patternProperties", "additionalProperties"].first { schema[$0] != nil }
    }

    private func memberFault(in value: JSONValue, _ schema: JSONValue, at path: String, _ depth: Int) -> String? {
        for member in value.objectValue ?? [] {
            let place = "\(path)/\(member.name)"
            var schemas = schema["properties"]?[member.name].map { [$0] } ?? []
            for pattern in schema["patternProperties"]?.objectValue ?? [] where matches(member.name, pattern.name) {
                schemas.append(pattern.value)
            }
            if schemas.isEmpty, let others = schema["additionalProperties"] { schemas = [others] }
            for schema in schemas {
                if let fault = fault(in: member.value, schema, at: place, depth: depth) { return fault }
            }
        }
        return nil
    }
}

extension JSONValue {
    fileprivate func isOfType(_ type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number(let value): type == "number" || type == "integer" && value == value.rounded()
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
