/// Parses an expression into a `Syntax` tree.
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
/// `a | f(b)` is `f(a, b)`. Operators are parsed with an explicit stack. Only brackets and arguments recurse, at most
/// `Limits.depth` deep, because rules are loaded on a thread with a small stack.
struct Parser {
    let octets: [UInt8]
    private var lexer: Lexer
    var token: Token
    /// The end of the token before `token`.
    var previousEnd = 0
    var depth = 0
    /// The greatest depth within the current atom; each `|` after the atom nests it one level deeper.
    var deepest = 0
    /// True if the token before is a minus sign, after which the magnitude of `Int64.min` is allowed.
    var followsMinus = false

    /// - Parameters:
    ///   - octets: the text that contains the expression, as UTF-8.
    ///   - range: the expression's position in the text.
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

    mutating func advance() throws(ExpressionProblem) {
        previousEnd = token.range.upperBound
        token = try lexer.next()
    }

    mutating func take(_ symbol: Token.Symbol) throws(ExpressionProblem) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    /// Enters a nesting level; a problem is reported at `range` if it exceeds the limit.
    mutating func enter(at range: Range<Int>) throws(ExpressionProblem) {
        guard depth < Limits.depth else { throw nestedTooDeep(at: range) }
        depth += 1
        deepest = max(deepest, depth)
    }

    // MARK: Operators

    /// Parses operands and operators alternately, and completes each pending operator when an operator that binds less
    /// tightly follows.
    mutating func expression() throws(ExpressionProblem) -> Syntax {
        var pending: [PendingOperator] = []
        while true {
            try takePrefixes(&pending)
            var operand = try postfix()
            let start = token.range
            if token.kind == .keyword(.else) {
                try complete(&pending, &operand, above: .conditional)
                guard pending.last?.kind == .condition else { return try completeAll(&pending, operand) }
                try advance()
                pending[pending.count - 1].operands.append(operand)
                pending[pending.count - 1].kind = .conditional
            } else if let kind = try takeInfix() {
                try complete(&pending, &operand, above: kind.precedence)
                try push(kind, from: start, operand, onto: &pending)
            } else {
                return try completeAll(&pending, operand)
            }
        }
    }

    /// Parses any number of `not` and `-`.
    private mutating func takePrefixes(_ pending: inout [PendingOperator]) throws(ExpressionProblem) {
        while true {
            let start = token.range
            if token.kind == .keyword(.not) {
                guard pending.last.map({ $0.kind.precedence <= .not }) ?? true else { throw unexpected() }
                try enter(at: start)
                try advance()
                pending.append(PendingOperator(kind: .not, range: start))
            } else if token.kind == .symbol(.minus) {
                try enter(at: start)
                try advance()
                let isNumber =
                    switch token.kind {
                    case .integer, .number: true
                    case .duration, .string, .name, .keyword, .symbol, .end: false
                    }
                followsMinus = isNumber
                pending.append(PendingOperator(kind: .negate(isNumber: isNumber), range: start))
            } else {
                return
            }
        }
    }

    private mutating func takeInfix() throws(ExpressionProblem) -> PendingOperator.Kind? {
        let start = token.range
        let kind: PendingOperator.Kind
        switch token.kind {
        case .keyword(.if): kind = .condition
        case .keyword(.or): kind = .or
        case .keyword(.and): kind = .and
        case .keyword(.in): kind = .test(.membership(isNegated: false))
        case .keyword(.not):
            try advance()
            guard token.kind == .keyword(.in) else { throw ExpressionProblem("E401", start, "unexpected \"not\"") }
            kind = .test(.membership(isNegated: true))
        case .symbol(.fallback): kind = .fallback
        case .symbol(.join): kind = .join
        case .symbol(let symbol):
            if let comparison = Comparison(rawValue: symbol.rawValue) {
                kind = .test(.comparison(comparison))
            } else if let operation = Arithmetic(rawValue: symbol.rawValue) {
                kind = operation == .add || operation == .subtract ? .sum(operation) : .product(operation)
            } else {
                return nil
            }
        case .integer, .number, .duration, .string, .name, .keyword, .end: return nil
        }
        try advance()
        return kind
    }

    /// Pushes an operator with its left operand, or extends the operator on top of the stack if both are of the same
    /// kind.
    private func push(
        _ kind: PendingOperator.Kind, from range: Range<Int>, _ operand: Syntax, onto pending: inout [PendingOperator]
    ) throws(ExpressionProblem) {
        var operand = operand
        // The operands are appended in place in the array, because a local copy of the operator would cause all
        // operands to be copied.
        let top = pending.count - 1
        if top >= 0, pending[top].kind.precedence == kind.precedence {
            switch (pending[top].kind, kind) {
            case (.test(let first), .test(let second)):
                let (left, middle) = (pending[top].operands.map(source).joined(), source(operand))
                pending[top].kind = .chain(
                    hint: "write \(left) \(first) \(middle) and \(middle) \(second)",
                    change: "and \(String(decoding: octets[operand.range], as: UTF8.self)) \(second)")
                pending[top].range = range
                return
            case (.chain, _): operand = try completed(pending.removeLast(), operand)
            case (.condition, _): throw withoutElse(pending[top])
            case (.sum, .join): operand = try completed(pending.removeLast(), operand)
            // The result of `~` is text, to which nothing can be added.
            case (.join, .sum(let operation)):
                throw ExpressionProblem(
                    "E404", range, "cannot use \(operation.rawValue) on text",
                    hint: "~ joins text; put brackets around a sum: a ~ (b + c)")
            case (.conditional, _), (.or, _), (.and, _), (.not, _), (.test, _), (.fallback, _), (.sum, _), (.join, _),
                (.product, _), (.negate, _):
                pending[top].append(operand, kind)
                pending[top].range = range
                return
            }
        }
        var new = PendingOperator(kind: kind, range: range)
        new.append(operand, kind)
        pending.append(new)
    }

    private mutating func complete(
        _ pending: inout [PendingOperator], _ operand: inout Syntax, above precedence: PendingOperator.Precedence
    ) throws(ExpressionProblem) {
        while let last = pending.last, last.kind.precedence > precedence {
            pending.removeLast()
            if last.kind.nests { depth -= 1 }
            operand = try completed(last, operand)
        }
    }

    private mutating func completeAll(
        _ pending: inout [PendingOperator], _ operand: Syntax
    ) throws(ExpressionProblem) -> Syntax {
        var operand = operand
        try complete(&pending, &operand, above: .conditional)
        guard let last = pending.popLast() else { return operand }
        return try completed(last, operand)
    }

    /// The syntax of an operator whose right operand is complete.
    private func completed(_ last: PendingOperator, _ operand: Syntax) throws(ExpressionProblem) -> Syntax {
        switch last.kind {
        case .condition: throw isAtEnd ? withoutElse(last) : unexpected()
        case .chain(let hint, let change):
            let written = Quotation.of(octets, last.range)
            throw ExpressionProblem(
                "E401", last.range, "unexpected \"\(written)\"",
                hint: Hint("\(hint) \(source(operand))", replacing: change))
        case .conditional, .or, .and, .not, .test, .fallback, .sum, .join, .product, .negate:
            return last.syntax(with: operand)
        }
    }

    private func withoutElse(_ last: PendingOperator) -> ExpressionProblem {
        ExpressionProblem("E401", last.range, "this if has no else", hint: "write a if b else c")
    }

    private var isAtEnd: Bool {
        switch token.kind {
        case .end, .symbol(.close), .symbol(.closeList), .symbol(.comma): true
        case .integer, .number, .duration, .string, .name, .keyword, .symbol: false
        }
    }

    // MARK: Problems

    func nestedTooDeep(at range: Range<Int>) -> ExpressionProblem {
        ExpressionProblem("E406", range, "expression is nested more than \(Limits.depth) levels deep")
    }

    func unexpected() -> ExpressionProblem {
        switch token.kind {
        case .end:
            let before = previousEnd > 0 ? previousEnd..<previousEnd : token.range
            return ExpressionProblem("E401", before, "the expression ends where a value is expected")
        case .name(let name):
            return ExpressionProblem(
                "E401", token.range, "unexpected \"\(name)\"", hint: ForeignNames.hint(forOperator: name))
        case .integer, .number, .duration, .string, .keyword, .symbol:
            return ExpressionProblem("E401", token.range, "unexpected \(quoted(token))")
        }
    }

    private func quoted(_ token: Token) -> String {
        let written = Quotation.of(octets, token.range)
        if case .string = token.kind { return written }
        return "\"\(written)\""
    }

    private func source(_ syntax: Syntax) -> String { Quotation.of(octets, syntax.range) }
}
