import ButtonModel

/// A rotation of wanted peers through a filter accept list that is too short for all of them.
///
/// The rotation is first in, first out: at the end of a turn the peers that have waited longest replace those that have
/// been listed longest, as many as possible. A peer whose link ends goes to the end of the queue. The first wanted peer
/// is the most important and always listed; if the list has one entry, it is listed every other turn.
struct AcceptListRotation: Hashable, Sendable {
    /// The duration of a turn. A pressed button advertises at its fastest for 10 s, so up to five times as many peers
    /// as entries are each listed once within that time.
    static let length: Duration = .seconds(2)

    private var first: BluetoothAddress?
    /// The other peers, in the order of their turns.
    private var others: [BluetoothAddress] = []
    /// Whether, in a list with one entry, the current turn belongs to another peer than `first`.
    private var isOthersTurn = false

    var wanted: [BluetoothAddress] { (first.map { [$0] } ?? []) + others }

    /// - Parameter peers: the most important peer first; duplicates are ignored.
    mutating func setWanted(_ peers: [BluetoothAddress]) {
        var missing = Set(peers)
        let previous = wanted
        first = peers.first
        if let first { missing.remove(first) }
        others = previous.filter { missing.remove($0) != nil }
        others += peers.filter { missing.remove($0) != nil }
    }

    /// Moves a peer whose link has ended behind the others.
    mutating func moveToEnd(_ peer: BluetoothAddress) {
        guard let index = others.firstIndex(of: peer) else { return }
        others.append(others.remove(at: index))
    }

    /// The peers that are listed in this turn.
    ///
    /// - Parameter entryCount: the number of entries of the list, at least 1.
    func listed(_ entryCount: Int, without connected: Set<BluetoothAddress>) -> Set<BluetoothAddress> {
        let others = others.lazy.filter { !connected.contains($0) }
        guard let first, !connected.contains(first) else { return Set(others.prefix(entryCount)) }
        if entryCount == 1, isOthersTurn, let other = others.first { return [other] }
        return Set(others.prefix(entryCount - 1)).union([first])
    }

    /// The wanted peers that are neither listed nor connected, the longest waiting first.
    func waiting(_ entryCount: Int, without connected: Set<BluetoothAddress>) -> [BluetoothAddress] {
        let placed = listed(entryCount, without: connected)
        return wanted.filter { !connected.contains($0) && !placed.contains($0) }
    }

    /// The peers that are not connected and take turns in the list, in an order that their turns do not change; none if the list has
    /// room for all. The first wanted peer is one of them only if the list has one entry.
    func sharing(_ entryCount: Int, without connected: Set<BluetoothAddress>) -> [BluetoothAddress] {
        let missing = wanted.filter { !connected.contains($0) }
        guard missing.count > entryCount else { return [] }
        return missing.filter { entryCount == 1 || $0 != first }.sorted {
            ($0.rawValue, $0.kind.rawValue) < ($1.rawValue, $1.kind.rawValue)
        }
    }

    /// Ends the turn: the peers that have waited longest replace the peers that have been in the list longest.
    mutating func turn(_ entryCount: Int, without connected: Set<BluetoothAddress>) {
        let placed = listed(entryCount, without: connected)
        var leaving = min(entryCount, waiting(entryCount, without: connected).count)
        if let first, placed.contains(first) {
            if entryCount == 1 { isOthersTurn = leaving > 0 }
            leaving = min(leaving, entryCount - 1)
        } else {
            isOthersTurn = false
        }
        let left = others.filter { placed.contains($0) }.prefix(leaving)
        others = others.filter { !left.contains($0) } + left
    }
}
