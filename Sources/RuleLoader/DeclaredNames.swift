import Diagnostics
import Expressions

/// The names of one kind that a rule set declares, each with its position. Names with a faulty declaration are included, so that
/// the fault is reported once, and not again at each use of the name.
struct DeclaredNames {
    /// The noun for this kind in messages, such as `button`.
    let noun: String
    private(set) var declarations: [String: Declaration] = [:]
    /// The first declaration of this kind, for notes.
    private(set) var first: Declaration?
    /// False if some declarations could not be read. An unknown name may then be one of theirs.
    var isComplete = true

    struct Declaration {
        var noun: String
        var file: String
        var position: SourcePosition

        /// The position as messages show it: `rules/home.yaml:4:3`.
        var text: String { "\(file):\(position.line):\(position.column)" }
    }

    init(_ noun: String) { self.noun = noun }

    /// Declares a name. If the name is declared already, returns the earlier declaration, which stays.
    mutating func declare(_ name: String, as noun: String? = nil, in file: String, at position: SourcePosition)
        -> Declaration?
    {
        if let before = declarations[name] { return before }
        let declaration = Declaration(noun: noun ?? self.noun, file: file, position: position)
        declarations[name] = declaration
        if first == nil, declaration.noun == self.noun { first = declaration }
        return nil
    }

    /// True if a name is certainly not declared, so that its use is an error.
    func isUnknown(_ name: String) -> Bool { isComplete && declarations[name] == nil }
}
