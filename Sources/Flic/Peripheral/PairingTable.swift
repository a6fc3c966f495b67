import ButtonModel

/// The pairings that a button stores. A new pairing beyond the limit evicts the least recently used one.
struct PairingTable: Sendable {
    static let maximumCount = 32

    /// In the order of their last use, the most recent last.
    private(set) var pairings: [Pairing] = []

    init(_ pairings: [Pairing]) {
        for pairing in pairings { store(pairing) }
    }

    mutating func store(_ pairing: Pairing) {
        pairings.removeAll { $0.identifier == pairing.identifier }
        if pairings.count == Self.maximumCount { pairings.removeFirst() }
        pairings.append(pairing)
    }

    func find(_ identifier: UInt32) -> Pairing? { pairings.first { $0.identifier == identifier } }
}
