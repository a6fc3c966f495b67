/// Arithmetic. An integer result that overflows and a number that is not finite fail. Durations are whole milliseconds,
/// rounded half away from zero.
extension CompiledExpression {
    func arithmetic(
        _ operands: Operands, _ index: Int, in environment: inout EvaluationContext
    ) throws(EvaluationFailure) -> Value {
        var position = operands.start
        let end = operands.indices.upperBound
        guard position < end else { return .unknown }
        var result = try value(at: self.operands[position], in: &environment)
        if result == .unknown { throw mismatch(result, self.operands[position], "a number") }
        position += 1
        while position + 1 < end {
            let operation = Arithmetic.allCases[self.operands[position]]
            let node = self.operands[position + 1]
            let right = try value(at: node, in: &environment)
            if right == .unknown { throw mismatch(right, node, "a number") }
            do {
                result = try CompiledExpression.calculate(operation, result, right)
            } catch {
                throw EvaluationFailure(error.code, ranges[index], error.message)
            }
            position += 2
        }
        return result
    }

    func negated(_ operand: Int, _ index: Int, in environment: inout EvaluationContext) throws(EvaluationFailure)
        -> Value
    {
        let value = try value(at: operand, in: &environment)
        switch value {
        case .integer(let integer):
            let (opposite, overflow) = Int64.zero.subtractingReportingOverflow(integer)
            guard !overflow else { throw EvaluationFailure(.arithmetic, ranges[index], Fault.overflow.message) }
            return .integer(opposite)
        case .number(let number): return .number(-number)
        case .duration(let milliseconds):
            let (opposite, overflow) = Int64.zero.subtractingReportingOverflow(milliseconds)
            guard !overflow else { throw EvaluationFailure(.arithmetic, ranges[index], Fault.overflow.message) }
            return .duration(milliseconds: opposite)
        case .unknown, .boolean, .string, .list: throw mismatch(value, operand, "a number")
        }
    }

    private enum Fault: Error {
        case overflow, divisionByZero, notFinite, mismatch

        var code: EvaluationFailure.Code { self == .mismatch ? .conversion : .arithmetic }

        var message: String {
            switch self {
            case .overflow: "the result does not fit 64 bits"
            case .divisionByZero: "division by zero"
            case .notFinite: "the result is not a finite number"
            case .mismatch: "the value is not a number"
            }
        }
    }

    private static func calculate(
        _ operation: Arithmetic, _ left: Value, _ right: Value
    ) throws(Fault) -> Value {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            return operation == .divide
                ? .number(try calculate(.divide, Double(left), Double(right)))
                : .integer(try calculate(operation, left, right))
        case (.integer(let left), .number(let right)): return .number(try calculate(operation, Double(left), right))
        case (.number(let left), .integer(let right)): return .number(try calculate(operation, left, Double(right)))
        case (.number(let left), .number(let right)): return .number(try calculate(operation, left, right))
        case (.duration(let left), .duration(let right)) where operation == .add || operation == .subtract:
            return .duration(milliseconds: try calculate(operation, left, right))
        case (.duration(let duration), .integer(let factor)) where operation == .multiply,
            (.integer(let factor), .duration(let duration)) where operation == .multiply:
            return .duration(milliseconds: try calculate(.multiply, duration, factor))
        case (.duration(let duration), .integer(let divisor)) where operation == .divide:
            return .duration(milliseconds: try rounded(Double(duration), .divide, Double(divisor)))
        case (.duration(let duration), .number(let number)) where operation == .multiply || operation == .divide:
            return .duration(milliseconds: try rounded(Double(duration), operation, number))
        case (.number(let number), .duration(let duration)) where operation == .multiply:
            return .duration(milliseconds: try rounded(Double(duration), .multiply, number))
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _):
            throw .mismatch
        }
    }

    private static func calculate(_ operation: Arithmetic, _ left: Int64, _ right: Int64) throws(Fault) -> Int64 {
        let (result, overflow): (Int64, Bool)
        switch operation {
        case .add: (result, overflow) = left.addingReportingOverflow(right)
        case .subtract: (result, overflow) = left.subtractingReportingOverflow(right)
        case .multiply: (result, overflow) = left.multipliedReportingOverflow(by: right)
        case .divide, .floorDivide:
            guard right != 0 else { throw .divisionByZero }
            let (quotient, isTooLarge) = left.dividedReportingOverflow(by: right)
            guard !isTooLarge else { throw .overflow }
            // Integer division truncates towards zero; `//` rounds down.
            let isRoundedUp = (left < 0) != (right < 0) && quotient &* right != left
            (result, overflow) = (isRoundedUp ? quotient - 1 : quotient, false)
        case .remainder:
            guard right != 0 else { throw .divisionByZero }
            // For `Int64.min` and -1 the partial value is 0, although the quotient overflows.
            let remainder = left.remainderReportingOverflow(dividingBy: right).partialValue
            let hasOtherSign = remainder != 0 && (remainder < 0) != (right < 0)
            (result, overflow) = (hasOtherSign ? remainder + right : remainder, false)
        }
        guard !overflow else { throw .overflow }
        return result
    }

    private static func calculate(_ operation: Arithmetic, _ left: Double, _ right: Double) throws(Fault) -> Double {
        let result: Double
        switch operation {
        case .add: result = left + right
        case .subtract: result = left - right
        case .multiply: result = left * right
        case .divide:
            guard right != 0 else { throw .divisionByZero }
            result = left / right
        case .floorDivide, .remainder: throw .mismatch
        }
        guard result.isFinite else { throw .notFinite }
        return result
    }

    private static func rounded(
        _ milliseconds: Double, _ operation: Arithmetic, _ number: Double
    ) throws(Fault) -> Int64 {
        let result = try calculate(operation, milliseconds, number)
        guard let whole = Int64(exactly: result.rounded(.toNearestOrAwayFromZero)) else { throw .overflow }
        return whole
    }
}
