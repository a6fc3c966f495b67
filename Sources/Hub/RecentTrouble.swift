import ButtonModel
import JSON
import Rules

/// The lines of the log that a client, the broker, a file or a Bluetooth device can cause at any rate.
enum OutsideLine: CaseIterable, Hashable, Sendable {
    case badRuleRequest, badSettings, brokerFound, brokerLost, droppedMessage, failedPairing, failedSession
    case failedUpdate, flicdClient, foreignButton, fullJournal, interruptedPress, longRequest, longState, lostPress
    case missedPresses, refusedMessage, refusedSubscription, renumberedButton, restoredSite, retainedRequest,
        searchBegan, searchEnded, unchangedRules, unknownButton

    /// The number of lines that are written before one is omitted. It is higher for lines that can each be about another thing
    /// that a user has to mend, such as a subscription or a button.
    var burst: Int {
        switch self {
        case .brokerFound, .brokerLost, .failedSession, .interruptedPress, .lostPress, .missedPresses,
            .renumberedButton, .restoredSite:
            5
        case .refusedSubscription: 20
        case .badRuleRequest, .badSettings, .droppedMessage, .failedPairing, .failedUpdate, .flicdClient,
            .foreignButton, .fullJournal, .longRequest, .longState, .refusedMessage, .retainedRequest, .searchBegan,
            .searchEnded,
            .unchangedRules,
            .unknownButton:
            1
        }
    }
}

/// The cause of a line of the log that others can cause at any rate.
enum LogSource: Hashable, Sendable {
    case outside(OutsideLine)
    /// A step of this rule has failed. Each message of a client of the broker can make a rule run.
    case rule(String)

    /// The number of lines in a minute before one is omitted.
    var burst: Int {
        switch self {
        case .outside(let line): line.burst
        // A rule has several steps, and each can fail for a reason of its own.
        case .rule: 5
        }
    }
}

/// The last warnings and errors of the log, which `status` shows.
///
/// Only the latest of each `LogSource` is kept, in addition to the others, so that no client can displace the warnings about other
/// things.
struct RecentTrouble: Hashable, Sendable {
    /// The maximum number of entries without a source, and of entries about rules.
    static let maximumCount = 20
    /// The maximum number of characters of a sentence. The log contains the whole sentence.
    static let maximumLength = 300

    struct Entry: Hashable, Sendable {
        var level: LogLevel
        var message: String
        var source: LogSource?
        /// When it was logged last.
        var time: UTCTime
        var instant: Instant
        /// The number of times it was logged without another entry between.
        var count = 1

        /// True if this entry and an entry from `source` count toward the same limit.
        func isRival(of source: LogSource?) -> Bool {
            switch (self.source, source) {
            case (nil, nil), (.rule, .rule): true
            case (.outside, .outside), (nil, _), (_, nil), (.outside, .rule), (.rule, .outside): false
            }
        }
    }

    /// The entries, oldest first.
    private(set) var entries: [Entry] = []

    mutating func add(
        _ level: LogLevel, _ message: String, from source: LogSource? = nil, time: UTCTime, at now: Instant
    ) {
        guard level == .warning || level == .error else { return }
        var entry = Entry(
            level: level, message: message.shortened(to: Self.maximumLength), source: source, time: time, instant: now)
        if let last = entries.last, last.level == level, last.message == entry.message {
            entry.count = last.count + 1
            entries.removeLast()
        }
        if let source, let earlier = entries.firstIndex(where: { $0.source == source }) { entries.remove(at: earlier) }
        let rivals = entries.indices.filter { entries[$0].isRival(of: source) }
        if let oldest = rivals.first, rivals.count >= Self.maximumCount { entries.remove(at: oldest) }
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
    /// The text, or its beginning if it has more characters than `count`.
    func shortened(to count: Int) -> String {
        guard utf8.count > count, let end = index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex
        else {
            return self
        }
        return self[..<end] + "…"
    }
}
