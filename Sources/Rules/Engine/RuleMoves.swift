/// Where the rules that say what they said stand in a new set.
struct RuleMoves: Sendable {
    /// By their old places; -1: changed or gone.
    private var places: [Int]
    /// The places of the rules that changed or are gone, in the old set.
    private(set) var ended: [Int] = []
    /// The places of the rules that changed or are new, in the new set.
    private(set) var begun: [Int] = []

    /// Without a fingerprint a rule is looked at as a whole.
    init(from old: PreparedRules, to new: PreparedRules) {
        let (before, after) = (old.names, new.names)
        places = Array(repeating: -1, count: before.ruleIDs.count)
        for place in after.ruleIDs.indices {
            let isInPlace = place < places.count && before.ruleIDs[place] == after.ruleIDs[place]
            guard let was = isInPlace ? place : before.rules[after.ruleIDs[place]],
                before.ruleFingerprints[was] == after.ruleFingerprints[place],
                !after.ruleFingerprints[place].isEmpty || old.set.rules[was] == new.set.rules[place]
            else {
                begun.append(place)
                continue
            }
            places[was] = place
        }
        ended = places.indices.filter { places[$0] < 0 }
    }

    /// The new place of a rule that is what it was.
    subscript(before: Int) -> Int? { places.indices.contains(before) && places[before] >= 0 ? places[before] : nil }

    var kept: some Sequence<(before: Int, place: Int)> {
        places.lazy.enumerated().lazy.filter { $0.element >= 0 }.map { (before: $0.offset, place: $0.element) }
    }
}
