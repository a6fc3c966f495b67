package import ButtonModel
import Glibc
import JSON
package import Logging
import Platform
import Synchronization

/// The format of log lines.
package enum LogFormat: Hashable, Sendable {
    /// For people: time, level, label, message and fields.
    case text
    /// For the journal, which adds the time: the priority as `<N>`, and the remaining text.
    case journal
    /// A JSON object per line.
    case json
}

/// The destination, level and format of all loggers of the process. Level and format may change at run time.
package final class LogOutput: Sendable {
    private struct Settings {
        var level: Logger.Level
        var format: LogFormat
    }

    private let settings: Mutex<Settings>
    private let queue = Mutex(LogQueue())
    private let descriptor: LogDescriptor

    package init(level: Logger.Level = .info, format: LogFormat = .text, descriptor: Int32 = 2) {
        settings = Mutex(Settings(level: level, format: format))
        self.descriptor = LogDescriptor(descriptor)
    }

    deinit { descriptor.close() }

    package var level: Logger.Level {
        get { settings.withLock { $0.level } }
        set { settings.withLock { $0.level = newValue } }
    }

    package var format: LogFormat {
        get { settings.withLock { $0.format } }
        set { settings.withLock { $0.format = newValue } }
    }

    /// True if standard error is connected to the journal: `$JOURNAL_STREAM` contains device and inode of the standard
    /// error with which the service was started, and those of a later redirection differ.
    ///
    /// - Source: systemd.exec(5), JOURNAL_STREAM.
    package static func isJournal(stream: String?, descriptor: Int32 = 2) -> Bool {
        var status = stat()
        guard let stream, fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Formats a text for people, each line of which becomes an error in the journal.
    package static func errors(_ text: String, isJournal: Bool) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        if lines.last == "" { lines.removeLast() }
        return lines.map { (isJournal ? "<3>" : "") + $0 + "\n" }.joined()
    }

    /// Never blocks. Lines for which there is no space are counted, and the count is written later.
    fileprivate func write(_ line: LogLine) {
        let format = format
        queue.withLock { queue in
            queue.write(line.rendered(format, at: SystemEnvironment.wallClock) + "\n") { count in
                LogLine.omitted(count).rendered(format, at: SystemEnvironment.wallClock) + "\n"
            } take: {
                descriptor.write($0)
            }
        }
    }

    /// Writes the error that ends the daemon before its log is open. Waits up to a second for a slow reader.
    package static func writeLast(_ text: String) {
        var text = text
        let descriptor = LogDescriptor(STDERR_FILENO)
        text.withUTF8 { _ = descriptor.write(UnsafeRawBufferPointer($0), timeoutMilliseconds: 1000) }
        descriptor.close()
    }
}

/// The backend of swift-log.
package struct TryckLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    private let label: String
    private let output: LogOutput

    package init(label: String, output: LogOutput) {
        self.label = label
        self.output = output
    }

    /// The level of the output, which all loggers share, so that a change of the configuration applies to all.
    package var logLevel: Logger.Level {
        get { output.level }
        set { output.level = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        var line = LogLine(level: event.level, label: label, message: event.message.description)
        line.fields = fields.map { ($0.key, $0.value.description) }
        if let error = event.error { line.fields.append(("error", String(describing: error))) }
        output.write(line)
    }
}

/// A log line before formatting.
struct LogLine {
    var level: Logger.Level
    var label: String
    var message: String
    var fields: [(name: String, value: String)] = []

    init(level: Logger.Level, label: String, message: String) {
        self.level = level
        self.label = label
        self.message = message
    }

    /// A warning that lines were lost, because the reader of the log was too slow, or the file had no room.
    static func omitted(_ count: Int) -> LogLine {
        let lines = count == 1 ? "1 line was" : "\(count) lines were"
        return LogLine(
            level: .warning, label: "log",
            message: "\(lines) not written: the reader of the log was too slow, or its disk is full")
    }

    func rendered(_ format: LogFormat, at time: UTCTime) -> String {
        switch format {
        case .text: "\(time) \(level.padded) \(text)"
        case .journal: "<\(level.priority)>\(text)"
        case .json: json(time).description
        }
    }

    /// The text without time and level: `radio: connected button=kitchen reason="link lost"`.
    private var text: String {
        var text = "\(label): \(printable(message))"
        for field in fields {
            let value = printable(field.value)
            let needsQuotes = value.isEmpty || value.contains { $0 == " " || $0 == "\"" || $0 == "=" }
            text += " \(field.name)=" + (needsQuotes ? JSONValue.string(value).description : value)
        }
        return text
    }

    private func json(_ time: UTCTime) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("time", .string(time.description)), .init("level", .string(level.rawValue)),
            .init("label", .string(label)), .init("message", .string(message)),
        ]
        if !fields.isEmpty {
            members.append(.init("fields", .object(fields.map { .init($0.name, .string($0.value)) })))
        }
        return .object(members)
    }
}

/// Replaces control, format and separator characters with spaces, so that names and payloads from outside cannot begin
/// a line, colour a terminal, hide text or reverse the direction of the text that follows.
private func printable(_ text: String) -> String {
    // Fast path: nearly every line is plain ASCII.
    guard !text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { scalars.append(isPrintable(scalar) ? scalar : " ") }
    return String(scalars)
}

private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
}

extension Logger.Level {
    package init(_ level: LogLevel) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
    }

    /// The syslog severity: 7 debug … 2 critical.
    ///
    /// - Source: RFC 5424, 6.2.1; sd-daemon(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    fileprivate var padded: String {
        rawValue + String(repeating: " ", count: max(0, 8 - rawValue.utf8.count))
    }
}
