import ButtonModel

/// The pairings a button remembers. A new one beyond the bound evicts the one that was not used for longest.
struct PairingTable: Sendable {
    static let maximumCount = 32

    /// The one used last comes last.
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
