/// The measures against a broker that sends malformed packets.
///
/// After such a packet, MQTT 3.1.1 is used until the configuration is read again, because it has no properties that
/// could be malformed. After eight such packets, at least a minute passes between attempts to connect, because the
/// library may leak memory at each of them.
struct MalformedPacketPolicy: Hashable, Sendable {
    static let maximumShortDelays = 8
    static let longPause: Duration = .seconds(60)

    private var malformedPackets = 0
    private var isReduced = false

    mutating func malformedPacket() {
        malformedPackets += 1
        isReduced = true
    }

    /// Uses the configured version again. The pause stays, because a broker may be able to cause a reload.
    mutating func configurationRead() { isReduced = false }

    func version(_ configured: MQTTProtocolVersion) -> MQTTProtocolVersion { isReduced ? .v311 : configured }

    func pause(_ usual: Duration) -> Duration {
        malformedPackets < Self.maximumShortDelays ? usual : max(usual, Self.longPause)
    }
}
