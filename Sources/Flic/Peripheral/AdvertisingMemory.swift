/// How a button advertises after a lost link, in the units of the radio.
public struct AdvertisingSettings: Hashable, Sendable {
    /// For the first 5 s and after them; 0.625 ms.
    public var firstInterval, laterInterval: UInt16
    public var timeoutSeconds: UInt32

    public init(firstInterval: UInt16, laterInterval: UInt16, timeoutSeconds: UInt32) {
        self.firstInterval = firstInterval
        self.laterInterval = laterInterval
        self.timeoutSeconds = timeoutSeconds
    }
}

/// What each host wants a button to do after a lost link. It is kept in RAM: a button that boots has forgotten it.
///
/// - Source: protocol notes, 4.1 (opcode 27).
struct AdvertisingMemory: Sendable {
    private var parameters: [UInt32: AdvertisingParameters] = [:]

    /// - Parameter known: the identifiers of all pairings; what others wanted is forgotten.
    mutating func store(_ new: AdvertisingParameters, of pairingIdentifier: UInt32, known: [UInt32]) {
        if new.removesOtherPairingsSettings { parameters = [:] }
        parameters[pairingIdentifier] = new
        parameters = parameters.filter { known.contains($0.key) && $0.value.isActive }
    }

    /// The shortest of all intervals, the longest of all times; `nil` when nobody wants any.
    var settings: AdvertisingSettings? {
        guard let first = parameters.values.map(\.firstInterval).min(),
            let later = parameters.values.map(\.laterInterval).min(),
            let timeout = parameters.values.map(\.timeoutSeconds).max()
        else { return nil }
        return AdvertisingSettings(firstInterval: first, laterInterval: later, timeoutSeconds: timeout)
    }
}
