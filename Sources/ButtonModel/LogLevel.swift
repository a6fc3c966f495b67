/// The severity of a log line, in ascending order. The raw value is its name in files, topics and options.
public enum LogLevel: String, CaseIterable, Hashable, Sendable {
    case debug, info, warning, error

    /// True if lines of this level are written if `other` is the minimum level.
    public func isAtLeast(_ other: LogLevel) -> Bool { rank >= other.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}
