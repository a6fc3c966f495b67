import ButtonModel
import JSON
import Rules

/// The state of the log: its level, recent warnings and errors, and the lines that are not repeated.
struct Logbook: Sendable {
    /// The maximum number of characters of a line that quotes something from outside, such as a topic.
    private static let maximumOutsideLine = 500

    /// Lines below this level are not written.
    private(set) var level: LogLevel
    private var trouble = RecentTrouble()
    private var repeatedLines = LogRateLimit<LogSource>()
    /// The line that was published last.
    private var latestPublished = ""

    init(_ level: LogLevel) { self.level = level }

    mutating func changeLevel(to level: LogLevel) { self.level = level }

    func writes(_ level: LogLevel) -> Bool { level.isAtLeast(self.level) }

    /// Remembers a line that is written.
    ///
    /// - Parameter source: what causes it, if that can be as often as something outside likes.
    mutating func wrote(
        _ level: LogLevel, _ message: String, from source: LogSource?, time: UTCTime, at now: Instant
    ) {
        trouble.add(level, message, from: source, time: time, at: now)
    }

    /// The text of a line that something outside can cause as often as it likes; `nil` if the line is written too often.
    mutating func admit(_ source: LogSource, _ message: String, at now: Instant) -> String? {
        repeatedLines.lineToWrite(
            source, message.shortened(to: Self.maximumOutsideLine), burst: source.burst, at: now)
    }

    /// Decides whether a line is published. A line that repeats the one before is not.
    mutating func publishes(_ level: LogLevel, _ message: String) -> Bool {
        guard writes(level), latestPublished != message else { return false }
        latestPublished = message
        return true
    }

    /// The last warnings and errors, for `status`.
    func describeTrouble(at now: Instant) -> JSONValue { trouble.described(at: now) }
}
