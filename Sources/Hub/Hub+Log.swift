import ButtonModel
import JSON
import MQTTTopics
import Rules

// The log: lines for the daemon's log, for `status`, and for `bridge/logging`.
extension Hub {
    /// Writes a line to the log, without secrets.
    ///
    /// - Parameter line: identifies the line if something outside can cause it.
    mutating func log(_ level: LogLevel, _ message: String, from line: OutsideLine? = nil) {
        let message = redaction(message)
        emit(.log(level, message))
        logbook.wrote(level, message, from: line, time: wallClock(at: handledAt), at: handledAt)
        publishLogged(level, message)
    }

    /// Logs a line that something outside can cause as often as it likes: the first times, and then at most once a minute.
    mutating func log(
        _ line: OutsideLine, _ level: LogLevel, _ message: @autoclosure () -> String, at now: Instant
    ) {
        if let message = logbook.admit(line, message(), at: now) { log(level, message, from: line) }
    }

    /// Publishes a line of the log, unless it repeats the one before.
    private mutating func publishLogged(_ level: LogLevel, _ message: String) {
        guard broker.isConnected, logbook.publishes(level, message), broker.admitLine() else { return }
        let payload: JSONValue = [
            "level": .string(level.rawValue), "message": .string(message), "namespace": "tryck",
        ]
        emit(
            .publish(
                .logLine, MQTTMessage(topicName: broker.topics.bridgeLogging, payload: payload.encoded()), expiry: nil))
    }

    /// True if a line of that level is written. Lines on the path of a press are not made otherwise.
    func isLogged(_ level: LogLevel) -> Bool { logbook.writes(level) }

    mutating func setLogLevel(_ level: LogLevel) {
        logbook.changeLevel(to: level)
        emit(.setLogLevel(level))
        invalidate(.bridgeInfo)
    }

    /// Removes secrets from what leaves the hub.
    var redaction: Redaction { rules.redaction }
}
