/// A checked expression, ready to run: nodes in one array, each naming its operands by their place.
///
/// Nothing in it is looked up by name, and booleans and numbers pass through an evaluation without allocation.
struct Program: Hashable, Sendable {
    enum Node: Hashable, Sendable {
        case unknown
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case duration(milliseconds: Int64)
        /// A text or a list, in `constants`.
        case constant(Int)
        case read(Slot)
        case list(Operands)
        /// An integer, or a list of them, where a number is wanted.
        case asNumber(Int)
        case asText(Int)
        case negate(Int)
        case not(Int)
        case and(Operands)
        case or(Operands)
        /// The first that is known, else the last.
        case fallback(Operands)
        /// Value, condition, value, condition … and the value for otherwise.
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

    /// A part of `operands`.
    struct Operands: Hashable, Sendable {
        var start: Int
        var count: Int

        var indices: Range<Int> { start..<start + count }
    }

    /// The text it was compiled from, for messages; shared by all expressions of a template.
    var octets: [UInt8] = []
    var nodes: [Node] = []
    /// Where each node was written; as many as nodes.
    var ranges: [Range<Int>] = []
    var operands: [Int] = []
    var constants: [Value] = []
    var windows: [TimeWindow] = []
    var root = 0
}

extension Program {
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

    /// The value of a node that needs no environment.
    func constant(at index: Int) -> Value? {
        switch nodes[index] {
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .duration(let milliseconds): .duration(milliseconds: milliseconds)
        case .constant(let index): constants[index]
        default: nil
        }
    }
}
