import Diagnostics
import Expressions
import Rules
import YAMLFiles

/// Compiles the expressions and templates of a file, and reports their problems at their positions in the file.
extension RuleSetReader {
    /// Reads text that may hold expressions. A text with a tag, or without braces, is literal.
    mutating func template(
        _ node: YAMLNode, key: String, in scope: Scope, expecting wanted: RequiredType = .text,
        inserting insertion: Insertion = .plain
    ) -> Template? {
        guard let text = checker.text(node, key: key, .areText)?.string else { return nil }
        guard node.holdsTemplate else { return Template(literal: text) }
        do {
            guard hasCommonNames(scope) else {
                return try Template(compiling: text, in: reading(scope), expecting: wanted, inserting: insertion)
            }
            return try compiled.template(text, in: reading(scope), expecting: wanted, inserting: insertion)
        } catch {
            report(error, in: node)
            return nil
        }
    }

    mutating func expression(
        _ node: YAMLNode, key: String, in scope: Scope, expecting wanted: RequiredType
    ) -> Expression? {
        guard case .scalar(let text, _) = node.content else {
            if node.isInvalid { return nil }
            checker.error(
                "E203", at: node, "\"\(key)\" must be an expression, not \(checker.kind(of: node))",
                hint: "an expression that begins with [ must be in quotes")
            return nil
        }
        if let tag = node.tag {
            checker.error("E203", at: node, "\"\(key)\" must be an expression; \(tag.rawValue) gives text")
            return nil
        }
        do {
            guard hasCommonNames(scope) else {
                return try Expression(compiling: text, in: reading(scope), expecting: wanted)
            }
            return try compiled.expression(text, in: reading(scope), expecting: wanted)
        } catch {
            report(error, in: node)
            return nil
        }
    }

    /// True if a text means the same here as in all other rules: everything is declared, and the place adds no results, inputs or
    /// other names.
    private func hasCommonNames(_ scope: Scope) -> Bool { isEverythingDeclared && scope.hasNames(of: self.scope) }

    /// The scope with which expressions are compiled. After many messages it does not suggest names, because a search
    /// takes time.
    private func reading(_ scope: Scope) -> Scope {
        guard !checker.reportsExactly else { return scope }
        var scope = scope
        scope.suggestsNames = false
        return scope
    }

    mutating func report(_ problems: ExpressionProblems, in node: YAMLNode) {
        for problem in problems.list {
            var (start, end) = (node.start, node.end)
            if checker.reportsExactly {
                (start, end) = checker.source.positions(of: problem.range, in: node)
            }
            checker.error(
                problem.code, from: start, to: end, alias: node.alias, problem.message,
                hint: problem.hint.map { checker.hint($0, about: problem.range, in: node) })
        }
    }
}
