/// Text to syntax.
///
///     expr    = or [ "if" or "else" expr ]
///     or      = and { "or" and }
///     and     = not { "and" not }
///     not     = "not" not | cmp
///     cmp     = alt [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in" ) alt ]
///     alt     = sum { "??" sum }
///     sum     = term { ( "+" | "-" | "~" ) term }
///     term    = unary { ( "*" | "/" | "//" | "%" ) unary }
///     unary   = "-" unary | post
///     post    = atom { "." name | "|" name [ "(" [ args ] ")" ] }
///     atom    = number | duration | string | "true" | "false" | "null"
///             | name [ "(" [ args ] ")" ] | list | "(" expr ")"
///     list    = "[" [ args ] "]"        args = expr { "," expr }
///
/// `a | f(b)` is `f(a, b)`. What is nested is nested at most `Limits.depth` deep; everything else is read in loops.
struct Parser {
    private let octets: [UInt8]
    private var lexer: Lexer
    private var token: Token
    /// Where the token before `token` ended.
    private var previousEnd = 0
    private var depth = 0
    /// The greatest depth since the atom began that is being read: each `|` after it puts it one level further in.
    private var deepest = 0
    /// The token before is a minus, so that the least integer can be read.
    private var followsMinus = false

    /// - Parameters:
    ///   - octets: the whole text.
    ///   - range: the part of it that is the expression.
    static func parse(_ octets: [UInt8], in range: Range<Int>) throws(ExpressionProblem) -> Syntax {
        guard range.count <= Limits.expressionLength else {
            throw ExpressionProblem("E406", range, "expression is longer than \(Limits.expressionLength) bytes")
        }
        var parser = try Parser(octets, in: range)
        guard parser.token.kind != .end else { throw ExpressionProblem("E401", range, "the expression is empty") }
        let syntax = try parser.expression()
        guard parser.token.kind == .end else { throw parser.unexpected() }
        return syntax
    }

    private init(_ octets: [UInt8], in range: Range<Int>) throws(ExpressionProblem) {
        self.octets = octets
        lexer = Lexer(octets, in: range)
        token = try lexer.next()
    }

    private mutating func advance() throws(ExpressionProblem) {
        previousEnd = token.range.upperBound
        token = try lexer.next()
    }

    private mutating func take(_ keyword: Token.Keyword) throws(ExpressionProblem) -> Bool {
        guard token.kind == .keyword(keyword) else { return false }
        try advance()
        return true
    }

    private mutating func take(_ symbol: Token.Symbol) throws(ExpressionProblem) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    /// One level further in, from a token that is named when it is one too many.
    private mutating func enter(at range: Range<Int>) throws(ExpressionProblem) {
        guard depth < Limits.depth else { throw nestedTooDeep(at: range) }
        depth += 1
        deepest = max(deepest, depth)
    }

    // MARK: Operators, loosest first

    private mutating func expression() throws(ExpressionProblem) -> Syntax {
        var value = try or()
        var branches: [Syntax.Branch] = []
        while token.kind == .keyword(.if) {
            let ifRange = token.range
            try advance()
            let condition = try or()
            guard try take(.else) else {
                if token.kind != .end, !isClosing { throw unexpected() }
                throw ExpressionProblem("E401", ifRange, "this if has no else", hint: "write a if b else c")
            }
            branches.append(Syntax.Branch(value: value, condition: condition))
            value = try or()
        }
        return branches.isEmpty ? value : .conditional(branches, otherwise: value)
    }

    private mutating func or() throws(ExpressionProblem) -> Syntax {
        let first = try and()
        guard token.kind == .keyword(.or) else { return first }
        var operands = [first]
        while try take(.or) { operands.append(try and()) }
        return .or(operands)
    }

    private mutating func and() throws(ExpressionProblem) -> Syntax {
        let first = try not()
        guard token.kind == .keyword(.and) else { return first }
        var operands = [first]
        while try take(.and) { operands.append(try not()) }
        return .and(operands)
    }

    private mutating func not() throws(ExpressionProblem) -> Syntax {
        let start = token.range
        guard try take(.not) else { return try comparison() }
        try enter(at: start)
        defer { depth -= 1 }
        let operand = try not()
        return .not(operand, start.lowerBound..<previousEnd)
    }

    private mutating func comparison() throws(ExpressionProblem) -> Syntax {
        let left = try alternative()
        guard let test = try takeTest() else { return left }
        let right = try alternative()
        let secondRange = token.range
        if let second = try takeTest() {
            var hint: String?
            if let third = try? alternative() {
                let middle = source(right)
                hint = "write \(source(left)) \(test) \(middle) and \(middle) \(second) \(source(third))"
            }
            let written = String(decoding: octets[secondRange], as: UTF8.self)
            throw ExpressionProblem("E401", secondRange, "unexpected \"\(written)\"", hint: hint)
        }
        return switch test {
        case .comparison(let comparison): .compare(comparison, left, right)
        case .membership(let isNegated): .membership(isNegated: isNegated, left, in: right)
        }
    }

    private enum Test: CustomStringConvertible {
        case comparison(Comparison)
        case membership(isNegated: Bool)

        var description: String {
            switch self {
            case .comparison(let comparison): comparison.rawValue
            case .membership(let isNegated): isNegated ? "not in" : "in"
            }
        }
    }

    private mutating func takeTest() throws(ExpressionProblem) -> Test? {
        switch token.kind {
        case .symbol(let symbol):
            guard let comparison = Comparison(rawValue: symbol.rawValue) else { return nil }
            try advance()
            return .comparison(comparison)
        case .keyword(.in):
            try advance()
            return .membership(isNegated: false)
        case .keyword(.not):
            let start = token.range
            try advance()
            guard try take(.in) else { throw ExpressionProblem("E401", start, "unexpected \"not\"") }
            return .membership(isNegated: true)
        default: return nil
        }
    }

    private mutating func alternative() throws(ExpressionProblem) -> Syntax {
        let first = try sum()
        guard token.kind == .symbol(.fallback) else { return first }
        var operands = [first]
        while try take(.fallback) { operands.append(try sum()) }
        return .fallback(operands)
    }

    private mutating func sum() throws(ExpressionProblem) -> Syntax {
        let first = try term()
        var operands: [Syntax.Operand] = []
        while let operation = arithmetic(of: [.add, .subtract]) {
            try advance()
            operands.append(Syntax.Operand(operation: operation, value: try term()))
        }
        let sum = operands.isEmpty ? first : .arithmetic(first, operands)
        guard token.kind == .symbol(.join) else { return sum }
        var parts = [sum]
        while try take(.join) { parts.append(try term()) }
        // What `~` gives is text, and nothing can be added to that.
        if let operation = arithmetic(of: [.add, .subtract]) {
            throw ExpressionProblem(
                "E404", token.range, "cannot use \(operation.rawValue) on text",
                hint: "~ joins text; put brackets around a sum: a ~ (b + c)")
        }
        return .join(parts)
    }

    private mutating func term() throws(ExpressionProblem) -> Syntax {
        let first = try unary()
        var operands: [Syntax.Operand] = []
        while let operation = arithmetic(of: [.multiply, .divide, .floorDivide, .remainder]) {
            try advance()
            operands.append(Syntax.Operand(operation: operation, value: try unary()))
        }
        return operands.isEmpty ? first : .arithmetic(first, operands)
    }

    private func arithmetic(of operations: [Arithmetic]) -> Arithmetic? {
        guard case .symbol(let symbol) = token.kind else { return nil }
        return operations.first { $0.rawValue == symbol.rawValue }
    }

    private mutating func unary() throws(ExpressionProblem) -> Syntax {
        let start = token.range
        guard try take(.minus) else { return try postfix() }
        try enter(at: start)
        defer { depth -= 1 }
        let isNumber =
            switch token.kind {
            case .integer, .number: true
            case .duration, .string, .name, .keyword, .symbol, .end: false
            }
        followsMinus = isNumber
        let operand = try unary()
        let range = start.lowerBound..<previousEnd
        switch operand {
        // Already read with its sign when it is the least.
        case .literal(.integer(let value), _) where isNumber: return .literal(.integer(0 &- value), range)
        case .literal(.number(let value), _) where isNumber: return .literal(.number(-value), range)
        default: return .negate(operand, range)
        }
    }

    // MARK: Atoms

    private mutating func postfix() throws(ExpressionProblem) -> Syntax {
        let deepestBefore = deepest
        deepest = depth
        defer { deepest = max(deepest, deepestBefore) }
        var syntax = try atom()
        var fieldCount = 0
        while true {
            if try take(.dot) {
                fieldCount += 1
                guard fieldCount <= Limits.depth else { throw nestedTooDeep(at: token.range) }
                guard let name = fieldName else { throw unexpected() }
                syntax = .field(of: syntax, name, nameRange: token.range)
                try advance()
            } else if token.kind == .symbol(.pipe) {
                guard deepest < Limits.depth else { throw nestedTooDeep(at: token.range) }
                deepest += 1
                try advance()
                guard case .name(let name) = token.kind else { throw unexpected() }
                let nameRange = token.range
                try advance()
                var arguments = [syntax]
                if token.kind == .symbol(.open) { arguments += try self.arguments(from: token, until: .close) }
                syntax = .call(name, nameRange: nameRange, arguments, syntax.range.lowerBound..<previousEnd)
            } else {
                return syntax
            }
        }
    }

    private mutating func atom() throws(ExpressionProblem) -> Syntax {
        let start = token
        let isNegative = followsMinus
        followsMinus = false
        switch token.kind {
        case .integer(let magnitude):
            try advance()
            if let value = Int64(exactly: magnitude) { return .literal(.integer(value), start.range) }
            let standsAlone = token.kind != .symbol(.pipe) && token.kind != .symbol(.dot)
            guard isNegative, standsAlone else {
                throw ExpressionProblem("E401", start.range, "this number is too large")
            }
            return .literal(.integer(.min), start.range)
        case .number(let value): return try literal(.number(value))
        case .duration(let milliseconds): return try literal(.duration(milliseconds: milliseconds))
        case .string(let text): return try literal(.string(text))
        case .keyword(.true): return try literal(.boolean(true))
        case .keyword(.false): return try literal(.boolean(false))
        case .keyword(.null): return try literal(.unknown)
        case .name(let name):
            try advance()
            guard token.kind == .symbol(.open) else { return .name(name, start.range) }
            let arguments = try arguments(from: token, until: .close)
            return .call(name, nameRange: start.range, arguments, start.range.lowerBound..<previousEnd)
        case .symbol(.openList):
            let entries = try arguments(from: start, until: .closeList)
            return .list(entries, start.range.lowerBound..<previousEnd)
        case .symbol(.open):
            try enter(at: start.range)
            try advance()
            let inner = try expression()
            try close(.close, openedAt: start)
            depth -= 1
            return .bracketed(inner, start.range.lowerBound..<previousEnd)
        case .symbol, .keyword, .end:
            throw unexpected()
        }
    }

    private mutating func literal(_ value: Value) throws(ExpressionProblem) -> Syntax {
        let range = token.range
        try advance()
        return .literal(value, range)
    }

    private var fieldName: String? {
        switch token.kind {
        case .name(let name): name
        case .keyword(let keyword): keyword.rawValue
        case .integer, .number, .duration, .string, .symbol, .end: nil
        }
    }

    /// From the opening bracket, which is the current token, to after the closing one.
    private mutating func arguments(
        from opening: Token, until closing: Token.Symbol
    ) throws(ExpressionProblem) -> [Syntax] {
        try enter(at: opening.range)
        try advance()
        var arguments: [Syntax] = []
        if token.kind != .symbol(closing) {
            repeat {
                guard arguments.count < Limits.listCount else {
                    let what =
                        closing == .closeList
                        ? "a list has at most \(Limits.listCount) entries"
                        : "a call has at most \(Limits.listCount) arguments"
                    throw ExpressionProblem("E406", token.range, what)
                }
                arguments.append(try expression())
            } while try take(.comma)
        }
        try close(closing, openedAt: opening)
        depth -= 1
        return arguments
    }

    private mutating func close(_ closing: Token.Symbol, openedAt opening: Token) throws(ExpressionProblem) {
        if try take(closing) { return }
        guard token.kind == .end else { throw unexpected() }
        let bracket = String(decoding: octets[opening.range], as: UTF8.self)
        throw ExpressionProblem(
            "E401", opening.range, "this \(bracket) is not closed; a \(closing.rawValue) is missing")
    }

    // MARK: Problems

    private func nestedTooDeep(at range: Range<Int>) -> ExpressionProblem {
        ExpressionProblem("E406", range, "expression is nested more than \(Limits.depth) levels deep")
    }

    private var isClosing: Bool {
        token.kind == .symbol(.close) || token.kind == .symbol(.closeList) || token.kind == .symbol(.comma)
    }

    private func unexpected() -> ExpressionProblem {
        switch token.kind {
        case .end:
            let before = previousEnd > 0 ? previousEnd..<previousEnd : token.range
            return ExpressionProblem("E401", before, "the expression ends where a value is expected")
        case .name(let name):
            return ExpressionProblem(
                "E401", token.range, "unexpected \"\(name)\"", hint: ForeignWords.hint(forOperator: name))
        case .integer, .number, .duration, .string, .keyword, .symbol:
            return ExpressionProblem("E401", token.range, "unexpected \(quoted(token))")
        }
    }

    private func quoted(_ token: Token) -> String {
        let written = Excerpt.of(octets, token.range)
        if case .string = token.kind { return written }
        return "\"\(written)\""
    }

    private func source(_ syntax: Syntax) -> String { Excerpt.of(octets, syntax.range) }
}
