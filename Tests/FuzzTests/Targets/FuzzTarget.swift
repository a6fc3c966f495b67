import ButtonModel

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

/// A machine with one timer, whose time the target decides.
protocol TimedBench {
    var now: Instant { get set }
    /// When the timer fires; `nil`: there is none.
    var timer: Instant? { get set }
    mutating func fireTimer() throws(BrokenPromise)
}

extension TimedBench {
    /// Fires the timer at its time, as often as it is set again.
    mutating func pass(_ duration: Duration) throws(BrokenPromise) {
        let end = now + duration
        while let due = timer, due <= end {
            now = max(now, due)
            timer = nil
            try fireTimer()
        }
        now = end
    }
}
