/// The limit on the work that one edge does for its peers in one turn of the loop. The remaining work waits for the
/// next turn, so that the radio is read in between.
public struct TurnBudget: Sendable {
    public static let octets = 64 * 1024
    /// Nanoseconds since the edge's first work in the turn.
    public static let time: Int64 = 10_000_000

    private var turn: UInt64 = 0
    private var spent = 0
    private var start: Int64 = 0

    public init() {}

    /// True if one more piece of work may begin. The first one of a turn always may, however large.
    ///
    /// - Parameters:
    ///   - turn: `EventLoop.turn`
    ///   - now: `EventLoop.nanosecondsSinceBoot`
    public mutating func allows(turn: UInt64, at now: Int64) -> Bool {
        if turn != self.turn { (self.turn, spent, start) = (turn, 0, now) }
        return spent < Self.octets && now - start < Self.time
    }

    public mutating func spend(_ octets: Int) { spent += octets }
}
