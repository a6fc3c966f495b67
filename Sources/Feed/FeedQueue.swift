/// Buttons in the order in which they were added, each at most once.
struct FeedQueue: Hashable, Sendable {
    private(set) var members: Set<FeedSource.ButtonKey> = []
    /// The order, which may have buttons that were removed.
    private(set) var order: [FeedSource.ButtonKey] = []
    private var first = 0

    mutating func add(_ key: FeedSource.ButtonKey) {
        guard members.insert(key).inserted else { return }
        order.append(key)
        // A queue that never runs empty does not grow either.
        guard order.count > 2 * members.count + 16 else { return }
        var rest = members
        order = order[first...].filter { rest.remove($0) != nil }
        first = 0
    }

    mutating func remove(_ key: FeedSource.ButtonKey) { members.remove(key) }

    mutating func takeFirst() -> FeedSource.ButtonKey? {
        while first < order.count {
            let key = order[first]
            first += 1
            if members.remove(key) != nil { return key }
        }
        (order, first) = ([], 0)
        return nil
    }
}
