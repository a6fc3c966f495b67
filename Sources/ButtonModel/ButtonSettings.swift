/// What people set of one button; kept with its pairing.
public struct ButtonSettings: Hashable, Sendable {
    public var latencyMode: LatencyMode
    /// Seconds without a press after which the button ends the link, 40…510; `nil`: never.
    public var autoDisconnectTime: UInt16?
    /// Milliseconds of UTC when the nickname was chosen that the button has not taken yet; `nil` when it has.
    public var nicknameChosenAt: UInt64?
    /// False: no connection is attempted.
    public var isConnectionWanted: Bool
    /// Of a Twist.
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
