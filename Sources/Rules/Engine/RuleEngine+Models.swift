import ButtonModel

extension RuleEngine {
    /// Rules are checked against the model they declare, and those that describe a button themselves against none; which it
    /// is shows with the button.
    mutating func reportModels(_ effects: inout [Effect]) {
        let before = contradictions
        contradictions = [:]
        for entry in index.entries {
            guard let sentence = contradiction(of: entry) else { continue }
            contradictions[entry.identity.id] = sentence
            if before[entry.identity.id] == nil { effects.append(.log(.warning, sentence)) }
        }
    }

    private func contradiction(of entry: RuleIndex.Entry) -> String? {
        guard let place = entry.declared.first, set.buttons.indices.contains(place) else {
            return entry.impossible.map { impossible in
                "rule \"\(set.rules[impossible.rule].id)\" waits for \(impossible.word) of \(entry.identity.serial), "
                    + "and a \(entry.identity.model.rawValue) has none; take it out of the rule, or name another button"
            }
        }
        let button = set.buttons[place]
        guard let model = DeclaredButton.Model(hardware: entry.identity.model), model != button.model else {
            return nil
        }
        return "\"\(button.name)\" is a \(model.rawValue), and the rules say it is a \(button.model.rawValue); "
            + "write model: \(model.rawValue) at \(button.place)"
    }

    /// What of the rules a button's model contradicts, a sentence each that says what to write.
    package var modelContradictions: [String] { contradictions.sorted { $0.key < $1.key }.map(\.value) }
}

extension RuleIndex.Entry {
    /// The first rule that describes the button and waits for what its model does not have.
    fileprivate var impossible: (rule: Int, word: String)? {
        let (movements, parts) = (identity.model.movements, identity.model.parts)
        let all = interest.table.flatMap { key, matches -> [(rule: Int, word: String)] in
            if let movement = key.movement, !movements.contains(movement) { return matches.map { ($0.rule, movement) } }
            return matches.compactMap { match in
                guard let part = match.parts.map(\.rawValue).min(), parts.isDisjoint(with: match.parts) else {
                    return nil
                }
                return (match.rule, "part \(part)")
            }
        }
        return all.min { ($0.rule, $0.word) < ($1.rule, $1.word) }
    }
}

extension EventKey {
    /// The word of a swipe or a turn.
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

extension FlicModel {
    fileprivate var movements: Set<String> {
        let turns = RotationDirection.allCases.map(\.rawValue)
        switch self {
        case .flic1, .flic2: return []
        case .duo: return Set(turns + SwipeDirection.allCases.map(\.rawValue))
        case .twist: return Set(turns)
        }
    }

    fileprivate var parts: Set<ButtonPart> {
        switch self {
        case .flic1, .flic2: []
        case .duo: [.big, .small]
        case .twist: [.dial, .push]
        }
    }
}
