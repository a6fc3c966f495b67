import JSON

extension RulesSchema {
    static func reference(to definition: String) -> JSONValue { ["$ref": .string("#/definitions/\(definition)")] }

    /// The members of a schema, for use beside other members. A `$ref` is wrapped in `allOf`, because draft-07 ignores
    /// all members beside it.
    func besideOthers(_ schema: JSONValue) -> [JSONValue.Member] {
        schema["$ref"] == nil ? schema.objectValue ?? [] : [.init("allOf", [schema])]
    }

    func schema(_ shape: SchemaShape) -> JSONValue {
        switch shape {
        case .text, .template, .scalar: ["type": ["string", "number", "boolean"]]
        case .expression: ["type": ["string", "boolean"]]
        case .boolean: ["type": "boolean"]
        case .integer(let range):
            .object([.init("type", "integer")] + RulesSchema.bounds(range, "minimum", "maximum"))
        case .number(let range) where range == .anyNumber: ["type": "number"]
        case .number(let range):
            ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .duration: RulesSchema.reference(to: "duration")
        case .delay: RulesSchema.reference(to: "delay")
        case .offset: RulesSchema.reference(to: "offset")
        case .clock(let takesOffset): RulesSchema.reference(to: takesOffset ? "clock" : "daytime")
        case .clockTime: RulesSchema.reference(to: "clock_time")
        case .moment: RulesSchema.reference(to: "moment")
        case .rate: RulesSchema.reference(to: "rate")
        case .weekday: RulesSchema.reference(to: "weekday")
        case .status:
            ["anyOf": [["type": "integer", "minimum": 100, "maximum": 599], RulesSchema.reference(to: "status")]]
        case .json: ["type": ["object", "array", "string", "number", "boolean"]]
        case .empty: ["type": "null"]
        case .oneOf(let words): ["enum": .array(words.map(JSONValue.string))]
        case .exactly(let number): ["const": .integer(Int64(number))]
        case .name: RulesSchema.reference(to: "name")
        case .reference(let kind): RulesSchema.reference(to: names[kind] == nil ? "name" : kind.definition)
        case .mapping(let mapping): RulesSchema.reference(to: mapping.name)
        case .declarations(let shape): object([], SchemaPattern.name.anchored, schema(shape))
        case .keyed(let kind, let shape, let count): keyed(kind, schema(shape), atLeast: count)
        case .matching(let pattern, let shape): object([], pattern.anchored, schema(shape))
        case .list(let shape, let range):
            .object(
                [.init("type", "array"), .init("items", schema(shape))]
                    + RulesSchema.bounds(range, "minItems", "maxItems"))
        case .oneOrMany(let shape, let most):
            ["anyOf": .array(alternatives(shape) + [schema(.list(shape, 1...(most ?? .max)))])]
        case .either: ["anyOf": .array(alternatives(shape))]
        }
    }

    private func alternatives(_ shape: SchemaShape) -> [JSONValue] {
        if case .either(let shapes) = shape { shapes.map(schema) } else { [schema(shape)] }
    }

    /// A mapping whose keys are names of one kind. Known names become properties, so that editors offer them.
    private func keyed(_ kind: SchemaShape.Names, _ schema: JSONValue, atLeast count: Int) -> JSONValue {
        let names = names[kind]
        let keys = object(names ?? [], names == nil ? SchemaPattern.name.anchored : nil, schema)
        return count == 0 ? keys : .object((keys.objectValue ?? []) + [.init("minProperties", .integer(Int64(count)))])
    }

    private func object(_ keys: [String], _ pattern: String?, _ schema: JSONValue) -> JSONValue {
        var members: [JSONValue.Member] = [.init("type", "object")]
        if !keys.isEmpty { members.append(.init("properties", .object(keys.map { .init($0, schema) }))) }
        if let pattern { members.append(.init("patternProperties", [pattern: schema])) }
        return .object(members + [.init("additionalProperties", false)])
    }

    /// The bounds of a range. Bounds that restrict nothing are left out.
    private static func bounds(_ range: ClosedRange<Int>, _ low: String, _ high: String) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if range.lowerBound != .min, range.lowerBound != 0 || low == "minimum" {
            members.append(.init(low, .integer(Int64(range.lowerBound))))
        }
        if range.upperBound != .max { members.append(.init(high, .integer(Int64(range.upperBound)))) }
        return members
    }
}
