/// Where unchanged rules are in a new set.
struct RuleIndexMap: Sendable {
    /// The new index by old index; -1 if the rule was changed or removed.
    private var places: [Int]
    /// The old indices of the rules that were changed or removed.
    private(set) var ended: [Int] = []
    /// The new indices of the rules that were changed or added.
    private(set) var begun: [Int] = []

    /// Compares rules by id and fingerprint; rules without a fingerprint are compared completely.
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

    /// The new index of an unchanged rule; `nil` if it was changed or removed.
    subscript(before: Int) -> Int? { places.indices.contains(before) && places[before] >= 0 ? places[before] : nil }

    var kept: some Sequence<(before: Int, place: Int)> {
        places.lazy.enumerated().lazy.filter { $0.element >= 0 }.map { (before: $0.offset, place: $0.element) }
    }
}
