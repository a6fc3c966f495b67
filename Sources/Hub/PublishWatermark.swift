/// Tracks up to which sequence number the messages about a button have been published.
///
/// Each sequence number stands for one message, or for two if it is a gesture's. A number is open from the moment it is given
/// out, which is before it is recorded, until the broker has acknowledged its messages or the hub has given them up. All
/// messages below the first open number are published.
///
/// The watermark is recorded with the next event of the button, or a while after the acknowledgement. When the process dies,
/// the numbers between the recorded watermark and the button's sequence remain, and the next process reports them. Some of
/// these messages may have been published, because the acknowledgement was not recorded yet.
struct PublishWatermark: Hashable, Sendable {
    /// The watermark in the store.
    var recorded: Int64
    /// In ascending order; a gesture's number twice. It is no longer than the messages that wait and are in flight.
    private(set) var open: [Int64] = []

    init(recorded: Int64) { self.recorded = recorded }

    /// The largest number up to which all messages have been published or given up.
    ///
    /// - Parameter sequence: the latest number that was given out.
    func acknowledgedSequence(of sequence: Int64) -> Int64 { open.first.map { $0 - 1 } ?? sequence }

    /// - Parameter number: larger than all open numbers.
    mutating func opened(_ number: Int64, messageCount: Int = 1) {
        for _ in 0..<messageCount { open.append(number) }
    }

    mutating func ended(_ number: Int64) {
        if let index = open.firstIndex(of: number) { open.remove(at: index) }
    }

    #if DEBUG
        /// True if the open numbers are in order.
        var isOrdered: Bool { zip(open, open.dropFirst()).allSatisfy { $0 <= $1 } }
    #endif
}
