import ButtonModel
import JSON
import MQTTTopics
import Rules

// The log: lines for the daemon's log, for `status`, and for `bridge/logging`.
extension Hub {
    /// Writes a line to the log, without secrets.
    ///
    /// - Parameter source: what causes the line, if that can be as often as something outside likes.
    mutating func log(_ level: LogLevel, _ message: String, from source: LogSource? = nil) {
        let message = redaction(message)
        emit(.log(level, message))
        logbook.wrote(level, message, from: source, time: wallClock(at: handledAt), at: handledAt)
        publishLogged(level, message)
    }

    /// Logs a line that something outside can cause as often as it likes: the first times, and then at most once a minute.
    mutating func log(
        _ line: OutsideLine, _ level: LogLevel, _ message: @autoclosure () -> String, at now: Instant
    ) {
        logLimited(.outside(line), level, message(), at: now)
    }

    /// Logs that a step of a rule has failed: five times in a minute, and then once a minute with the number of omitted lines.
    mutating func logFailure(ofRule rule: String, _ message: @autoclosure () -> String, at now: Instant) {
        logLimited(.rule(rule), .warning, "rule \(rule)" + message(), at: now)
    }

    private mutating func logLimited(_ source: LogSource, _ level: LogLevel, _ message: String, at now: Instant) {
        if let message = logbook.admit(source, message, at: now) { log(level, message, from: source) }
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
