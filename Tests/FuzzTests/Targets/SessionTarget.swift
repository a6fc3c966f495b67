import ButtonModel

@testable import Flic

extension FuzzTarget {
    /// A session and arbitrary notifications of a button, with valid and invalid signatures: it sends only values that
    /// fit the link, sends nothing after the link is lost, and never deletes a pairing, because a proof requires a
    /// certificate's key.
    static let session = FuzzTarget(name: "session") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        guard var bench = SessionBench(isKnown: input.octet() & 3 != 0) else { return }
        while let step = input.step() { try bench.take(step, &input) }
    }
}

/// What `ButtonSession.preview` has found in a value.
struct PreviewedEvent {
    var event: ButtonEvent
    var cursor: EventCursor

    /// True if this is all that the effects report.
    func isReported(in effects: [ButtonSession.Effect]) -> Bool {
        var count = 0
        for case .events(let events, let cursor, _) in effects {
            guard events == [event], cursor == self.cursor else { return false }
            count += 1
        }
        return count == 1
    }
}

extension ButtonSession {
    mutating func preview(of input: Input, at now: Instant) -> PreviewedEvent? {
        guard case .received(let value) = input, let found = preview(value[...], at: now) else { return nil }
        return PreviewedEvent(event: found.event, cursor: found.cursor)
    }
}

/// A session after the start of a link, and a button that the script controls. The script cannot forge signatures, so
/// it uses the key.
private struct SessionBench {
    private static let address = BluetoothAddress(rawValue: 0x80E4_DA01_0203)
    private static let entropy = SessionEntropy(
        temporaryID: 0x0102_0304, random: [1, 2, 3, 4, 5, 6, 7, 8], privateKey: [UInt8](repeating: 9, count: 32))
    private static let buttonRandom: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
    private static let attMTU = 140

    private var session: ButtonSession
    private var now = Instant(sinceBoot: .seconds(100))
    private var channel: SignedChannel
    private let fresh: SignedChannel
    private var cursor = EventCursor(bootID: 0x1234_5678, eventCount: 8)
    private var safe = EventCursor()
    private var isLost = false

    init?(isKnown: Bool) {
        guard let pairingKey = PairingKey([UInt8](repeating: 0x5A, count: 16)),
            let key = SessionKey(
                quickVerify: pairingKey, hostRandom: Array(Self.entropy.random.prefix(7)), flags: 0x40,
                buttonRandom: Self.buttonRandom)
        else { return nil }
        fresh = SignedChannel(key, as: .button)
        channel = fresh
        if isKnown { safe = cursor }
        let pairing = Pairing(identifier: 0xCAFE, key: pairingKey)
        session = ButtonSession(
            .init(
                address: Self.address,
                purpose: isKnown ? .reconnect(pairing, cursor, advertisingConfigured: false) : .pair))
        _ = session.handle(.linkReady(attMTU: Self.attMTU, Self.entropy), at: now)
    }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        switch step & 0xF {
        case 0: try give(.received(input.chunk()))
        case 1, 2, 3, 4: try give(.received([1] + channel.seal(input.chunk())))
        case 5:
            channel = fresh
            let response = ButtonPacket.quickVerifyResponse(
                .init(
                    random: Self.buttonRandom, temporaryID: Self.entropy.temporaryID, isDuo: step & 0x10 != 0))
            try give(.received([0x21] + channel.seal(response.octets)))
        case 6 where step & 0x40 != 0:
            let response = ButtonPacket.initButtonEventsDuoResponse(
                .init(
                    hasQueuedEvents: step & 0x10 != 0, milliseconds: 30_000, eventCount: UInt32(input.octet()),
                    smallEventCount: UInt32(input.octet()), bootID: step & 0x20 == 0 ? nil : UInt32(input.octet())))
            try give(.received([1] + channel.seal(response.octets)))
        case 6:
            let response = ButtonPacket.initButtonEventsResponse(
                .init(
                    hasQueuedEvents: step & 0x10 != 0, ticks: 1_000_000, eventCount: UInt32(input.octet()),
                    bootID: step & 0x20 == 0 ? nil : UInt32(input.octet())))
            try give(.received([1] + channel.seal(response.octets)))
        case 7, 8:
            now = now + input.pause()
            try give(.timerFired)
        case 9:
            safe = cursor
            try give(.synced(cursor))
        case 10: try give(.restart(Self.entropy))
        case 11: try give(.perform(command(step, &input)))
        case 12: now = now + .seconds(Int64(input.octet()) * 120)
        case 13 where step & 0x70 == 0:
            try give(.linkLost)
            isLost = true
        default:
            // A value in several frames.
            let sealed = channel.seal(input.chunk())
            try give(.received([0x81] + sealed.prefix(19)))
            try give(.received([1] + sealed.dropFirst(19)))
        }
    }

    private func command(_ step: UInt8, _ input: inout FuzzInput) -> ButtonSession.Command {
        switch step >> 4 & 7 {
        case 0: .setNickname(Nickname(String(decoding: input.chunk(), as: UTF8.self), chosenAt: 5))
        case 1: .setLatencyMode(.low)
        case 2: .setAutoDisconnectTime(UInt16(input.octet()) * 3)
        case 3: (try? FirmwareImage(input.chunk())).map { .updateFirmware($0) } ?? .cancelFirmwareUpdate
        case 4: .cancelFirmwareUpdate
        case 5: .factoryReset
        case 6: .disconnect(advertiseAgain: true)
        default: .abortLEDPattern
        }
    }

    private mutating func give(_ input: ButtonSession.Input) throws(BrokenPromise) {
        let preview = session.preview(of: input, at: now)
        let effects = session.handle(input, at: now)
        try promise("a previewed event is reported", preview?.isReported(in: effects) ?? true)
        for effect in effects {
            if case .send(let value) = effect {
                try promise("nothing is sent on a link that is lost", !isLost)
                try promise("a value fits the link", (2...Self.attMTU - 3).contains(value.count))
                try look(at: channel.open(Array(value.dropFirst())))
            }
            if case .events(_, let last, _) = effect { cursor = last }
            try promise("no pairing is given up without a proof", effect != .unpaired)
        }
    }

    private func look(at octets: [UInt8]?) throws(BrokenPromise) {
        let packet = octets.flatMap { try? HostPacket(decoding: $0) }
        let named: EventCursor? =
            switch packet {
            case .acknowledgeEvents(let count): EventCursor(bootID: safe.bootID, eventCount: count)
            case .acknowledgeDuoEvents(let big, let small):
                EventCursor(bootID: safe.bootID, eventCount: big, smallEventCount: small)
            default: nil
            }
        try promise("only synced events are acknowledged", named.map { safe.covers($0) } ?? true)
    }
}
