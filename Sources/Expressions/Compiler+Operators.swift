extension Compiler {
    // MARK: Booleans

    /// Checks an operand that must be a boolean. No other type is converted to a boolean: the language has no
    /// truthiness.
    mutating func boolean(_ syntax: Syntax, of name: String) -> Checked? {
        guard let checked = check(syntax), isBoolean(checked, of: name) else { return nil }
        return checked
    }

    mutating func booleans(_ syntaxes: [Syntax], of name: String) -> CompiledExpression.Operands? {
        let checked = syntaxes.compactMap { boolean($0, of: name) }
        guard checked.count == syntaxes.count else { return nil }
        return program.append(operands: checked.map(\.node))
    }

    private mutating func isBoolean(_ checked: Checked, of name: String) -> Bool {
        guard checked.type.scalar == .boolean || checked.type.kind == .null else {
            report(
                "E404", checked.syntax,
                "\(name) needs a boolean, not \(checked.type): \(source(checked.syntax))", hint: comparisonHint(checked)
            )
            return false
        }
        return isKnown(checked)
    }

    /// Suggests the comparison that was probably meant where a boolean is required.
    func comparisonHint(_ checked: Checked) -> Hint? {
        let written = source(checked.syntax)
        func compared(_ rest: String) -> Hint { rewritten(checked.syntax) { "\($0) \(rest)" } }
        guard !checked.type.isOptional else { return "write known(\(written)), or compare it" }
        return switch checked.type.scalar {
        case .integer, .number: compared("!= 0")
        case .string: compared("== 'ON'")
        case .duration: compared("> 0s")
        case .boolean, nil: nil
        }
    }

    // MARK: Fallback and conditional

    mutating func fallback(_ operands: [Syntax], _ syntax: Syntax) -> Checked? {
        guard let checked = checkAll(operands) else { return nil }
        return fallback(checked, of: "??", syntax)
    }

    mutating func fallback(_ operands: [Checked], of name: String, _ syntax: Syntax) -> Checked? {
        guard var type = merged(operands, "\(name) needs values of the same type") else { return nil }
        type.isOptional = operands.last?.type.isOptional ?? true
        let nodes = operands.map { node($0, as: type) }
        return checked(.fallback(program.append(operands: nodes)), type, syntax)
    }

    mutating func conditional(_ branches: [Syntax.Branch], _ otherwise: Syntax, _ syntax: Syntax) -> Checked? {
        var values: [Checked?] = []
        var conditions: [Checked?] = []
        for branch in branches {
            values.append(check(branch.value))
            conditions.append(boolean(branch.condition, of: "if"))
        }
        values.append(check(otherwise))
        let goodValues = values.compactMap { $0 }
        let goodConditions = conditions.compactMap { $0 }
        guard goodValues.count == values.count, goodConditions.count == conditions.count,
            let type = merged(goodValues, "if and else need values of the same type")
        else { return nil }
        var nodes: [Int] = []
        for (index, value) in goodValues.enumerated() {
            nodes.append(node(value, as: type))
            if index < goodConditions.count { nodes.append(goodConditions[index].node) }
        }
        return self.checked(.conditional(program.append(operands: nodes)), type, syntax)
    }

    /// The common type of all values; reports a problem at the first value that does not fit.
    mutating func merged(_ values: [Checked], _ rule: String) -> ExpressionType? {
        guard var type = values.first?.type else { return nil }
        for value in values.dropFirst() {
            guard let both = type.merged(with: value.type) else {
                report("E404", value.syntax, "\(rule), not \(type) and \(value.type)")
                return nil
            }
            type = both
        }
        return type
    }

    // MARK: Comparing

    mutating func compare(_ comparison: Comparison, _ left: Syntax, _ right: Syntax, _ syntax: Syntax) -> Checked? {
        guard let pair = checkAll([left, right]) else { return nil }
        let (left, right) = (pair[0], pair[1])
        let isOrder = comparison != .equal && comparison != .notEqual
        let both = left.type.merged(with: right.type)
        let isSortable: Bool =
            switch both?.kind {
            case .scalar(.integer), .scalar(.number), .scalar(.string), .scalar(.duration), .null: true
            case .scalar(.boolean), .list, nil: false
            }
        guard both != nil, !isOrder || isSortable else {
            report(
                "E404", syntax,
                "cannot compare \(left.type.nonOptional) with \(right.type.nonOptional): \(source(syntax))",
                hint: comparisonRemedy(left, right))
            return nil
        }
        if isOrder {
            let isLeftKnown = isKnown(left)
            guard isKnown(right), isLeftKnown else { return nil }
        }
        return checked(.compare(comparison, left.node, right.node), .boolean, syntax)
    }

    private func comparisonRemedy(_ left: Checked, _ right: Checked) -> Hint? {
        for (text, other) in [(left, right), (right, left)] where text.type.scalar == .string {
            if other.type.isNumeric, let scalar = other.type.scalar {
                return remedy(for: text, toBe: scalar) ?? wrapped(text, in: .number)
            }
            if other.type.scalar == .boolean { return "compare with text such as 'ON'" }
        }
        return nil
    }

    mutating func membership(
        isNegated: Bool, _ value: Syntax, in container: Syntax, _ syntax: Syntax
    ) -> Checked? {
        guard let pair = checkAll([value, container]) else { return nil }
        let (value, container) = (pair[0], pair[1])
        let isPossible: Bool =
            switch container.type.kind {
            case .list(let element):
                value.type.kind == .null
                    || value.type.scalar.map { scalar in element.map { $0.merged(with: scalar) != nil } ?? true }
                        ?? false
            case .scalar(.string): value.type.scalar == .string || value.type.kind == .null
            case .scalar, .null: false
            }
        guard isPossible else {
            let hint: Hint? =
                container.type.isList || container.type.scalar == .string ? nil : "write x in [a, b], or t in s"
            report(
                "E404", syntax,
                "cannot look for \(value.type.nonOptional) in \(container.type.nonOptional): \(source(syntax))",
                hint: hint)
            return nil
        }
        let isValueKnown = isKnown(value)
        guard isKnown(container), isValueKnown else { return nil }
        return checked(.contains(isNegated: isNegated, value.node, in: container.node), .boolean, syntax)
    }

    // MARK: Arithmetic

    mutating func negate(_ operand: Syntax, _ range: Range<Int>, _ syntax: Syntax) -> Checked? {
        guard let operand = check(operand) else { return nil }
        guard operand.type.isNumeric || operand.type.scalar == .duration || operand.type.kind == .null else {
            report(
                "E404", syntax,
                "- needs a number or a duration, not \(operand.type.nonOptional): \(source(operand.syntax))",
                hint: remedy(for: operand, toBe: .number))
            return nil
        }
        guard isKnown(operand) else { return nil }
        return checked(.negate(operand.node), operand.type, syntax, range)
    }

    mutating func arithmetic(_ first: Syntax, _ operands: [Syntax.Operand], _ syntax: Syntax) -> Checked? {
        guard let all = checkAll([first] + operands.map(\.value)) else { return nil }
        var type = all[0].type
        var left = all[0]
        var nodes = [left.node]
        for (index, operand) in operands.enumerated() {
            let right = all[index + 1]
            guard let result = result(operand.operation, left, right) else { return nil }
            type = result
            nodes.append(Arithmetic.allCases.firstIndex(of: operand.operation) ?? 0)
            nodes.append(right.node)
            let soFar = first.range.lowerBound..<right.syntax.range.upperBound
            left = Checked(node: left.node, type: result, syntax: .bracketed(first, soFar))
        }
        return checked(.arithmetic(program.append(operands: nodes)), type, syntax)
    }

    /// The type of one operation; reports a problem if the operator does not accept the operands.
    private mutating func result(_ operation: Arithmetic, _ left: Checked, _ right: Checked) -> ExpressionType? {
        let type = Compiler.result(operation, left.type, right.type)
        guard let type else {
            let range = left.syntax.range.lowerBound..<right.syntax.range.upperBound
            report(
                "E404", at: range,
                "cannot \(operation.verb) \(left.type.nonOptional) and \(right.type.nonOptional): \(Quotation.of(octets, range))",
                hint: arithmeticHint(operation, left, right))
            return nil
        }
        let isLeftKnown = isKnown(left)
        guard isKnown(right), isLeftKnown else { return nil }
        return type
    }

    /// The type of an operation; `nil` if the operator does not accept the types. Whether the operands are optional is
    /// ignored.
    static func result(_ operation: Arithmetic, _ left: ExpressionType, _ right: ExpressionType) -> ExpressionType? {
        // `isKnown` reports an operand that is `null`.
        if left.kind == .null || right.kind == .null { return .null }
        guard let left = left.scalar, let right = right.scalar else { return nil }
        let isWhole = left == .integer && right == .integer
        let isNumeric = ExpressionType(left).isNumeric && ExpressionType(right).isNumeric
        switch operation {
        case .add, .subtract:
            if left == .duration, right == .duration { return .duration }
            return isNumeric ? (isWhole ? .integer : .number) : nil
        case .multiply:
            if left == .duration, ExpressionType(right).isNumeric { return .duration }
            if right == .duration, ExpressionType(left).isNumeric { return .duration }
            return isNumeric ? (isWhole ? .integer : .number) : nil
        case .divide:
            if left == .duration, ExpressionType(right).isNumeric { return .duration }
            return isNumeric ? .number : nil
        case .floorDivide, .remainder:
            return isWhole ? .integer : nil
        }
    }

    /// True for `trigger.old` and `trigger.new`, which are texts even if the state is a number.
    private func isChangeOfTrigger(_ syntax: Syntax) -> Bool {
        guard case .field(of: .name(let root, _), let field, _) = syntax else { return false }
        return root == Root.trigger.rawValue && ChangeValue(rawValue: field) != nil
    }

    private func arithmeticHint(_ operation: Arithmetic, _ left: Checked, _ right: Checked) -> Hint? {
        // Between the operands are the operator and blanks only.
        let between = left.syntax.range.upperBound..<max(left.syntax.range.upperBound, right.syntax.range.lowerBound)
        let join = octets[between].firstIndex(of: UInt8(ascii: "+")).map { [Hint.Change($0..<$0 + 1, "~")] } ?? []
        for text in [left, right] {
            if let remedy = remedy(for: text, toBe: .number) {
                return operation == .add ? Hint(remedy.sentence.map { "\($0), or use ~ to join text" }, join) : remedy
            }
        }
        for text in [left, right] where isChangeOfTrigger(text.syntax) {
            let name = String(decoding: octets[text.syntax.range], as: UTF8.self)
            return Hint(
                "write number(\(name))\(operation == .add ? ", or use ~ to join text" : "")",
                [Hint.Change(text.syntax.range, "number(\(name))")] + (operation == .add ? join : []))
        }
        if left.type.scalar == .string || right.type.scalar == .string {
            return operation == .add ? Hint("use ~ to join text", join) : "number(x) converts text to a number"
        }
        if left.type.isNumeric, right.type.isNumeric {
            return "\(operation.rawValue) needs integers; round(x) gives one"
        }
        if left.type.scalar == .duration || right.type.scalar == .duration { return "seconds(d) gives a number" }
        return nil
    }

    // MARK: Text

    mutating func join(_ parts: [Syntax], _ syntax: Syntax) -> Checked? {
        let parts = parts.map { part in check(part).flatMap { hasText($0) ? $0 : nil } }
        let nodes = parts.compactMap { $0?.node }
        guard nodes.count == parts.count else { return nil }
        return checked(.join(program.append(operands: nodes)), .string, syntax)
    }

    /// Checks that a value can be converted to text, and reports a problem if not. Optional types are accepted:
    /// evaluation fails if the value is unknown.
    mutating func hasText(_ checked: Checked) -> Bool {
        switch checked.type.kind {
        case .scalar: return true
        case .list:
            report(
                "E404", checked.syntax, "a list cannot be converted to text: \(source(checked.syntax))",
                hint: wrapped(checked, in: .json))
            return false
        case .null:
            report(
                "E404", checked.syntax, "null cannot be converted to text",
                hint: Hint("write '' for empty text", replacing: "''"))
            return false
        }
    }
}

extension ExpressionType {
    /// The type without its optionality, for messages about another mistake.
    var nonOptional: ExpressionType { kind == .null ? self : ExpressionType(kind) }
}

extension Arithmetic {
    fileprivate var verb: String {
        switch self {
        case .add: "add"
        case .subtract: "subtract"
        case .multiply: "multiply"
        case .divide, .floorDivide, .remainder: "divide"
        }
    }
}
