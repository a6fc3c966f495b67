import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// The button's end of an established session, with control over every octet, for what a well-behaved button does not
/// do.
struct TestButton {
    static let address = BluetoothAddress(rawValue: 0x80E4_DA01_0203)
    static let bootID: UInt32 = 0x1234_5678
    static let pairing = Pairing(identifier: 0xCAFE, key: PairingKey([UInt8](repeating: 0x5A, count: 16)) ?? unusable)
    static let entropy = SessionEntropy(
        temporaryID: 0x0102_0304, random: [1, 2, 3, 4, 5, 6, 7, 8], privateKey: [UInt8](repeating: 9, count: 32))
    private static var unusable: PairingKey { preconditionFailure("sixteen octets are a key") }

    private var channel: SignedChannel
    private let connectionID: UInt8

    /// Answers the request that a session makes from `entropy`.
    ///
    /// - Returns: the button's end, and its QuickVerifyResponse as a GATT value.
    static func quickVerify(connectionID: UInt8 = 1, isDuo: Bool = false) -> (button: TestButton, response: [UInt8])? {
        let random: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        let key = SessionKey(
            quickVerify: pairing.key, hostRandom: Array(entropy.random.prefix(7)), flags: 0x40, buttonRandom: random)
        guard let key else { return nil }
        var button = TestButton(channel: SignedChannel(key, as: .button), connectionID: connectionID)
        let response = ButtonPacket.quickVerifyResponse(
            .init(random: random, temporaryID: entropy.temporaryID, isDuo: isDuo))
        let sealed = button.channel.seal(response.octets)
        return (button, [connectionID | 0x20] + sealed)
    }

    /// A signed packet as one GATT value, which fits the largest MTU.
    mutating func value(_ packet: ButtonPacket) -> [UInt8] { value(octets: packet.octets) }

    mutating func value(octets: [UInt8]) -> [UInt8] { [connectionID] + channel.seal(octets) }

    /// The packet in a value from the host, if its signature is right.
    mutating func open(_ value: [UInt8]) -> HostPacket? {
        guard value.first == connectionID, let packet = channel.open(Array(value.dropFirst())) else { return nil }
        return try? HostPacket(decoding: packet)
    }

    /// The packets the host sends among these effects; `nil` stands for one whose signature is wrong.
    mutating func packets(in effects: [ButtonSession.Effect]) -> [HostPacket?] {
        effects.compactMap { effect -> HostPacket?? in
            guard case .send(let value) = effect else { return nil }
            return .some(open(value))
        }
    }
}

extension ButtonSession {
    /// True until the button has sent the last of its stored events.
    var hasStoredEvents: Bool {
        guard case .ready(let ready) = state else { return false }
        return ready.hasStoredEvents
    }
}

/// A session past quick verify with a `TestButton` at its other end.
struct EstablishedTalk {
    var talk: Transcript<ButtonSession>
    var button: TestButton

    init?(
        cursor: EventCursor = EventCursor(bootID: TestButton.bootID, eventCount: 8), advertisingConfigured: Bool = true,
        latencyMode: LatencyMode = .normal, firmwareVersion: UInt32? = nil, pendingNickname: Nickname? = nil,
        isDuo: Bool = false, dials: [Dial: Int] = [:], mayLoseNotifications: Bool = false
    ) {
        talk = Transcript(
            ButtonSession(
                .init(
                    address: TestButton.address,
                    purpose: .reconnect(TestButton.pairing, cursor, advertisingConfigured: advertisingConfigured),
                    latencyMode: latencyMode, firmwareVersion: firmwareVersion, pendingNickname: pendingNickname,
                    dials: dials, mayLoseNotifications: mayLoseNotifications)))
        guard let (button, response) = TestButton.quickVerify(isDuo: isDuo) else { return nil }
        self.button = button
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        switch self.button.packets(in: talk.given(.received(response))).first {
        case .initButtonEventsRequest where !isDuo, .initButtonEventsDuoRequest where isDuo: break
        default: return nil
        }
    }

    /// Receives the init response and returns its effects.
    mutating func initialise(
        bootID: UInt32? = nil, eventCount: UInt32 = 8, ticks: UInt64 = 1_000_000, hasQueuedEvents: Bool = false
    ) -> [ButtonSession.Effect] {
        receive(
            .initButtonEventsResponse(
                .init(hasQueuedEvents: hasQueuedEvents, ticks: ticks, eventCount: eventCount, bootID: bootID)))
    }

    @discardableResult
    mutating func receive(_ packet: ButtonPacket) -> [ButtonSession.Effect] {
        talk.given(.received(button.value(packet)))
    }

    /// Receives the events of these codes in one notification.
    mutating func receive(_ eventCount: UInt32, _ codes: UInt8..., queued: Bool = false) -> [ButtonSession.Effect] {
        receive(
            .buttonEventNotification(
                EventNotification(
                    eventCount: eventCount,
                    items: codes.enumerated().map { index, code in
                        .init(
                            ticks: 900_000, code: EventCode(rawValue: code), wasQueued: queued,
                            wasQueuedLast: queued && index == codes.count - 1)
                    })))
    }

    mutating func sent(_ effects: [ButtonSession.Effect]) -> [HostPacket?] { button.packets(in: effects) }

    /// The session that has ended begins again after the pause, and the button answers its request.
    mutating func startAgain(after pause: Duration) throws {
        talk.wait(pause)
        #expect(talk.given(.timerFired) == [.needsEntropy])
        talk.given(.restart(TestButton.entropy))
        let (button, response) = try #require(TestButton.quickVerify())
        self.button = button
        _ = sent(talk.given(.received(response)))
    }
}
