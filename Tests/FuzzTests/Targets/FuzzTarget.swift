/// A decoder or a state machine, and what must hold for arbitrary octets.
///
/// No target traps or runs for ever; everything else that must hold is checked with `promise`. The behaviour depends on
/// the octets only, so that a finding can be repeated.
struct FuzzTarget: Sendable {
    /// The name for `run`, and the name of the folder in the corpus.
    let name: String
    let run: @Sendable (_ octets: [UInt8]) throws(BrokenPromise) -> Void

    static let all = [
        hci, advertising, l2cap, att, host, bluez, proxies,
        flicFrames, flicPackets, duoEvents, session, twist, peripheral, twoEnds,
        json, rules, configuration, simulator, languageServer,
        control, mqtt, flicdServer, flicdSource, feedSource, feedUplink, feedLeader, feedEngine, h4, lines, recording,
        export, state,
        expressions, engine, passwords,
    ]
}

struct BrokenPromise: Error {
    var promise: String
}

func promise(_ promise: String, _ isKept: Bool) throws(BrokenPromise) {
    guard isKept else { throw BrokenPromise(promise: promise) }
}
