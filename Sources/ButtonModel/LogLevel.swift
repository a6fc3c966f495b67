/// The level of a log line, the least important first. The raw value is its name in files, topics and options.
public enum LogLevel: String, CaseIterable, Hashable, Sendable {
    case debug, info, warning, error

    /// Whether lines of this level are written when the least important level to write is `other`.
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
