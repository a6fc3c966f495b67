import Diagnostics
import Expressions

/// The names of one kind that a rule set declares, each with its position. A name whose declaration is faulty is
/// included, so that its uses are not reported, too.
struct DeclaredNames {
    /// What messages call a declaration of this kind: `button`.
    let noun: String
    private(set) var places: [String: Place] = [:]
    /// The first declaration of this kind, for notes.
    private(set) var first: Place?
    /// Whether all declarations could be read. If not, an unknown name may be declared in what is missing.
    var isComplete = true

    struct Place {
        var noun: String
        var file: String
        var position: SourcePosition

        /// The position as messages show it: `rules/home.yaml:4:3`.
        var text: String { "\(file):\(position.line):\(position.column)" }
    }

    init(_ noun: String) { self.noun = noun }

    /// Declares a name, unless it is declared already.
    ///
    /// - Returns: the earlier declaration, which stays.
    mutating func declare(_ name: String, as noun: String? = nil, in file: String, at position: SourcePosition)
        -> Place?
    {
        if let before = places[name] { return before }
        let place = Place(noun: noun ?? self.noun, file: file, position: position)
        places[name] = place
        if first == nil, place.noun == self.noun { first = place }
        return nil
    }

    /// Whether a name is certainly not declared, so that its use is to be reported.
    func isUnknown(_ name: String) -> Bool { isComplete && places[name] == nil }
}
