/// The number of a record in the store, or of a sync of it. A later record has a larger number.
package struct RecordToken: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: RecordToken, right: RecordToken) -> Bool { left.rawValue < right.rawValue }
}

/// The number of work that an edge does for the hub and whose end it reports: a program, a web request, a load of the
/// rules, or a read of a firmware file.
package struct JobID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: JobID, right: JobID) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies a message that is handed to the broker, until the broker's client reports its end.
package enum MessageID: Hashable, Sendable {
    /// A message of the `Outbox`.
    case queued(UInt64)
    /// A message of `RetainedQueue`.
    case retained(UInt64)
    /// A line of the log. All lines share this id, because the end of a line only frees its place on the way.
    case logLine
}

extension MessageID {
    /// Retained messages have a range of numbers of their own, so that the other numbers in a recording do not depend on
    /// how many retained messages there were.
    private static let firstRetained: UInt64 = 1 << 40

    /// The number that stands for the id in recordings and in the broker's client.
    package var number: UInt64 {
        switch self {
        case .logLine: 0
        case .queued(let number): number
        case .retained(let number): Self.firstRetained + number
        }
    }

    package init(number: UInt64) {
        self =
            switch number {
            case 0: .logLine
            case ..<Self.firstRetained: .queued(number)
            default: .retained(number - Self.firstRetained)
            }
    }
}

/// Numbers records, jobs and queued messages.
///
/// They share one sequence, so that a number in a recording stands for one of them only.
struct IdentifierSequence: Sendable {
    private var next: UInt64 = 1

    mutating func recordToken() -> RecordToken { RecordToken(rawValue: take()) }
    mutating func jobID() -> JobID { JobID(rawValue: take()) }
    mutating func messageID() -> MessageID { .queued(take()) }

    private mutating func take() -> UInt64 {
        defer { next += 1 }
        return next
    }
}
