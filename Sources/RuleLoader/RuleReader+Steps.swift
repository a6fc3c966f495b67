import Expressions
import Rules

/// Where steps stand, and what they may name there.
struct StepContext {
    enum Owner {
        case rule(String)
        case script(String)
    }

    var owner: Owner
    /// With the results saved so far, the inputs of a script, `error` inside `on_error`, `repeat` inside one.
    var scope: Scope
    /// Before the steps' own part: `actions`, `all_off.actions`, `actions[2].choose[0].then`.
    var path: String
    /// The slot the next `save_as` takes.
    var resultCount = 0
    /// Every trigger of the rule is `hold` or `down`, so that `repeat: while: held` may stand here. `nil` in a script: it
    /// depends on who calls it.
    var isHeld: Bool?
}

// The interface between who reads rules and who reads their steps; to be written.
extension RuleReader {
    /// One step or a list of them, at least one (E213). What is wrong is reported and left out.
    mutating func steps(_ node: YAMLNode, key: String, _ context: inout StepContext) -> [Step] { [] }

    /// One condition or a list.
    mutating func conditions(_ node: YAMLNode, key: String, in scope: Scope) -> [Condition] { [] }

    /// `scripts:` of all documents, after every name is known: fills `set.scripts`, whose names, inputs and places are
    /// there already.
    mutating func readScriptSteps(_ nodes: [(script: Int, document: Int, node: YAMLNode)]) {}

    /// `tests:` of one document; the names in them are checked against the set (E601).
    mutating func readTests(_ node: YAMLNode) {}
}
