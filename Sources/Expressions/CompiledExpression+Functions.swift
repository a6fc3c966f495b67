import JSON

extension CompiledExpression {
    func call(
        _ function: Function, _ operands: Operands, _ index: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Value {
        switch function {
        case .integer: return .integer(try converted(operands, index, in: &environment) { $0.integerValue })
        case .number: return .number(try converted(operands, index, in: &environment) { $0.numericValue })
        case .round, .floor, .ceil, .abs: return try rounded(function, operands, index, in: &environment)
        case .min, .max, .clamp: return try extreme(function, operands, index, in: &environment)
        case .lower: return .string(try limited(try string(operands, 0, in: &environment).lowercased(), index))
        case .upper: return .string(try limited(try string(operands, 0, in: &environment).uppercased(), index))
        case .trim: return .string(try string(operands, 0, in: &environment).trimmed)
        case .replace:
            let text = try string(operands, 0, in: &environment)
            let search = TextSearch(for: try string(operands, 1, in: &environment))
            let replacement = try string(operands, 2, in: &environment)
            guard let result = search.replacing(in: text, with: replacement, limit: Limits.textLength) else {
                throw tooLong(index)
            }
            return .string(result)
        case .slice:
            let text = try string(operands, 0, in: &environment)
            let from = try integer(operands, 1, in: &environment)
            return .string(text.slice(from: from, length: try integer(operands, 2, in: &environment)))
        case .length: return .integer(Int64(try string(operands, 0, in: &environment).unicodeScalars.count))
        case .contains:
            let text = try string(operands, 0, in: &environment)
            return .boolean(TextSearch(for: try string(operands, 1, in: &environment)).isFound(in: text))
        case .startsWith:
            let text = try string(operands, 0, in: &environment)
            return .boolean(text.utf8.starts(with: try string(operands, 1, in: &environment).utf8))
        case .endsWith:
            let text = try string(operands, 0, in: &environment)
            return .boolean(
                text.utf8.reversed().starts(with: try string(operands, 1, in: &environment).utf8.reversed()))
        case .like:
            let text = try string(operands, 0, in: &environment)
            let pattern = try string(operands, 1, in: &environment)
            guard pattern.utf8.count <= Limits.patternLength else {
                throw EvaluationFailure(
                    .tooLong, ranges[index], "the pattern is longer than \(Limits.patternLength) bytes")
            }
            return .boolean(Wildcards(pattern).match(text))
        case .next: return try next(operands, in: &environment)
        case .seconds: return .number(Double(try milliseconds(operands, 0, in: &environment)) / 1000)
        case .milliseconds: return .integer(try milliseconds(operands, 0, in: &environment))
        case .minutesSince:
            let text = try string(operands, 0, in: &environment)
            guard let seconds = TimeStamp.seconds(text) else {
                let shown = Quotation.of(Array(text.utf8.prefix(4 * Quotation.maximumLength)))
                throw EvaluationFailure(.conversion, ranges[index], "\"\(shown)\" is no time")
            }
            let elapsed = environment.now.unix - seconds
            return .integer(elapsed / 60 - (elapsed % 60 < 0 ? 1 : 0))
        case .json:
            let value = try value(at: node(operands, 0), in: &environment)
            guard value != .unknown else { throw mismatch(value, node(operands, 0), "a value") }
            return .string(try limited(value.json.description, index))
        case .jsonGet:
            let text = try string(operands, 0, in: &environment)
            let found = JSONPointer(try string(operands, 1, in: &environment))?.text(in: text)
            return try found.map { found throws(EvaluationFailure) in .string(try limited(found, index)) } ?? .unknown
        case .url:
            return .string(try limited(PercentEncoding.encoded(try string(operands, 0, in: &environment)), index))
        case .random:
            let first = try integer(operands, 0, in: &environment)
            let last = try integer(operands, 1, in: &environment)
            guard first <= last else {
                throw EvaluationFailure(
                    .arithmetic, ranges[index], "random needs the smaller number first, not \(first) and \(last)")
            }
            return .integer(environment.draws.number(in: first...last))
        // The compiler creates other nodes for these functions.
        case .known, .default, .string, .inTime: return .unknown
        }
    }

    // MARK: Arguments

    private func node(_ operands: Operands, _ number: Int) -> Int { self.operands[operands.start + number] }

    private func string(
        _ operands: Operands, _ number: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> String {
        try string(at: node(operands, number), in: &environment)
    }

    private func integer(
        _ operands: Operands, _ number: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Int64 {
        try integer(at: node(operands, number), in: &environment)
    }

    private func milliseconds(
        _ operands: Operands, _ number: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Int64 {
        let value = try value(at: node(operands, number), in: &environment)
        guard case .duration(let milliseconds) = value else {
            throw mismatch(value, node(operands, number), "a duration")
        }
        return milliseconds
    }

    // MARK: Numbers

    /// The result of `integer` and `number`: the converted value, or the second argument if it cannot be converted.
    private func converted<Number>(
        _ operands: Operands, _ index: Int, in environment: inout EvaluationContext, _ convert: (Value) -> Number?
    ) throws(EvaluationFailure) -> Number {
        let value = try value(at: node(operands, 0), in: &environment)
        if let number = convert(value) { return number }
        guard value != .unknown else { throw mismatch(value, node(operands, 0), "a number") }
        if operands.count > 1 {
            let fallback = try self.value(at: node(operands, 1), in: &environment)
            guard let number = convert(fallback) else { throw mismatch(fallback, node(operands, 1), "a number") }
            return number
        }
        let kind = Number.self == Int64.self ? "an integer" : "a number"
        let shown = Quotation.of(Array((value.text ?? "").utf8.prefix(4 * Quotation.maximumLength)))
        throw EvaluationFailure(.conversion, ranges[index], "\"\(shown)\" is not \(kind)")
    }

    private func rounded(
        _ function: Function, _ operands: Operands, _ index: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Value {
        let value = try value(at: node(operands, 0), in: &environment)
        if operands.count > 1 {
            let number = try number(at: node(operands, 0), in: &environment)
            let places = try integer(operands, 1, in: &environment)
            guard places >= 0 else {
                throw EvaluationFailure(.arithmetic, ranges[index], "round keeps at least 0 digits, not \(places)")
            }
            return .number(Decimal(number).rounded(toPlaces: Int(min(places, 400))).value)
        }
        switch (value, function) {
        case (.integer(let integer), .abs):
            guard integer != .min else {
                throw EvaluationFailure(.arithmetic, ranges[index], "the result does not fit 64 bits")
            }
            return .integer(Swift.abs(integer))
        case (.integer, _): return value
        case (.number(let number), .abs): return .number(Swift.abs(number))
        case (.number(let number), _):
            let rule: FloatingPointRoundingRule =
                function == .floor ? .down : function == .ceil ? .up : .toNearestOrAwayFromZero
            guard let whole = Int64(exactly: number.rounded(rule)) else {
                throw EvaluationFailure(.arithmetic, ranges[index], "the result does not fit 64 bits")
            }
            return .integer(whole)
        case (.unknown, _), (.boolean, _), (.string, _), (.duration, _), (.list, _):
            throw mismatch(value, node(operands, 0), "a number")
        }
    }

    private func extreme(
        _ function: Function, _ operands: Operands, _ index: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Value {
        if function == .clamp {
            // The lower bound is applied last, so that it takes precedence if it exceeds the upper bound.
            let value = try value(at: node(operands, 0), in: &environment)
            let low = try self.value(at: node(operands, 1), in: &environment)
            let high = try self.value(at: node(operands, 2), in: &environment)
            return try less(false, try less(true, value, high, index), low, index)
        }
        var result = try value(at: node(operands, 0), in: &environment)
        for position in operands.indices.dropFirst() {
            let other = try value(at: self.operands[position], in: &environment)
            result = try less(function == .min, result, other, index)
        }
        return result
    }

    /// The lesser or the greater of two values; the first if they are equal.
    private func less(
        _ wantsLess: Bool, _ left: Value, _ right: Value, _ index: Int
    ) throws(EvaluationFailure) -> Value {
        guard let takesRight = wantsLess ? right.isLess(than: left) : left.isLess(than: right) else {
            throw mismatch(left == .unknown ? left : right, index, "a number or a duration")
        }
        return takesRight ? right : left
    }

    // MARK: Lists

    private func next(_ operands: Operands, in environment: inout EvaluationContext) throws(EvaluationFailure) -> Value
    {
        let list = try value(at: node(operands, 0), in: &environment)
        let value = try value(at: node(operands, 1), in: &environment)
        guard case .list(let entries) = list, let first = entries.first else {
            throw mismatch(list, node(operands, 0), "a list with entries")
        }
        guard value != .unknown else { throw mismatch(value, node(operands, 1), "known") }
        guard let index = entries.firstIndex(where: { $0.isEqual(to: value) }), index + 1 < entries.count else {
            return first
        }
        return entries[index + 1]
    }
}
