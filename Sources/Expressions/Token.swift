/// A token of an expression, with its position.
struct Token: Hashable {
    enum Kind: Hashable {
        /// Without the sign, which is a separate token; at most `Int64.max` + 1.
        case integer(UInt64)
        case number(Double)
        case duration(milliseconds: Int64)
        case string(String)
        case name(String)
        case keyword(Keyword)
        case symbol(Symbol)
        case end
    }

    enum Keyword: String, CaseIterable, Hashable { case `true`, `false`, null, and, or, not, `in`, `if`, `else` }

    enum Symbol: String, CaseIterable, Hashable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case fallback = "??"
        case plus = "+"
        case minus = "-"
        case join = "~"
        case times = "*"
        case divide = "/"
        case floorDivide = "//"
        case remainder = "%"
        case dot = "."
        case pipe = "|"
        case open = "("
        case close = ")"
        case openList = "["
        case closeList = "]"
        case comma = ","
    }

    var kind: Kind
    var range: Range<Int>
}
