/// What follows when a broker sends packets that break the protocol.
///
/// From then on MQTT 3.1.1 is spoken, which has no properties to get wrong, until the configuration is read again. From the
/// eighth such packet on a minute passes between two attempts to connect, since each may have cost some memory for good.
struct MQTTMistrust: Hashable, Sendable {
    static let maximumQuick = 8
    static let longPause: Duration = .seconds(60)

    private var malformedPackets = 0
    private var isReduced = false

    mutating func malformedPacket() {
        malformedPackets += 1
        isReduced = true
    }

    /// The pause between attempts stays: a broker may be able to ask for a reload.
    mutating func configurationRead() { isReduced = false }

    func version(_ configured: MQTTProtocolVersion) -> MQTTProtocolVersion { isReduced ? .v311 : configured }

    func pause(_ usual: Duration) -> Duration {
        malformedPackets < Self.maximumQuick ? usual : max(usual, Self.longPause)
    }
}
