import Diagnostics
import Expressions

/// The names of one kind that a set declares, and where: those, too, whose declaration is wrong.
struct DeclaredNames {
    /// What one of them is called in messages: `button`.
    let noun: String
    private(set) var places: [String: Place] = [:]
    /// The first of all, for notes.
    private(set) var first: Place?
    /// Whether all declarations could be read. If not, a name that is not here may be among the others.
    var isComplete = true

    struct Place {
        var noun: String
        var file: String
        var position: SourcePosition

        /// `rules/home.yaml:4:3`
        var text: String { "\(file):\(position.line):\(position.column)" }
    }

    init(_ noun: String) { self.noun = noun }

    /// - Returns: where the name was declared before; then it stays that one's.
    mutating func declare(_ name: String, as noun: String? = nil, in file: String, at position: SourcePosition)
        -> Place?
    {
        if let before = places[name] { return before }
        let place = Place(noun: noun ?? self.noun, file: file, position: position)
        places[name] = place
        if first == nil, place.noun == self.noun { first = place }
        return nil
    }

    /// Whether the use of a name that cannot be found is worth a message.
    func isUnknown(_ name: String) -> Bool { isComplete && places[name] == nil }
}
