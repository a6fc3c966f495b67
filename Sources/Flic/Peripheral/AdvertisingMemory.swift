/// How a simulated button advertises after it lost the link.
public struct AdvertisingSettings: Hashable, Sendable {
    /// The intervals during the first 5 s and afterwards, in units of 0.625 ms.
    public var firstInterval, laterInterval: UInt16
    public var timeoutSeconds: UInt32

    public init(firstInterval: UInt16, laterInterval: UInt16, timeoutSeconds: UInt32) {
        self.firstInterval = firstInterval
        self.laterInterval = laterInterval
        self.timeoutSeconds = timeoutSeconds
    }
}

/// The advertising parameters that each paired host has set, by pairing identifier. They are in RAM, so a reboot clears
/// them.
///
/// - Source: protocol notes, 4.1 (opcode 27).
struct AdvertisingMemory: Sendable {
    private var parameters: [UInt32: AdvertisingParameters] = [:]

    /// - Parameter known: the identifiers of all pairings; parameters of other pairings are deleted.
    mutating func store(_ new: AdvertisingParameters, of pairingIdentifier: UInt32, known: [UInt32]) {
        if new.removesOtherPairingsSettings { parameters = [:] }
        parameters[pairingIdentifier] = new
        parameters = parameters.filter { known.contains($0.key) && $0.value.isActive }
    }

    /// The combination of all parameters: the shortest intervals and the longest timeout; `nil` if there are none.
    var settings: AdvertisingSettings? {
        guard let first = parameters.values.map(\.firstInterval).min(),
            let later = parameters.values.map(\.laterInterval).min(),
            let timeout = parameters.values.map(\.timeoutSeconds).max()
        else { return nil }
        return AdvertisingSettings(firstInterval: first, laterInterval: later, timeoutSeconds: timeout)
    }
}
