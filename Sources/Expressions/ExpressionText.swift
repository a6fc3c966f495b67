/// A word of an expression and the octets of the text that it takes: for definitions, renaming and hovering in an editor.
package struct ExpressionWord: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The first component of a name, such as `states` in `states.lux`.
        case root(Root)
        /// The declared name after a root, such as `lux` in `states.lux`.
        case declared(String, of: Root)
        /// A field of a root, or of a declared name of the root.
        case field(FieldDescription, of: Root)
        case function(Function)
    }

    package var kind: Kind
    package var range: Range<Int>
}

/// Finds words in the texts of expressions and templates that may not be complete.
package enum ExpressionText {
    /// The words of an expression up to the first text that is not a token.
    package static func words(inExpression text: String) -> [ExpressionWord] {
        let octets = Array(text.utf8)
        return words(octets, in: octets.indices)
    }

    /// The words of all expressions in a template; empty if the braces do not match.
    package static func words(inTemplate text: String) -> [ExpressionWord] {
        let octets = Array(text.utf8)
        do throws(ExpressionProblem) {
            var words: [ExpressionWord] = []
            for case .expression(let range, _) in try TemplateScanner.pieces(of: octets) {
                words += self.words(octets, in: range)
            }
            return words
        } catch {
            return []
        }
    }

    /// The expression of a template that is not closed at the end of the text; `nil` if the text ends outside of braces.
    package static func openExpression(inTemplate text: String) -> String? {
        var rest = text[...]
        while let open = rest.firstIndex(ofPair: UInt8(ascii: "{")) {
            let inside = rest[rest.utf8.index(open, offsetBy: 2)...]
            guard let close = inside.firstIndex(ofPair: UInt8(ascii: "}")) else { return String(inside) }
            rest = inside[inside.utf8.index(close, offsetBy: 2)...]
        }
        return nil
    }

    /// The names, separated by dots, with which an expression ends: `["states", "lu"]` for `1 + states.lu`. The last one is
    /// empty after a dot or an operator. Returns `nil` inside a text literal.
    package static func unfinishedPath(of expression: String) -> [String]? {
        var quote: UInt8?
        var isEscaped = false
        var path: [UInt8] = []
        for octet in expression.utf8 {
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if octet == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if octet == open {
                    quote = nil
                }
                path = []
            } else if octet == UInt8(ascii: "'") || octet == UInt8(ascii: "\"") {
                quote = octet
            } else if octet.isNameStart || octet.isDigit || octet == UInt8(ascii: ".") {
                path.append(octet)
            } else {
                path = []
            }
        }
        guard quote == nil else { return nil }
        return path.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// True if the text is an expression that compares `old` or `new` with something: `new > 100`. The types may not fit.
    package static func comparesChange(_ text: String) -> Bool {
        let octets = Array(text.utf8)
        guard (try? Parser.parse(octets, in: octets.indices)) != nil else { return false }
        let kinds = tokens(octets, in: octets.indices).map(\.kind)
        return zip(kinds, kinds.dropFirst()).contains {
            isChange($0) && isComparison($1) || isComparison($0) && isChange($1)
        }
    }

    private static func isChange(_ kind: Token.Kind) -> Bool {
        if case .name(let name) = kind { ChangeValue(rawValue: name) != nil } else { false }
    }

    private static func isComparison(_ kind: Token.Kind) -> Bool {
        if case .symbol(let symbol) = kind { Comparison(rawValue: symbol.rawValue) != nil } else { false }
    }

    package static let keywords = Token.Keyword.allCases.map(\.rawValue)

    private static func words(_ octets: [UInt8], in range: Range<Int>) -> [ExpressionWord] {
        let tokens = tokens(octets, in: range)
        var words: [ExpressionWord] = []
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            defer { index += 1 }
            guard case .name(let name) = token.kind else { continue }
            let before = index > 0 ? tokens[index - 1].kind : nil
            guard before != .symbol(.dot) else { continue }
            let isCalled = index + 1 < tokens.count && tokens[index + 1].kind == .symbol(.open)
            if isCalled || before == .symbol(.pipe) {
                if let function = Function(rawValue: name) {
                    words.append(ExpressionWord(kind: .function(function), range: token.range))
                }
            } else if let root = Root(rawValue: name) {
                words.append(ExpressionWord(kind: .root(root), range: token.range))
                words += components(of: root, tokens[(index + 1)...])
            }
        }
        return words
    }

    /// The words after a root, each behind a dot.
    private static func components(of root: Root, _ tokens: ArraySlice<Token>) -> [ExpressionWord] {
        var names: [(name: String, range: Range<Int>)] = []
        var rest = tokens
        while names.count < 2, rest.first?.kind == .symbol(.dot), let token = rest.dropFirst().first,
            case .name(let name) = token.kind
        {
            names.append((name, token.range))
            rest = rest.dropFirst(2)
        }
        var words: [ExpressionWord] = []
        var fields: [FieldDescription] = []
        switch root.shape {
        case .declared, .declaredWithFields:
            guard let first = names.first else { return [] }
            words.append(ExpressionWord(kind: .declared(first.name, of: root), range: first.range))
            names.removeFirst()
            if case .declaredWithFields(let own) = root.shape { fields = own }
        case .fields(let own): fields = own
        }
        if let name = names.first, let field = fields.first(where: { $0.name == name.name }) {
            words.append(ExpressionWord(kind: .field(field, of: root), range: name.range))
        }
        return words
    }

    private static func tokens(_ octets: [UInt8], in range: Range<Int>) -> [Token] {
        var lexer = Lexer(octets, in: range)
        var tokens: [Token] = []
        do throws(ExpressionProblem) {
            while true {
                let token = try lexer.next()
                guard token.kind != .end else { return tokens }
                tokens.append(token)
            }
        } catch {
            return tokens
        }
    }
}

extension Substring {
    /// The index of the first two neighbouring octets that both have a value.
    fileprivate func firstIndex(ofPair octet: UInt8) -> Index? {
        var previous: Index?
        for index in utf8.indices {
            if let before = previous, utf8[before] == octet, utf8[index] == octet { return before }
            previous = index
        }
        return nil
    }
}
