/// The delays between attempts to connect to the broker: 0.25 s, doubled up to 30 s, each reduced at random by up to
/// half, so that the clients of a restarted broker do not reconnect at the same time.
struct MQTTBackOff {
    static let shortest: Duration = .milliseconds(250)
    static let longest: Duration = .seconds(30)

    private var delay = shortest
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> Duration {
        defer { delay = min(delay * 2, Self.longest) }
        return delay - delay / 2 * Double(random() >> 11) / 0x1p53
    }

    /// Restarts with the shortest delay. Called after a connection that lasted.
    mutating func reset() { delay = Self.shortest }

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
