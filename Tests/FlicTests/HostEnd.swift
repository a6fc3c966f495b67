import ButtonModel

@testable import Flic

/// The host's end of an established session with a simulated button, with control over every octet.
struct HostEnd {
    var now = Instant(sinceBoot: .seconds(10))
    private var channel: SignedChannel
    private(set) var connectionID: UInt8 = 0

    /// Connects to a button that knows the pairing, with a quick verify.
    ///
    /// - Parameter isFirst: whether to bring the link up as well.
    init?(_ button: inout FlicPeripheral, as pairing: Pairing = TestButton.pairing, isFirst: Bool = true) {
        let hostRandom: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
        let buttonRandom: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        let key = SessionKey(
            quickVerify: pairing.key, hostRandom: hostRandom, flags: 0, buttonRandom: buttonRandom)
        guard let key else { return nil }
        channel = SignedChannel(key, as: .host)
        if isFirst { _ = button.handle(.linkUp(attMTU: 140), at: now) }
        let request = HostPacket.quickVerifyRequest(
            .init(
                random: hostRandom, flags: 0, temporaryID: 7, pairingIdentifier: pairing.identifier))
        let effects = button.handle(.received([0] + request.octets, random: buttonRandom), at: now)
        guard case .send(let value)? = effects.first, let header = value.first, header & 0xE0 == 0x20,
            channel.open(Array(value.dropFirst())) != nil
        else { return nil }
        connectionID = header & 0x1F
    }

    mutating func value(_ packet: HostPacket) -> [UInt8] { value(octets: packet.octets) }
    mutating func value(octets: [UInt8]) -> [UInt8] { [connectionID] + channel.seal(octets) }

    /// The packets for this host among the effects; `nil` stands for a packet whose signature is wrong.
    mutating func packets(in effects: [FlicPeripheral.Effect]) -> [ButtonPacket?] {
        effects.compactMap { effect -> ButtonPacket?? in
            guard case .send(let value) = effect, value.first == connectionID else { return nil }
            return .some(channel.open(Array(value.dropFirst())).flatMap { try? ButtonPacket(decoding: $0) })
        }
    }

    /// Sends a packet and returns the button's immediate answers.
    mutating func ask(_ button: inout FlicPeripheral, _ packet: HostPacket) -> [ButtonPacket?] {
        packets(in: button.handle(.received(value(packet), random: []), at: now))
    }

    /// The first packet of a session, which asks for all stored events.
    static func initRequest(
        eventCount: UInt32 = 0, bootID: UInt32 = 0, autoDisconnectSeconds: UInt16 = 511,
        maximumQueuedPackets: UInt8 = 31, maximumQueuedAge: UInt32 = 0xFFFFF
    ) -> HostPacket {
        .initButtonEventsRequest(
            .init(
                eventCount: eventCount, bootID: bootID, autoDisconnectSeconds: autoDisconnectSeconds,
                maximumQueuedPackets: maximumQueuedPackets, maximumQueuedAge: maximumQueuedAge))
    }
}
