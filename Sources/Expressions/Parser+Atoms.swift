extension Parser {
    /// Parses an atom and the fields and pipes that follow it.
    mutating func postfix() throws(ExpressionProblem) -> Syntax {
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

    /// Parses arguments, from the opening bracket, which is the current token, to the closing bracket.
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
}
