/// Which of a button's numbered messages have been heard.
///
/// A number of `sequence` stands for one message, of a gesture for two. It is open from the moment it is given out, which
/// is before it is on file, until its messages have had their end: the broker has acknowledged them, or the hub has given
/// them up. Below the first that is open all have been heard.
///
/// How far that is, is written down with the next event of the button, or a while after the acknowledgement. A process
/// that dies leaves the rest between what was written down and `sequence`, and the next process tells of it. Some of that
/// may have been heard: nobody had written it down yet.
struct Hearing: Hashable, Sendable {
    /// What is on file.
    var recorded: Int64
    /// In ascending order; a gesture's number twice. It is no longer than the messages that wait and are on their way.
    private var open: [Int64] = []

    init(recorded: Int64) { self.recorded = recorded }

    /// Up to where all have been heard of those that were given out.
    func heard(of sequence: Int64) -> Int64 { open.first.map { $0 - 1 } ?? sequence }

    /// - Parameter number: above all that are open.
    mutating func opened(_ number: Int64, messageCount: Int = 1) {
        for _ in 0..<messageCount { open.append(number) }
    }

    mutating func ended(_ number: Int64) {
        if let index = open.firstIndex(of: number) { open.remove(at: index) }
    }
}

extension ButtonRecord {
    /// Up to here all have been heard.
    var heard: Int64 { hearing.heard(of: sequence.value) }

    /// - Parameter messageCount: of those whose end is waited for.
    mutating func giveOutNumber(messageCount: Int) {
        sequence = sequence.next
        hearing.opened(sequence.value, messageCount: messageCount)
    }
}
