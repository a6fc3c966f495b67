// Examples in hints. They use names that the file declares, so that they can be copied.
extension Scope {
    /// A complete example of a value under a root: with the wanted name if it is declared, or else with the first that is
    /// declared. `NAME` stands for a name if none is.
    package func example(of root: Root, naming wanted: String? = nil) -> String {
        guard !root.exampleField.isEmpty || root.shape == .declared else { return root.example }
        guard let name = name(of: root, wanted: wanted) else { return root.example }
        if root == .results, case .awaited = results[name] { return "results.\(name).happened" }
        return "\(root.rawValue).\(name)\(root.exampleField)"
    }

    /// A condition that reads a state, as `example(of:naming:)` chooses it.
    ///
    /// - Parameters:
    ///   - isNumeric: true if a state that is a number is to be chosen.
    ///   - text: the text with which to compare a state that is a text.
    package func exampleOfCondition(
        naming wanted: String? = nil, isNumeric: Bool = false, comparedWith text: String = "ON"
    ) -> String {
        let name = name(of: .states, wanted: wanted) { !isNumeric || states[$0]?.type.isNumeric ?? false }
        guard let name, let type = states[name]?.type else {
            return isNumeric ? "states.NAME < 20" : "states.NAME == '\(text)'"
        }
        if type.isNumeric { return "states.\(name) < 20" }
        return type.scalar == .boolean ? "states.\(name)" : "states.\(name) == '\(text)'"
    }

    /// The wanted name of a root if it is declared and fits, or else the first that does.
    private func name(
        of root: Root, wanted: String?, where fits: (String) -> Bool = { _ in true }
    ) -> String? {
        let declared = names(of: root)
        if let wanted, declared.contains(wanted), fits(wanted) { return wanted }
        return declared.filter(fits).min { place(of: $0, in: root) < place(of: $1, in: root) }
    }

    /// The place of a declaration among those of its root; 0 for results, whose order does not matter here.
    private func place(of name: String, in root: Root) -> Int {
        let place: Int? =
            switch root {
            case .states: states[name]?.slot
            case .variables: variables[name]?.slot
            case .inputs: inputs[name]?.slot
            case .buttons: buttons[name]
            case .rules: rules[name]
            case .results, .trigger, .error, .now, .sun, .broker, .repeat: nil
            }
        return place ?? 0
    }
}

extension Root {
    /// The field after a declared name in an example, with its dot; empty for a root without names or without fields.
    fileprivate var exampleField: String {
        switch self {
        case .buttons: ".held"
        case .rules: ".enabled"
        case .results: ".stdout"
        case .trigger, .states, .variables, .inputs, .error, .now, .sun, .broker, .repeat: ""
        }
    }
}

extension Hint {
    /// A sentence that ends with an example, which is a change unless it contains `NAME` for a name that is not declared.
    package static func example(_ start: String, _ example: String, at place: Range<Int>? = nil) -> Hint {
        Hint(start + example, example.contains("NAME") ? [] : [Change(place, example)])
    }
}
