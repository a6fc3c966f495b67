/// The static type of an expression.
///
/// The values of an *optional* type may be unknown. They can be compared with `==`, tested with `known`, given a
/// fallback with `??`, and converted to text; nothing else is allowed.
package struct ExpressionType: Hashable, Sendable {
    /// The raw value is the type's name in the language and in messages.
    package enum Scalar: String, CaseIterable, Hashable, Sendable {
        case boolean, integer, number, string, duration
    }

    package enum Kind: Hashable, Sendable {
        case scalar(Scalar)
        /// A list; `nil` is the element type of the empty list, which fits every list.
        case list(of: Scalar?)
        /// The type of the literal `null`, which is unknown and fits every optional type.
        case null
    }

    package var kind: Kind
    package var isOptional: Bool

    package init(_ kind: Kind, isOptional: Bool = false) {
        self.kind = kind
        self.isOptional = isOptional
    }

    package init(_ scalar: Scalar) { self.init(.scalar(scalar)) }

    package static let boolean = ExpressionType(.boolean)
    package static let integer = ExpressionType(.integer)
    package static let number = ExpressionType(.number)
    package static let string = ExpressionType(.string)
    package static let duration = ExpressionType(.duration)
    package static let null = ExpressionType(.null, isOptional: true)

    package static func list(of element: Scalar?) -> ExpressionType { ExpressionType(.list(of: element)) }

    /// The type with values that may be unknown.
    package var optional: ExpressionType { ExpressionType(kind, isOptional: true) }
}

extension ExpressionType {
    var scalar: Scalar? {
        if case .scalar(let scalar) = kind { scalar } else { nil }
    }

    var isList: Bool {
        if case .list = kind { true } else { false }
    }

    var isNumeric: Bool { scalar == .integer || scalar == .number }

    /// The common type of both, where number is the common type of integer and number; `nil` if there is none.
    func merged(with other: ExpressionType) -> ExpressionType? {
        let isOptional = isOptional || other.isOptional
        switch (kind, other.kind) {
        case (.null, _): return ExpressionType(other.kind, isOptional: true)
        case (_, .null): return ExpressionType(kind, isOptional: true)
        case (.scalar(let left), .scalar(let right)):
            return left.merged(with: right).map { ExpressionType(.scalar($0), isOptional: isOptional) }
        case (.list(let left?), .list(let right?)):
            return left.merged(with: right).map { ExpressionType(.list(of: $0), isOptional: isOptional) }
        case (.list(let left), .list(let right)):
            return ExpressionType(.list(of: left ?? right), isOptional: isOptional)
        case (.scalar, .list), (.list, .scalar): return nil
        }
    }
}

extension ExpressionType.Scalar {
    func merged(with other: ExpressionType.Scalar) -> ExpressionType.Scalar? {
        if self == other { return self }
        let both: Set = [self, other]
        return both == [.integer, .number] ? .number : nil
    }

    /// An example of a value to use after `??`.
    var exampleOfFallback: String {
        switch self {
        case .boolean: "false"
        case .integer, .number: "0"
        case .string: "''"
        case .duration: "0s"
        }
    }
}

extension ExpressionType: CustomStringConvertible {
    /// The type's name in messages and in the reference: `number`, `list of string`, `integer or unknown`.
    package var description: String {
        let name =
            switch kind {
            case .scalar(let scalar): scalar.rawValue
            case .list(let element): element.map { "list of \($0.rawValue)" } ?? "list"
            case .null: "null"
            }
        return isOptional && kind != .null ? name + " or unknown" : name
    }
}
