import ConfigurationLoader
package import Diagnostics
package import Expressions
import JSON
import YAMLFiles

/// A key as the reference describes it, for completion and for hovering.
package struct KeyDescription: Hashable, Sendable {
    /// The form of the value that has to follow the key.
    package enum Form: Hashable, Sendable {
        /// A text in the same line.
        case text
        /// A mapping or a list in the following lines.
        case block
    }

    package var name: String
    /// The mapping that has the key, such as `a rule`.
    package var table: String
    package var summary: String
    /// The type of the value in words.
    package var type: String
    /// The default in words; `nil` for a key without one.
    package var defaultValue: String?
    /// An example of a value, as YAML in one line.
    package var example: String?
    package var isRequired: Bool
    package var form: Form

    init(_ shape: KeyShape, of table: String) {
        name = shape.key.name
        self.table = table
        summary = shape.key.summary
        type = shape.shape.description
        isRequired = shape.key.isRequired
        defaultValue =
            switch shape.detail.defaultValue {
            case .value(let value)?: "`\(value.stringValue ?? value.description)`"
            case .described(let text)?: text
            case nil: nil
            }
        example = shape.detail.examples.first.map { $0.stringValue ?? $0.description }
        let isText = shape.shape.alternatives.contains { alternative in
            switch alternative {
            case .mapping, .declarations, .keyed, .matching, .list, .json: false
            case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset,
                .clock, .clockTime, .moment, .rate, .weekday, .status, .empty, .oneOf, .exactly, .reference, .name,
                .either,
                .oneOrMany:
                true
            }
        }
        form = isText ? .text : .block
    }

    /// A key of `tryck.yaml`.
    init(_ key: MappingTable.Key, of table: MappingTable) {
        name = key.name
        self.table = table.name
        summary = key.summary
        isRequired = key.isRequired
        let isSection = MappingTable.configurationSections[key.name] != nil && key.settings != nil
        type =
            SchemaShape(key.type)?.description
            ?? (isSection ? "mapping" : key.name == "history" ? "duration or `none`" : "one or many: text")
        form = isSection ? .block : .text
    }
}

extension FileOutline {
    /// The part of a file at a position.
    package enum Element: Sendable {
        case key(KeyDescription)
        /// A word of an expression.
        case word(ExpressionWord)
        /// A value of the key, which is no name and no expression.
        case value(KeyDescription)
        /// A part of an expression that is no word of it, with the text of the whole expression. The key has it as its value, or in
        /// `{{ }}` inside its value.
        case expression(KeyDescription, text: String)
    }

    /// The key, or the word of an expression, at a position, and its place.
    package func element(
        at position: SourcePosition
    ) -> (element: Element, start: SourcePosition, end: SourcePosition)? {
        element(at: position, root, .mapping(.file), of: nil)
    }

    private func element(
        at position: SourcePosition, _ node: YAMLNode, _ shape: SchemaShape, of key: KeyDescription?
    ) -> (element: Element, start: SourcePosition, end: SourcePosition)? {
        // The nodes of an alias are described where they are written.
        guard node.alias == nil else { return nil }
        switch node.content {
        case .invalid: return nil
        case .sequence(let nodes):
            guard let element = shape.element,
                let node = nodes.last(where: { $0.start <= position }), position <= node.end
            else { return nil }
            return self.element(at: position, node, element, of: key)
        case .mapping(let entries):
            guard let shape = shape.asMapping,
                let entry = entries.last(where: { $0.key.alias == nil && $0.key.start <= position })
            else { return nil }
            let keys = entries.map(\.key.text)
            var description = key
            // The keys of declarations, JSON and headers are values of the key above them.
            var isValue = true
            if case .mapping(let mapping) = shape, let found = mapping.keyShape(entry.key.text, beside: keys) {
                description = KeyDescription(found, of: mapping.table.name)
                isValue = false
            }
            if position <= entry.key.end {
                return description.map { (isValue ? .value($0) : .key($0), entry.key.start, entry.key.end) }
            }
            guard entry.value.start <= position, position <= entry.value.end,
                let value = shape.value(of: entry.key.text, beside: keys)
            else { return nil }
            return element(at: position, entry.value, value, of: description)
        case .scalar(let text, _):
            if let word = word(at: position, node, text, shape) { return word }
            if let key, let (text, start, end) = expression(at: position, node, text, shape) {
                return (.expression(key, text: text), start, end)
            }
            return key.map { (.value($0), node.start, node.end) }
        }
    }

    /// The expression at a position in a scalar, and its place; a template has several.
    private func expression(
        at position: SourcePosition, _ node: YAMLNode, _ text: String, _ shape: SchemaShape
    ) -> (text: String, start: SourcePosition, end: SourcePosition)? {
        guard node.tag == nil else { return nil }
        if shape.isExpression { return (text, node.start, node.end) }
        guard shape.mayBeTemplate else { return nil }
        var rest = Substring(text)
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            func offset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }
            let (start, end) = source.positions(of: offset(open.lowerBound)..<offset(close.upperBound), in: node)
            if start <= position, position <= end {
                return (String(text[open.upperBound..<close.lowerBound]), start, end)
            }
            rest = rest[close.upperBound...]
        }
        return nil
    }

    private func word(
        at position: SourcePosition, _ node: YAMLNode, _ text: String, _ shape: SchemaShape
    ) -> (element: Element, start: SourcePosition, end: SourcePosition)? {
        guard node.tag == nil else { return nil }
        let words =
            shape.isExpression
            ? ExpressionText.words(inExpression: text)
            : shape.mayBeTemplate && text.hasTemplateMark ? ExpressionText.words(inTemplate: text) : []
        for word in words {
            let (start, end) = source.positions(of: word.range, in: node)
            if start <= position, position <= end { return (.word(word), start, end) }
        }
        return nil
    }
}
