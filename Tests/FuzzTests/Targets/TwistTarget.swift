import ButtonModel

@testable import Flic

extension FuzzTarget {
    /// A Twist's session and arbitrary notifications with valid signatures: dials stay in their range, values that it
    /// sends fit the link, and nothing is acknowledged before it is synced.
    static let twist = FuzzTarget(name: "twist") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        guard var bench = TwistBench() else { return }
        while let step = input.step() { try bench.take(step, &input) }
    }
}

private struct TwistBench {
    private static let address = BluetoothAddress(rawValue: 0x80E4_DA01_0203)
    private static let entropy = SessionEntropy(
        temporaryID: 0x0102_0304, random: [1, 2, 3, 4, 5, 6, 7, 8], privateKey: [UInt8](repeating: 9, count: 32))
    private static let buttonRandom: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
    private static let attMTU = 140

    private var session: ButtonSession
    private var now = Instant(sinceBoot: .seconds(100))
    private var channel: SignedChannel
    private let fresh: SignedChannel
    private var told = EventCursor(bootID: 0x1234_5678, eventCount: 8)
    private var safe = EventCursor(bootID: 0x1234_5678, eventCount: 8)
    private var isLost = false

    init?() {
        guard let pairingKey = PairingKey([UInt8](repeating: 0x5A, count: 16)),
            let key = SessionKey(
                quickVerify: pairingKey, hostRandom: Array(Self.entropy.random.prefix(7)), flags: 0,
                buttonRandom: Self.buttonRandom)
        else { return nil }
        fresh = SignedChannel(key, as: .button)
        channel = fresh
        let pairing = Pairing(identifier: 0xCAFE, key: pairingKey)
        session = ButtonSession(
            .init(
                address: Self.address, purpose: .reconnect(pairing, told, advertisingConfigured: false), isTwist: true))
        _ = session.handle(.linkReady(attMTU: Self.attMTU, Self.entropy), at: now)
    }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        switch step & 0xF {
        case 0: try give(.received(input.chunk()))
        case 1, 2: try send(input.chunk())
        case 3, 4: try send([9] + input.chunk())
        case 5, 6: try send([10, step >> 4] + input.chunk())
        case 7:
            channel = fresh
            try send(
                ButtonPacket.quickVerifyResponse(
                    .init(random: Self.buttonRandom, temporaryID: Self.entropy.temporaryID)
                ).twistOctets)
        case 8:
            try send(
                ButtonPacket.initButtonEventsResponse(
                    .init(
                        hasQueuedEvents: step & 0x10 != 0, ticks: 1_000_000, eventCount: UInt32(input.octet()),
                        bootID: step & 0x20 == 0 ? 0x1234_5678 : UInt32(input.octet()))
                ).twistOctets)
        case 9:
            now = now + input.pause()
            try give(.timerFired)
        case 10:
            safe = told
            try give(.synced(told))
        case 11: try give(.restart(Self.entropy))
        case 12:
            let dials = Dial.all(of: .twist)
            try give(.perform(.setDial(dials[Int(step >> 4) % dials.count], units: Int(input.octet()) * 200)))
        case 13: try give(.perform(.setLEDMode(LEDMode(code: step >> 4))))
        case 14:
            let image = try? FirmwareImage(input.chunk(), for: .twist)
            try give(.perform(image.map { .updateFirmware($0) } ?? .disconnect(advertiseAgain: true)))
        default:
            guard step & 0x70 == 0 else { break }
            try give(.linkLost)
            isLost = true
        }
    }

    private mutating func send(_ octets: [UInt8]?) throws(BrokenPromise) {
        if let octets { try give(.received(channel.seal(octets))) }
    }

    private mutating func give(_ input: ButtonSession.Input) throws(BrokenPromise) {
        for effect in session.handle(input, at: now) {
            switch effect {
            case .send(let value):
                try promise("nothing is sent on a link that is lost", !isLost)
                try promise("a value fits the link", (1...Self.attMTU - 3).contains(value.count))
                if let opened = channel.open(value) { try look(at: opened) }
            case .ready(let cursor, _, _, _), .events(_, let cursor, _):
                try promise("the cursor never decreases", cursor.bootID != told.bootID || cursor.covers(told))
                told = cursor
            case .moved(let movements):
                for movement in movements {
                    try promise("a dial stays in its range", 0...Dial.unitsPerTurn ~= movement.units)
                    try promise("a position is 0 to 100", 0...100 ~= movement.position)
                    try promise("a slot is 1 to 12", 1...12 ~= movement.slot)
                }
            default: try promise("no pairing is given up without a proof", effect != .unpaired)
            }
        }
    }

    private func look(at octets: [UInt8]) throws(BrokenPromise) {
        switch try? HostPacket(decodingTwist: octets) {
        case .acknowledgeEvents(let eventCount):
            try promise(
                "only synced events are acknowledged", safe.bootID == told.bootID && eventCount <= safe.eventCount)
        case .twist(.updatePosition(let update)):
            try promise("a range is possible for a dial", abs(update.newMinimum) < 1 << 47)
        case .twist(.initButtonEventsRequest(let request)):
            try promise(
                "each mode begins within its range", request.configurations.allSatisfy { $0.position <= 49_152 })
        default: break
        }
    }
}
