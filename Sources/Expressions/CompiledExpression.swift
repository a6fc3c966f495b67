/// The compiled form of an expression: an array of nodes that refer to their operands by index.
///
/// Evaluation looks up nothing by name, and does not allocate memory for booleans and numbers.
struct CompiledExpression: Hashable, Sendable {
    enum Node: Hashable, Sendable {
        case unknown
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case duration(milliseconds: Int64)
        /// A text or a list: an index into `constants`.
        case constant(Int)
        case read(ValueReference)
        case list(Operands)
        /// Converts an integer, or a list of integers, to numbers.
        case asNumber(Int)
        case asText(Int)
        case negate(Int)
        case not(Int)
        case and(Operands)
        case or(Operands)
        /// The first known value, else the last value.
        case fallback(Operands)
        /// Value, condition, value, condition, …, and the value for `else`.
        case conditional(Operands)
        case compare(Comparison, Int, Int)
        case contains(isNegated: Bool, Int, in: Int)
        /// A value, then pairs of an index into `Arithmetic.allCases` and a value.
        case arithmetic(Operands)
        case join(Operands)
        case known(Int)
        case call(Function, Operands)
        case inTime(Int)
    }

    /// A range of `operands`.
    struct Operands: Hashable, Sendable {
        var start: Int
        var count: Int

        var indices: Range<Int> { start..<start + count }
    }

    /// The source text as UTF-8, for messages; shared by all expressions of a template.
    var octets: [UInt8] = []
    var nodes: [Node] = []
    /// The position of each node in the source text, parallel to `nodes`.
    var ranges: [Range<Int>] = []
    var operands: [Int] = []
    var constants: [Value] = []
    var windows: [TimeWindow] = []
    var root = 0
    /// True if the expression calls `random`.
    var drawsRandom = false
}

extension CompiledExpression {
    mutating func append(_ node: Node, _ range: Range<Int>) -> Int {
        nodes.append(node)
        ranges.append(range)
        return nodes.count - 1
    }

    mutating func append(operands list: [Int]) -> Operands {
        defer { operands.append(contentsOf: list) }
        return Operands(start: operands.count, count: list.count)
    }

    mutating func append(constant value: Value, _ range: Range<Int>) -> Int {
        switch value {
        case .unknown: return append(.unknown, range)
        case .boolean(let value): return append(.boolean(value), range)
        case .integer(let value): return append(.integer(value), range)
        case .number(let value): return append(.number(value), range)
        case .duration(let milliseconds): return append(.duration(milliseconds: milliseconds), range)
        case .string, .list:
            constants.append(value)
            return append(.constant(constants.count - 1), range)
        }
    }

    /// The value of a node that does not depend on the environment; else `nil`.
    func constant(at index: Int) -> Value? {
        switch nodes[index] {
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .duration(let milliseconds): .duration(milliseconds: milliseconds)
        case .constant(let index): constants[index]
        case .unknown, .read, .list, .asNumber, .asText, .negate, .not, .and, .or, .fallback, .conditional, .compare,
            .contains, .arithmetic, .join, .known, .call, .inTime:
            nil
        }
    }
}
