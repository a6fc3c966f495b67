package import ButtonModel
import Glibc
import JSON
package import Logging
import Platform
import Synchronization

/// How a line of the log is written.
package enum LogFormat: Hashable, Sendable {
    /// For people: time, level, where from, what, and the fields.
    case text
    /// For the journal, which has the time itself: `<N>` and the rest of the text.
    case journal
    /// One JSON object a line.
    case json
}

/// Where every logger of the process writes, and from which level on. Both may change while it runs.
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

    /// Whether the standard error is the journal: `$JOURNAL_STREAM` names the device and the inode it was at the
    /// start of the service, and a redirection since then gives it others.
    ///
    /// - Source: systemd.exec(5), JOURNAL_STREAM.
    package static func isJournal(stream: String?, descriptor: Int32 = 2) -> Bool {
        var status = stat()
        guard let stream, fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Text for people, each line of which is an error where it goes to the journal.
    package static func errors(_ text: String, isJournal: Bool) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        if lines.last == "" { lines.removeLast() }
        return lines.map { (isJournal ? "<3>" : "") + $0 + "\n" }.joined()
    }

    /// Never waits for the reader: what the descriptor does not take is counted, and the count is written later.
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

    /// Writes what ends the daemon before it has a log. A reader that is only slow gets all of it.
    package static func writeLast(_ text: String) {
        var text = text
        let descriptor = LogDescriptor(STDERR_FILENO)
        text.withUTF8 { _ = descriptor.write(UnsafeRawBufferPointer($0), patience: 1000) }
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

    /// The output's level: it is one for all loggers, so that a reload of the configuration reaches them all.
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

/// One line before it is written.
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

    /// Says that the reader of the log was too slow for so many lines.
    static func omitted(_ count: Int) -> LogLine {
        let lines = count == 1 ? "1 line was" : "\(count) lines were"
        return LogLine(level: .warning, label: "log", message: "\(lines) not written, for there was no room")
    }

    func rendered(_ format: LogFormat, at time: UTCTime) -> String {
        switch format {
        case .text: "\(time) \(level.padded) \(text)"
        case .journal: "<\(level.priority)>\(text)"
        case .json: json(time).description
        }
    }

    /// `radio: connected button=kitchen reason="link lost"`.
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

/// The text with a space for every character that is no sign of its own: names and payloads from outside cannot begin a
/// line, colour a terminal, hide something or turn the direction of what follows.
private func printable(_ text: String) -> String {
    // Nearly every line is plain ASCII, and is looked at only once.
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

    /// As syslog counts: 7 debug … 2 critical.
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
