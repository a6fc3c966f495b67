import JSON
import Rules
import YAMLFiles

/// The JSON Schema of the rule language for editors, made from the `MappingTable`s that the loader uses.
///
/// It accepts every file that the loader accepts, and some that the loader refuses: it cannot check expressions,
/// duplicate keys, or (without a set) names. It is draft-07, because common editors do not understand later drafts.
///
/// - Source: JSON Schema Validation draft-07.
package struct RulesSchema {
    /// The declared names of each kind, where they are known.
    let names: [SchemaShape.Names: [String]]

    /// - Parameter set: the set whose names are completed, and all others refused; `nil`: any name is accepted.
    init(for set: RuleSet? = nil) {
        names = set.map(RulesSchema.names) ?? [:]
    }

    static func json(for set: RuleSet? = nil) -> JSONValue { RulesSchema(for: set).json }

    var json: JSONValue {
        .object(
            [
                .init("$schema", "http://json-schema.org/draft-07/schema#"),
                .init("title", .string("Rules of Tryck, version \(RuleSetReader.languageVersion)")),
            ] + members(of: .file) + [.init("definitions", .object(definitions))])
    }

    private static func names(of set: RuleSet) -> [SchemaShape.Names: [String]] {
        let buttons = set.buttons.map(\.name)
        let members = buttons + set.groups.keys.sorted()
        let names: [SchemaShape.Names: [String]] = [
            .button: buttons, .member: members, .source: members + ["any"], .state: set.states.map(\.name),
            .variable: set.variables.map(\.name), .script: set.scripts.map(\.name),
            .input: Set(set.scripts.flatMap { $0.inputs.map(\.name) }).sorted(), .rule: set.rules.map(\.id),
        ]
        return names.filter { !$0.value.isEmpty }
    }

    // MARK: Definitions

    private var definitions: [JSONValue.Member] {
        RulesSchema.forms.map { .init($0.name, form($0.pattern, hint: $0.hint)) }
            + SchemaShape.Names.allCases.compactMap { kind in
                names[kind].map { .init(kind.definition, ["enum": .array($0.map(JSONValue.string))]) }
            } + SchemaMapping.allCases.filter { $0 != .file }.flatMap(definitions)
    }

    /// Texts with a format of their own, and the message that editors show when the pattern does not match.
    static let forms: [(name: String, pattern: SchemaPattern, hint: String)] = [
        ("name", .name, "at most 64 of a-z, 0-9 and _, beginning with a letter"),
        ("duration", .duration, "write 10s, 500ms or 1h30m"),
        ("delay", .delay, "write 10s, 500ms or 1h30m, or a template"),
        ("offset", .offset, "write 30m, or -30m for earlier"),
        ("clock", .clock, "write 22:00, sunset or sunset - 30m"),
        ("daytime", .daytime, "write 22:00 or sunset; the key offset has the difference"),
        ("clock_time", .clockTime, "write 23:59:50, or a day and a time"),
        ("moment", .moment, "write 2026-01-15 12:00"),
        ("rate", .rate, "write 20/1m"),
        ("weekday", .weekday, "write mon, or a range such as mon-fri"),
        ("status", .status, "write 204, or a family such as 2xx"),
    ]

    private func form(_ pattern: SchemaPattern, hint: String) -> JSONValue {
        // `patternErrorMessage` is not part of the draft; editors that do not know it ignore it.
        ["type": "string", "pattern": .string(pattern.anchored), "patternErrorMessage": .string(hint)]
    }

    /// The definition of a mapping. A mapping of several kinds has a definition for each of its keys, too, which the
    /// kinds share.
    private func definitions(_ mapping: SchemaMapping) -> [JSONValue.Member] {
        guard !mapping.variants.isEmpty else { return [.init(mapping.name, .object(members(of: mapping)))] }
        return mapping.table.keys.map { .init("\(mapping.name).\($0.name)", property($0, of: mapping)) }
            + [.init(mapping.name, .object(members(of: mapping)))]
    }

    // MARK: Mappings

    private func members(of mapping: SchemaMapping) -> [JSONValue.Member] {
        guard mapping.variants.isEmpty else { return members(ofVariants: mapping) }
        let table = mapping.table
        let required = table.keys.filter(\.isRequired).map { JSONValue.string($0.name) }
        var members: [JSONValue.Member] = [
            .init("type", "object"),
            .init("properties", .object(table.keys.map { .init($0.name, property($0, of: mapping)) })),
        ]
        if let prefix = table.ignoredPrefix { members.append(.init("patternProperties", ["^\(prefix)": [:]])) }
        members.append(.init("additionalProperties", false))
        if !required.isEmpty { members.append(.init("required", .array(required))) }
        return members + mapping.constraints.map(constraint)
    }

    private func constraint(_ together: SchemaMapping.KeyConstraint) -> JSONValue.Member {
        switch together {
        case .some: .init("minProperties", 1)
        case .exactlyOne(let keys): .init("oneOf", .array(keys.map { ["required": [.string($0)]] }))
        case .atMostOne(let keys): .init("not", RulesSchema.two(of: keys))
        case .all(let keys):
            .init(
                "dependencies",
                .object(keys.map { key in .init(key, .array(keys.filter { $0 != key }.map(JSONValue.string))) }))
        }
    }

    /// The schema of a mapping that has at least two of the keys.
    private static func two(of keys: [String]) -> JSONValue {
        var pairs: [JSONValue] = []
        for (index, first) in keys.enumerated() {
            pairs += keys[(index + 1)...].map { ["required": [.string(first), .string($0)]] }
        }
        return pairs.count == 1 ? pairs[0] : ["anyOf": .array(pairs)]
    }

    /// The keys of all variants, exactly one of which must apply, and for each variant the keys that are allowed with it.
    /// An editor then underlines the key at fault, which it would not do with a `oneOf` of whole mappings.
    private func members(ofVariants mapping: SchemaMapping) -> [JSONValue.Member] {
        [
            .init("type", "object"),
            .init(
                "properties",
                .object(
                    mapping.table.keys.map {
                        .init($0.name, RulesSchema.reference(to: "\(mapping.name).\($0.name)"))
                    })),
            .init("additionalProperties", false),
            .init(
                "oneOf",
                .array(mapping.variants.map { ["required": .array($0.distinctive.map(JSONValue.string))] })),
            .init("allOf", .array(mapping.variants.map(condition))),
        ]
    }

    /// The keys that are allowed and required beside those that distinguish a variant.
    private func condition(_ variant: SchemaMapping.Variant) -> JSONValue {
        let properties = (variant.required + variant.optional).map { key in
            JSONValue.Member(key, variant.overrides[key].map(schema) ?? true)
        }
        let others = variant.required.filter { !variant.distinctive.contains($0) }
        var then: [JSONValue.Member] = [
            .init("properties", .object(properties)), .init("additionalProperties", false),
        ]
        if !others.isEmpty { then.append(.init("required", .array(others.map(JSONValue.string)))) }
        return ["if": ["required": .array(variant.distinctive.map(JSONValue.string))], "then": .object(then)]
    }

    private func property(_ key: MappingTable.Key, of mapping: SchemaMapping) -> JSONValue {
        let detail = mapping.details[key.name] ?? KeyDetail()
        let shape = detail.shape ?? SchemaShape(key.type) ?? .json
        let text = "\(key.summary) (\(shape.description))".filter { $0 != "`" }
        var members: [JSONValue.Member] = [.init("description", .string(text))] + besideOthers(schema(shape))
        if case .value(let value)? = detail.defaultValue { members.append(.init("default", value)) }
        let examples = detail.examples.isEmpty ? shape.allValues : detail.examples
        members.append(.init("examples", .array(examples)))
        return .object(members)
    }
}

extension SchemaShape.Names {
    /// The name of the definition that lists these names.
    var definition: String { "name_of_\(rawValue)" }
}
