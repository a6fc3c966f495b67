import CLinux

/// The events for which a descriptor is watched, or which it reports.
public struct IOEvents: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let read = IOEvents(rawValue: EPOLLIN.rawValue)
    public static let write = IOEvents(rawValue: EPOLLOUT.rawValue)
    /// An error is pending, or both directions are closed. It is reported even if it was not requested.
    public static let hangup = IOEvents(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)

    public var hasHangup: Bool { !isDisjoint(with: .hangup) }
}
