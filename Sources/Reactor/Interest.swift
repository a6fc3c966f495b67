import CLinux

/// What a descriptor is watched for, and what it is ready for.
public struct Interest: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let read = Interest(rawValue: EPOLLIN.rawValue)
    public static let write = Interest(rawValue: EPOLLOUT.rawValue)
    /// Delivered without being asked for: an error is pending on the descriptor, or both directions are closed.
    public static let hangup = Interest(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)

    public var hasHangup: Bool { !isDisjoint(with: .hangup) }
}
