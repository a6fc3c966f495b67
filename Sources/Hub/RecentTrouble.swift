import ButtonModel
import JSON
import Rules

/// Lines of the log that a client, a broker or whatever else is outside can cause as often as it likes.
enum OutsideLine: CaseIterable, Hashable, Sendable {
    case badRuleRequest, badSettings, droppedMessage, flicdClient, longRequest, longState, retainedRequest
    case searchBegan, searchEnded, unchangedRules, unknownButton
}

/// The last warnings and errors of the log, for those who ask later: `status` shows them.
///
/// Of each `OutsideLine` only the last is kept, beside the others, so that what is outside cannot push real trouble out.
struct RecentTrouble: Hashable, Sendable {
    /// Besides one for each `OutsideLine`.
    static let maximumCount = 20
    /// Characters of one sentence; the log has all of it.
    static let maximumLength = 300

    struct Entry: Hashable, Sendable {
        var level: LogLevel
        var message: String
        var line: OutsideLine?
        /// Its last time.
        var time: UTCTime
        var instant: Instant
        /// How often it was said in a row.
        var count = 1
    }

    /// The oldest first.
    private(set) var entries: [Entry] = []

    mutating func add(
        _ level: LogLevel, _ message: String, from line: OutsideLine? = nil, time: UTCTime, at now: Instant
    ) {
        guard level == .warning || level == .error else { return }
        var entry = Entry(
            level: level, message: message.shortened(to: Self.maximumLength), line: line, time: time, instant: now)
        if let last = entries.last, last.level == level, last.message == entry.message {
            entry.count = last.count + 1
            entries.removeLast()
        }
        let rivals = entries.indices.filter { entries[$0].line == line }
        if let oldest = rivals.first, line != nil || rivals.count >= Self.maximumCount { entries.remove(at: oldest) }
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

}

extension String {
    /// The beginning of a text that has more characters than that.
    func shortened(to count: Int) -> String {
        guard utf8.count > count, let end = index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex
        else {
            return self
        }
        return self[..<end] + "…"
    }
}
