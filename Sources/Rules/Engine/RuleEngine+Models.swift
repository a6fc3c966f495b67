import ButtonModel

extension RuleEngine {
    /// Reports rules that do not fit the actual model of a button. The loader checks rules only against the declared
    /// model, and cannot check triggers that describe the hardware themselves.
    mutating func reportModels(_ effects: inout [Effect]) {
        let before = contradictions
        contradictions = [:]
        for entry in index.entries {
            guard let sentence = contradiction(of: entry) else { continue }
            contradictions[entry.identity.id] = sentence
            if before[entry.identity.id] == nil { effects.append(.log(.warning, sentence)) }
        }
    }

    /// Reports rules that do not fit the models of new buttons.
    mutating func reportModels(of new: [ButtonIdentity], _ effects: inout [Effect]) {
        for identity in new {
            guard let sentence = index[identity.id].flatMap({ contradiction(of: $0) }) else { continue }
            contradictions[identity.id] = sentence
            effects.append(.log(.warning, sentence))
        }
    }

    private func contradiction(of entry: RuleIndex.Entry) -> String? {
        guard let declaration = entry.declared.first, set.buttons.indices.contains(declaration) else {
            return entry.impossible.map { impossible in
                "rule \"\(set.rules[impossible.rule].id)\" waits for \(impossible.name) of \(entry.identity.serial), "
                    + "which a \(entry.identity.model.rawValue) does not have; remove it from the rule, or use another button"
            }
        }
        let button = set.buttons[declaration]
        let model = entry.identity.model
        guard model.isPairable, model != button.model else { return nil }
        return "\"\(button.name)\" is a \(model.rawValue), but the rules declare it as a \(button.model.rawValue); "
            + "write model: \(model.rawValue) at \(button.location)"
    }

    /// The contradictions between rules and models of buttons: a sentence for each button, which says what to change.
    package var modelContradictions: [String] { contradictions.sorted { $0.key < $1.key }.map(\.value) }

    /// The declared buttons that rules use, and that do not exist, in the order of the declarations.
    package var missingButtons: [DeclaredButton] {
        let missing = set.buttons.indices.filter { index.buttonByDeclaration[$0] == nil }
        guard !missing.isEmpty else { return [] }
        return missing.filter { index.isUsed($0) }.map { set.buttons[$0] }
    }
}

extension RuleIndex.Entry {
    /// The first rule that waits for an event or a part that the button's model does not have.
    fileprivate var impossible: (rule: Int, name: String)? {
        let (movements, parts) = (Set(identity.model.movementNames), identity.model.parts)
        let all = triggers.table.flatMap { key, matches -> [(rule: Int, name: String)] in
            if let movement = key.movement, !movements.contains(movement) { return matches.map { ($0.rule, movement) } }
            return matches.compactMap { match in
                guard let part = match.parts.map(\.rawValue).min(), parts.isDisjoint(with: match.parts) else {
                    return nil
                }
                return (match.rule, "part \(part)")
            }
        }
        return all.min { ($0.rule, $0.name) < ($1.rule, $1.name) }
    }
}

extension EventKey {
    /// The name of a swipe or a rotation; `nil` for other events.
    fileprivate var movement: String? {
        switch self {
        case .swipe(let direction): direction.rawValue
        case .rotate(isClockwise: true, _): RotationDirection.clockwise.rawValue
        case .rotate(isClockwise: false, _): RotationDirection.counterClockwise.rawValue
        case .down, .up, .holdRelease, .pattern, .hold, .standardHold, .chord, .connected, .disconnected, .batteryLow:
            nil
        }
    }
}
