/// A decoder or a machine, and what it promises of any octets whatever.
///
/// Every target promises not to trap and to come to an end; what else it promises is said with `promise`. The octets
/// alone decide what happens: the same ones do the same, today and in a year.
struct FuzzTarget: Sendable {
    /// The name for `run`, and of the folder in the corpus.
    let name: String
    let run: @Sendable (_ octets: [UInt8]) throws(BrokenPromise) -> Void

    static let all = [
        hci, advertising, l2cap, att, host,
        flicFrames, flicPackets, duoEvents, session, twist, peripheral, twoEnds,
        json, rules, configuration, simulator,
        control, mqtt, flicdServer, flicdSource, h4, lines, recording, export, state, expressions, engine,
    ]
}

struct BrokenPromise: Error {
    var promise: String
}

func promise(_ promise: String, _ isKept: Bool) throws(BrokenPromise) {
    guard isKept else { throw BrokenPromise(promise: promise) }
}
