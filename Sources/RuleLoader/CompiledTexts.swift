import Expressions

/// The expressions and templates of a rule set that are already compiled, by their text.
///
/// Rules repeat each other's texts: `{{ trigger.button }}` and `not variables.guest` appear in each second rule of a large set.
/// A repeated text is compiled once, and its rules share the result. Faulty texts are not kept, because each use is reported at
/// its own position.
struct CompiledTexts {
    private struct Key<Context: Hashable>: Hashable {
        /// UTF-8, because equal strings can differ in their scalars, and the language compares by scalars.
        var text: [UInt8]
        var wanted: RequiredType
        var context: Context
    }

    private struct NoContext: Hashable {}

    /// The number of texts of each kind that are kept. Sets with more hardly repeat them.
    private static let maximumCount = 4096

    private var expressions: [Key<NoContext>: Expression] = [:]
    private var templates: [Key<Insertion>: Template] = [:]

    mutating func expression(
        _ text: String, in scope: Scope, expecting wanted: RequiredType
    ) throws(ExpressionProblems) -> Expression {
        let key = Key(text: Array(text.utf8), wanted: wanted, context: NoContext())
        if let compiled = expressions[key] { return compiled }
        let compiled = try Expression(compiling: text, in: scope, expecting: wanted)
        if expressions.count < Self.maximumCount { expressions[key] = compiled }
        return compiled
    }

    mutating func template(
        _ text: String, in scope: Scope, expecting wanted: RequiredType, inserting insertion: Insertion
    ) throws(ExpressionProblems) -> Template {
        let key = Key(text: Array(text.utf8), wanted: wanted, context: insertion)
        if let compiled = templates[key] { return compiled }
        let compiled = try Template(compiling: text, in: scope, expecting: wanted, inserting: insertion)
        if templates.count < Self.maximumCount { templates[key] = compiled }
        return compiled
    }
}
