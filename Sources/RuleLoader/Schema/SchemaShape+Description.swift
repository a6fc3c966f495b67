import Expressions
import JSON
import YAMLFiles

extension SchemaShape {
    /// The shape in words for people, such as ``one or many of `click`, `hold` ``.
    var description: String {
        switch self {
        case .text: "text"
        case .template: "template"
        case .expression: "expression"
        case .boolean: "`true` or `false`"
        case .scalar: "text, number, `true` or `false`"
        case .integer(let range) where range.upperBound == .max: range.lowerBound == .min ? "integer" : "whole number"
        case .integer(let range): "whole number, \(range.lowerBound) to \(range.upperBound)"
        case .number(let range) where range == .anyNumber: "number"
        case .number(let range):
            "number, \(SchemaShape.text(range.lowerBound)) to \(SchemaShape.text(range.upperBound))"
        case .duration(let range): "duration" + SchemaShape.words(range)
        case .delay: "duration, or a template that gives one"
        case .offset: "duration, -12h to 12h"
        case .clock(takesOffset: true): "time of day"
        case .clock(takesOffset: false): "time of day without an offset"
        case .clockTime: "time of day, not of the sun"
        case .moment: "day and time"
        case .rate: "rate"
        case .weekday: "`mon` … `sun` or a range such as `mon-fri`"
        case .status: "HTTP status or family"
        case .json: "any YAML"
        case .empty: "nothing"
        case .oneOf(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .exactly(let number): "`\(number)`"
        case .reference(let kind): kind.description
        case .name: "name"
        case .mapping(let mapping): mapping.description
        case .declarations(let shape), .matching(_, let shape): "name → \(shape.description)"
        case .keyed(let kind, let shape, _): "\(kind.rawValue) → \(shape.description)"
        case .list(let shape, let range): "list of \(shape.wordsInside)" + SchemaShape.words(range)
        case .oneOrMany(let shape, atMost: 1): shape.description
        case .oneOrMany(let shape, _): "one or many: \(shape.description)"
        case .either(let shapes): shapes.map(\.description).joined(separator: ", or ")
        }
    }

    private var wordsInside: String {
        switch self {
        case .either, .oneOrMany: "(\(description))"
        case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset, .clock,
            .clockTime, .moment, .rate, .weekday, .status, .json, .empty, .oneOf, .exactly, .reference, .name, .mapping,
            .declarations,
            .keyed, .matching, .list:
            description
        }
    }

    private static func words(_ range: ClosedRange<Duration>) -> String {
        let (low, high) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
        return switch (range.lowerBound, range.upperBound) {
        case (.zero, .longest): ""
        case (.zero, _): ", at most \(high)"
        case (_, .longest): ", at least \(low)"
        default: ", \(low) to \(high)"
        }
    }

    private static func words(_ range: ClosedRange<Int>) -> String {
        range.upperBound == .max
            ? range.lowerBound == 0 ? "" : ", at least \(range.lowerBound)"
            : ", \(range.lowerBound) to \(range.upperBound)"
    }

    private static func text(_ number: Double) -> String { Value.number(number).text ?? "" }

    /// All valid values where they are few, otherwise none.
    var allValues: [JSONValue] {
        switch self {
        case .boolean: [true, false]
        case .oneOf(let words): words.map(JSONValue.string)
        case .text, .template, .expression, .scalar, .integer, .number, .duration, .delay, .offset, .clock, .clockTime,
            .moment, .rate, .weekday, .status, .json, .empty, .exactly, .reference, .name, .mapping, .declarations,
            .keyed,
            .matching, .list, .oneOrMany, .either:
            []
        }
    }
}

extension SchemaShape.Names {
    fileprivate var description: String {
        switch self {
        case .button: "button"
        case .member: "button or group"
        case .source: "button, group or `any`"
        case .state: "state"
        case .variable: "variable"
        case .script: "script"
        case .input: "input"
        case .rule: "rule id"
        }
    }
}

extension SchemaMapping {
    /// The name of the table without its article. A table that belongs to one key is called `mapping`.
    fileprivate var description: String {
        if self == .condition { return "mapping with `time`" }
        let name = table.name
        if name.hasSuffix("\"") { return "mapping" }
        return String(name.drop { $0 != " " }.dropFirst())
    }
}
