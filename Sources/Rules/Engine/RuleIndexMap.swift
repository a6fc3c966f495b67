/// Maps the indices of unchanged rules in the old rule set to their indices in the new one.
struct RuleIndexMap: Sendable {
    /// The new index by old index; -1 if the rule was changed or removed.
    private var newIndices: [Int]
    /// The old indices of the rules that were changed or removed.
    private(set) var ended: [Int] = []
    /// The new indices of the rules that were changed or added.
    private(set) var begun: [Int] = []

    /// Compares rules by id and fingerprint; rules without a fingerprint are compared completely.
    init(from old: PreparedRules, to new: PreparedRules) {
        let (before, after) = (old.names, new.names)
        newIndices = Array(repeating: -1, count: before.ruleIDs.count)
        for index in after.ruleIDs.indices {
            let isInPlace = index < newIndices.count && before.ruleIDs[index] == after.ruleIDs[index]
            guard let oldIndex = isInPlace ? index : before.rules[after.ruleIDs[index]],
                before.ruleFingerprints[oldIndex] == after.ruleFingerprints[index],
                !after.ruleFingerprints[index].isEmpty || old.set.rules[oldIndex] == new.set.rules[index]
            else {
                begun.append(index)
                continue
            }
            newIndices[oldIndex] = index
        }
        ended = newIndices.indices.filter { newIndices[$0] < 0 }
    }

    /// The new index of an unchanged rule; `nil` if it was changed or removed.
    subscript(before: Int) -> Int? {
        newIndices.indices.contains(before) && newIndices[before] >= 0 ? newIndices[before] : nil
    }

    var unchanged: some Sequence<(before: Int, after: Int)> {
        newIndices.lazy.enumerated().lazy.filter { $0.element >= 0 }.map { (before: $0.offset, after: $0.element) }
    }
}
