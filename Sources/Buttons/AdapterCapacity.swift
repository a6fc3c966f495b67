import Radios

/// The capacity of a radio.
struct AdapterCapacity: Hashable, Sendable {
    /// The entries of its accept list.
    var acceptListSize = 0
    /// The number of links while the adapter refuses another one; else `nil`.
    var linkLimit: Int?
}

extension ButtonManager {
    func capacity(of radio: RadioID) -> AdapterCapacity { capacities[Int(radio.rawValue)] }

    mutating func capacityChanged(of radio: RadioID, _ change: (inout AdapterCapacity) -> Void) {
        let before = capacity(of: radio)
        change(&capacities[Int(radio.rawValue)])
        guard capacity(of: radio) != before else { return }
        // The links are limited only if no radio has room for another one.
        let limits = capacities.compactMap(\.linkLimit)
        effects.append(
            .capacity(
                acceptListSize: capacities.reduce(0) { $0 + $1.acceptListSize },
                linkLimit: limits.count < capacities.count ? nil : limits.reduce(0, +)))
    }
}
