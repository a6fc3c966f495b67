/// The capacity of the adapter.
struct AdapterCapacity: Hashable, Sendable {
    /// The entries of its accept list.
    var acceptListSize = 0
    /// The number of links while the adapter refuses another one; else `nil`.
    var linkLimit: Int?
}

extension ButtonManager {
    mutating func capacityChanged(_ change: (inout AdapterCapacity) -> Void) {
        let before = capacity
        change(&capacity)
        guard capacity != before else { return }
        effects.append(.capacity(acceptListSize: capacity.acceptListSize, linkLimit: capacity.linkLimit))
    }
}
