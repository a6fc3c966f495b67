import ButtonModel

/// Who of those wanted has a place in a filter accept list that is too short for all of them.
///
/// Places go in turns, first in, first out: at the end of a turn those who have waited longest take the places of
/// those who have had theirs longest, as many as there are to change. Whoever loses a link goes to the end. The
/// first of those wanted keeps its place; where there is only one place, it has every other turn.
struct AcceptListTurns: Hashable, Sendable {
    /// A button that was pressed advertises at its fastest for ten seconds: up to five times as many peers as places
    /// are all looked for within that.
    static let length: Duration = .seconds(2)

    private var first: BluetoothAddress?
    /// The others, in the order of their turns.
    private var others: [BluetoothAddress] = []
    /// With one place: it is not the turn of `first`.
    private var isOthersTurn = false

    var wanted: [BluetoothAddress] { (first.map { [$0] } ?? []) + others }

    /// - Parameter peers: the most important first. Who stands twice counts once.
    mutating func want(_ peers: [BluetoothAddress]) {
        var missing = Set(peers)
        let previous = wanted
        first = peers.first
        if let first { missing.remove(first) }
        others = previous.filter { missing.remove($0) != nil }
        others += peers.filter { missing.remove($0) != nil }
    }

    /// Its link has ended: the others come before it.
    mutating func moveToEnd(_ peer: BluetoothAddress) {
        guard let index = others.firstIndex(of: peer) else { return }
        others.append(others.remove(at: index))
    }

    /// - Parameter places: at least 1.
    func placed(_ places: Int, without connected: Set<BluetoothAddress>) -> Set<BluetoothAddress> {
        let others = others.lazy.filter { !connected.contains($0) }
        guard let first, !connected.contains(first) else { return Set(others.prefix(places)) }
        if places == 1, isOthersTurn, let other = others.first { return [other] }
        return Set(others.prefix(places - 1)).union([first])
    }

    /// The longest waiting first.
    func waiting(_ places: Int, without connected: Set<BluetoothAddress>) -> [BluetoothAddress] {
        let placed = placed(places, without: connected)
        return wanted.filter { !connected.contains($0) && !placed.contains($0) }
    }

    mutating func turn(_ places: Int, without connected: Set<BluetoothAddress>) {
        let placed = placed(places, without: connected)
        var leaving = min(places, waiting(places, without: connected).count)
        if let first, placed.contains(first) {
            if places == 1 { isOthersTurn = leaving > 0 }
            leaving = min(leaving, places - 1)
        } else {
            isOthersTurn = false
        }
        let left = others.filter { placed.contains($0) }.prefix(leaving)
        others = others.filter { !left.contains($0) } + left
    }
}
