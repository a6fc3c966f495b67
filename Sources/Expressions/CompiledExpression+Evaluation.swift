extension CompiledExpression {
    /// The value of a node.
    ///
    /// The recursion is no deeper than the nesting of the expression, which `Limits.depth` bounds.
    func value(at index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure) -> Value {
        switch nodes[index] {
        case .unknown: return .unknown
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .duration(let milliseconds): return .duration(milliseconds: milliseconds)
        case .constant(let constant): return constants[constant]
        case .read(let slot): return environment.value(of: slot)
        case .list(let entries): return try list(entries, in: &environment)
        case .asNumber(let operand): return try value(at: operand, in: &environment).asNumber
        case .asText(let operand): return .string(try text(at: operand, in: &environment))
        case .negate(let operand): return try negated(operand, index, in: &environment)
        case .not(let operand): return .boolean(try !boolean(at: operand, in: &environment))
        case .and(let operands):
            for position in operands.indices where try !boolean(at: self.operands[position], in: &environment) {
                return .boolean(false)
            }
            return .boolean(true)
        case .or(let operands):
            for position in operands.indices where try boolean(at: self.operands[position], in: &environment) {
                return .boolean(true)
            }
            return .boolean(false)
        case .fallback(let operands):
            var value = Value.unknown
            for position in operands.indices {
                value = try self.value(at: self.operands[position], in: &environment)
                if value != .unknown { break }
            }
            return value
        case .conditional(let operands):
            var position = operands.start
            while position + 2 < operands.indices.upperBound {
                if try boolean(at: self.operands[position + 1], in: &environment) { break }
                position += 2
            }
            return try value(at: self.operands[position], in: &environment)
        case .compare(let comparison, let left, let right):
            return .boolean(try compare(comparison, left, right, index, in: &environment))
        case .contains(let isNegated, let value, let container):
            return .boolean(try contains(value, container, index, in: &environment) != isNegated)
        case .arithmetic(let operands): return try arithmetic(operands, index, in: &environment)
        case .join(let operands): return .string(try joined(operands, index, in: &environment))
        case .known(let operand): return .boolean(try value(at: operand, in: &environment) != .unknown)
        case .call(let function, let operands): return try call(function, operands, index, in: &environment)
        case .inTime(let window):
            return .boolean(
                environment.clockIsPlausible && windows[window].contains(environment.now, sun: environment.sun))
        }
    }

    // MARK: Operands of a type

    /// The value of a node that must be a boolean. The compiler checked the types, so evaluation fails here only if the
    /// value is unknown (R801), or if a value in `EvaluationContext` has another type than declared (R803).
    func boolean(at index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure) -> Bool {
        let value = try value(at: index, in: &environment)
        guard case .boolean(let truth) = value else { throw mismatch(value, index, "a boolean") }
        return truth
    }

    func string(at index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure) -> String {
        let value = try value(at: index, in: &environment)
        guard case .string(let text) = value else { throw mismatch(value, index, "text") }
        return text
    }

    func integer(at index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure) -> Int64 {
        let value = try value(at: index, in: &environment)
        guard case .integer(let integer) = value else { throw mismatch(value, index, "an integer") }
        return integer
    }

    func number(at index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure) -> Double {
        switch try value(at: index, in: &environment) {
        case .integer(let integer): return Double(integer)
        case .number(let number): return number
        case let value: throw mismatch(value, index, "a number")
        }
    }

    /// The value of a node converted to text.
    func text(at index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure) -> String {
        let value = try value(at: index, in: &environment)
        guard let text = value.text else { throw mismatch(value, index, "text") }
        return try limited(text, index)
    }

    func mismatch(_ value: Value, _ index: Int, _ wanted: String) -> EvaluationFailure {
        let written = Quotation.of(octets, ranges[index])
        return value == .unknown
            ? EvaluationFailure(.unknownValue, ranges[index], "\(written) is unknown")
            : EvaluationFailure(.conversion, ranges[index], "\(written) is not \(wanted)")
    }

    func limited(_ text: String, _ index: Int) throws(EvaluationFailure) -> String {
        guard text.utf8.count <= Limits.textLength else { throw tooLong(index) }
        return text
    }

    func tooLong(_ index: Int) -> EvaluationFailure {
        EvaluationFailure(.tooLong, ranges[index], "the text is longer than 64 KiB")
    }

    // MARK: Lists and text

    private func list(_ entries: Operands, in environment: inout EvaluationContext) throws(EvaluationFailure) -> Value {
        var values: [Value] = []
        values.reserveCapacity(entries.count)
        for position in entries.indices {
            let node = operands[position]
            let value = try value(at: node, in: &environment)
            guard value != .unknown else { throw mismatch(value, node, "a value") }
            values.append(value)
        }
        return .list(values)
    }

    private func joined(
        _ parts: Operands, _ index: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> String {
        var text = ""
        for position in parts.indices {
            text += try self.text(at: operands[position], in: &environment)
            guard text.utf8.count <= Limits.textLength else { throw tooLong(index) }
        }
        return text
    }

    // MARK: Comparing

    private func compare(
        _ comparison: Comparison, _ leftNode: Int, _ rightNode: Int, _ index: Int,
        in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Bool {
        let left = try value(at: leftNode, in: &environment)
        let right = try value(at: rightNode, in: &environment)
        let isLess: Bool?
        switch comparison {
        case .equal: return left.isEqual(to: right)
        case .notEqual: return !left.isEqual(to: right)
        case .less: isLess = left.isLess(than: right)
        case .lessOrEqual: isLess = right.isLess(than: left).map { !$0 }
        case .greater: isLess = right.isLess(than: left)
        case .greaterOrEqual: isLess = left.isLess(than: right).map { !$0 }
        }
        if let isLess { return isLess }
        if left == .unknown { throw mismatch(left, leftNode, "comparable") }
        if right == .unknown { throw mismatch(right, rightNode, "comparable") }
        throw mismatch(left, index, "comparable")
    }

    private func contains(
        _ valueNode: Int, _ containerNode: Int, _ index: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Bool {
        let value = try value(at: valueNode, in: &environment)
        switch (value, try self.value(at: containerNode, in: &environment)) {
        case (.unknown, _): throw mismatch(value, valueNode, "known")
        case (_, .list(let entries)): return entries.contains { $0.isEqual(to: value) }
        case (.string(let part), .string(let whole)): return TextSearch(for: part).isFound(in: whole)
        case (_, let container): throw mismatch(container, containerNode, "a list or text")
        }
    }
}
