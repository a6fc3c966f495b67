import YAMLFiles

/// The key of a mapping, and the shape of its value beside the keys that the mapping has.
struct KeyShape {
    var key: MappingTable.Key
    var shape: SchemaShape
    var detail: KeyDetail
}

extension SchemaMapping {
    /// Returns `nil` if the table does not have the key.
    ///
    /// - Parameter keys: the keys that the mapping has. They decide between variants that give the key different shapes.
    func keyShape(_ name: String, beside keys: [String]) -> KeyShape? {
        guard let key = table.key(name) else { return nil }
        let detail = details[name] ?? KeyDetail()
        var shape = detail.shape ?? SchemaShape(key.type) ?? .json
        for variant in variants where !variant.overrides.isEmpty && variant.distinctive.allSatisfy(keys.contains) {
            if let override = variant.overrides[name] { shape = override }
        }
        return KeyShape(key: key, shape: shape, detail: detail)
    }

    /// The keys that an editor offers for a mapping that has some keys already: the keys of the variants that allow all of these,
    /// without keys that exclude each other.
    func possibleKeys(beside keys: [String]) -> [KeyShape] {
        var names = table.keys.map(\.name)
        let variants = variants.filter { variant in
            keys.allSatisfy { variant.required.contains($0) || variant.optional.contains($0) }
        }
        if !variants.isEmpty {
            let possible = Set(variants.flatMap { $0.required + $0.optional })
            names.removeAll { !possible.contains($0) }
        }
        for constraint in constraints {
            switch constraint {
            case .exactlyOne(let alternatives), .atMostOne(let alternatives):
                if alternatives.contains(where: keys.contains) { names.removeAll(where: alternatives.contains) }
            case .some, .all: break
            }
        }
        return names.filter { !keys.contains($0) }.compactMap { keyShape($0, beside: keys) }
    }
}

extension SchemaShape {
    /// The shapes among which a value chooses, with `either` and `oneOrMany` taken apart.
    var alternatives: [SchemaShape] {
        switch self {
        case .either(let shapes): shapes.flatMap(\.alternatives)
        case .oneOrMany(let shape, _): shape.alternatives + [.list(shape, 1...Int.max)]
        case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset, .clock,
            .clockTime, .moment, .rate, .weekday, .status, .json, .empty, .oneOf, .exactly, .reference, .name, .mapping,
            .declarations, .keyed, .matching, .list:
            [self]
        }
    }

    /// The shape of the entries of a list; `nil` if the value cannot be a list.
    var element: SchemaShape? {
        for shape in alternatives {
            switch shape {
            case .list(let element, _): return element
            case .json: return .json
            case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset,
                .clock, .clockTime, .moment, .rate, .weekday, .status, .empty, .oneOf, .exactly, .reference, .name,
                .mapping,
                .declarations, .keyed, .matching, .either, .oneOrMany:
                continue
            }
        }
        return nil
    }

    /// The shape that a mapping in this place has; `nil` if the value cannot be a mapping.
    var asMapping: SchemaShape? {
        alternatives.first { shape in
            switch shape {
            case .mapping, .declarations, .keyed, .matching, .json: true
            case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset,
                .clock, .clockTime, .moment, .rate, .weekday, .status, .empty, .oneOf, .exactly, .reference, .name,
                .list,
                .either, .oneOrMany:
                false
            }
        }
    }

    /// The shape of the value of a key, if this is the shape of a mapping.
    func value(of key: String, beside keys: [String]) -> SchemaShape? {
        switch self {
        case .mapping(let mapping): mapping.keyShape(key, beside: keys)?.shape
        case .declarations(let shape), .keyed(_, let shape, _), .matching(_, let shape): shape
        case .json: .json
        case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset, .clock,
            .clockTime, .moment, .rate, .weekday, .status, .empty, .oneOf, .exactly, .reference, .name, .list, .either,
            .oneOrMany:
            nil
        }
    }

    /// True if a value in this place has to be a mapping, or a list of them.
    var isMappingOnly: Bool {
        alternatives.allSatisfy { shape in
            if case .mapping = shape { return true }
            if case .list(let element, _) = shape { return element.isMappingOnly }
            return false
        }
    }

    /// True if a text in this place is an expression as a whole.
    var isExpression: Bool { alternatives.contains { if case .expression = $0 { true } else { false } } }

    /// True if a text in this place may contain `{{ … }}`.
    var mayBeTemplate: Bool {
        alternatives.contains { shape in
            switch shape {
            case .template, .json, .scalar, .delay: true
            case .text, .expression, .boolean, .integer, .number, .duration, .offset, .clock, .clockTime, .moment,
                .rate,
                .weekday, .status, .empty, .oneOf, .exactly, .reference, .name, .mapping, .declarations, .keyed,
                .matching, .list, .either, .oneOrMany:
                false
            }
        }
    }
}
