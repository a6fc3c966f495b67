import ButtonModel
import JSON
import Rules

/// The last warnings and errors of the log, for those who ask later: `status` shows them.
struct RecentTrouble: Hashable, Sendable {
    static let maximumCount = 20
    /// Characters of one sentence; the log has all of it.
    static let maximumLength = 300

    struct Entry: Hashable, Sendable {
        var level: LogLevel
        var message: String
        /// Its last time.
        var time: UTCTime
        var instant: Instant
        /// How often it was said in a row.
        var count = 1
    }

    /// The oldest first.
    private(set) var entries: [Entry] = []

    mutating func add(_ level: LogLevel, _ message: String, time: UTCTime, at now: Instant) {
        guard level == .warning || level == .error else { return }
        var entry = Entry(level: level, message: Self.shortened(message), time: time, instant: now)
        if let last = entries.last, last.level == level, last.message == entry.message {
            entry.count = last.count + 1
            entries.removeLast()
        }
        if entries.count >= Self.maximumCount { entries.removeFirst() }
        entries.append(entry)
    }

    func described(at now: Instant) -> JSONValue {
        .array(
            entries.map { entry in
                [
                    "level": .string(entry.level.rawValue), "message": .string(entry.message),
                    "time": .string(entry.time.description),
                    "age_s": .integer((now - entry.instant).milliseconds / 1000), "count": .integer(Int64(entry.count)),
                ]
            })
    }

    private static func shortened(_ message: String) -> String {
        guard message.utf8.count > maximumLength, message.count > maximumLength else { return message }
        return message.prefix(maximumLength) + "…"
    }
}
