/// A seeded random number generator: a seed gives the same octets on every machine and in every run.
///
/// Keys of simulated buttons are drawn from it, so they must not be trusted outside a simulation.
///
/// - Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014.
struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// The FNV-1a hash of the UTF-8 of a name. Unlike that of `Hasher`, it is the same in every run.
///
/// - Source: Fowler, Noll, Vo; 64 bits.
func stableHash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for octet in text.utf8 {
        hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3
    }
    return hash
}
