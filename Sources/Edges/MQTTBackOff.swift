import ButtonModel

/// The delays between attempts to connect to the broker, with jitter from a seed.
package struct MQTTBackOff {
    private var backOff = BackOff(.milliseconds(250)...(.seconds(30)))
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> Duration { backOff.next(jitter: random()) }

    /// Restarts with the shortest delay. Called after a connection or a run that lasted long enough.
    package mutating func reset() { backOff.reset() }

    /// The next output of SplitMix64.
    ///
    /// - Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
    private mutating func random() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
