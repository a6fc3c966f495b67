extension Compiler {
    mutating func report(_ code: String, _ syntax: Syntax, _ message: String, hint: Hint? = nil) {
        problems.append(ExpressionProblem(code, syntax.range, message, hint: hint))
    }

    mutating func report(_ code: String, at range: Range<Int>, _ message: String, hint: Hint? = nil) {
        problems.append(ExpressionProblem(code, range, message, hint: hint))
    }

    func source(_ syntax: Syntax) -> String { Quotation.of(octets, syntax.range) }

    /// The change of a part of the expression into a text that contains this part. The change has the whole part, which
    /// messages may show shortened.
    func change(of syntax: Syntax, into text: (String) -> String) -> Hint.Change {
        Hint.Change(syntax.range, text(String(decoding: octets[syntax.range], as: UTF8.self)))
    }

    /// `write …`, for a text that contains a part of the expression.
    ///
    /// - Parameter alternative: what the user can do instead: ` or give it a default`.
    func rewritten(_ syntax: Syntax, or alternative: String = "", into text: (String) -> String) -> Hint {
        Hint("write \(text(source(syntax)))\(alternative)", [change(of: syntax, into: text)])
    }

    /// `write string(x)`, for an expression and a function that converts its value.
    func wrapped(_ checked: Checked, in function: Function) -> Hint {
        rewritten(checked.syntax) { "\(function.rawValue)(\($0))" }
    }

    /// Checks that a value cannot be unknown, and reports a problem if its type is optional.
    mutating func isKnown(_ checked: Checked) -> Bool {
        guard checked.type.isOptional else { return true }
        let written = source(checked.syntax)
        if checked.type.kind == .null {
            report("E404", checked.syntax, "null can only be compared with == and !=", hint: "write known(x)")
            return false
        }
        let fallback = checked.type.scalar?.exampleOfFallback ?? "[]"
        let orDefault = declaration(of: checked.syntax, in: .states) != nil ? " or give it a default" : ""
        report(
            "E405", checked.syntax, "\(written) may be unknown",
            hint: rewritten(checked.syntax, or: orDefault) { "(\($0) ?? \(fallback))" })
        return false
    }

    /// The declaration that an expression refers to, if the expression is only a name below `root`: a state, a variable
    /// or an input. The names `old` and `new` refer to a state.
    func declaration(of syntax: Syntax, in root: Root) -> (name: String, declared: Scope.Declared)? {
        if root == .states, case .name(let word, _) = syntax.withoutBrackets, ChangeValue(rawValue: word) != nil,
            let name = scope.changedState
        {
            return scope.states[name].map { (name, $0) }
        }
        guard case .field(.name(root.rawValue, _), let name, _) = syntax.withoutBrackets else { return nil }
        let declared =
            switch root {
            case .states: scope.states[name]
            case .variables: scope.variables[name]
            case .inputs: scope.inputs[name]
            case .trigger, .buttons, .rules, .results, .error, .now, .sun, .broker, .repeat: nil as Scope.Declared?
            }
        return declared.map { (name, $0) }
    }

    /// Suggests how to change a declaration so that a value that is text now gets the required type.
    ///
    /// - Parameter type: the required type.
    func remedy(for checked: Checked, toBe type: ExpressionType.Scalar) -> Hint? {
        guard checked.type.scalar == .string else { return nil }
        for root in [Root.states, .variables, .inputs] {
            guard let (name, declared) = declaration(of: checked.syntax, in: root), let remedy = declared.remedy else {
                continue
            }
            let location = declared.location.map { " (\($0))" } ?? ""
            switch remedy {
            case .giveType: return "give \(name)\(location) type: \(type.rawValue)"
            case .removeQuotes: return "remove the quotes from \(name)\(location)"
            }
        }
        return nil
    }
}
