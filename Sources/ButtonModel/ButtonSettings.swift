/// The user's settings for a button, stored with its pairing.
public struct ButtonSettings: Hashable, Sendable {
    public var latencyMode: LatencyMode
    /// Seconds without a press after which the button disconnects, 40…510; `nil`: never.
    public var autoDisconnectTime: UInt16?
    /// When the nickname was set that has not been written to the button yet, in milliseconds since 1970 UTC; `nil`
    /// when the button has it.
    public var nicknameChosenAt: UInt64?
    /// True if a connection is attempted at all.
    public var isConnectionWanted: Bool
    /// The display mode of a Twist's lights; other models ignore it.
    public var ledMode: LEDMode

    public init(
        latencyMode: LatencyMode = .normal, autoDisconnectTime: UInt16? = nil, nicknameChosenAt: UInt64? = nil,
        isConnectionWanted: Bool = true, ledMode: LEDMode = .fill
    ) {
        self.latencyMode = latencyMode
        self.autoDisconnectTime = autoDisconnectTime
        self.nicknameChosenAt = nicknameChosenAt
        self.isConnectionWanted = isConnectionWanted
        self.ledMode = ledMode
    }
}
