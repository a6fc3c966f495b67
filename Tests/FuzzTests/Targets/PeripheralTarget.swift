import ButtonModel

@testable import Flic

extension FuzzTarget {
    /// A simulated button and arbitrary writes of a central, with valid and invalid signatures.
    static let peripheral = FuzzTarget(name: "peripheral") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        guard var bench = PeripheralBench() else { return }
        while let step = input.step() { try bench.take(step, &input) }
    }
}

/// A button that is paired with one host, and that host, which the script controls.
private struct PeripheralBench {
    static let pairing = PairingKey([UInt8](repeating: 0x5A, count: 16)).map { Pairing(identifier: 0xCAFE, key: $0) }
    private static let hostRandom: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
    private static let buttonRandom: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
    private static let attMTU = 140
    /// Shared by all runs, because making its certificate takes longer than a run.
    static let unused = FlicPeripheral(
        .init(
            address: BluetoothAddress(rawValue: 0x80E4_DA00_0007), serial: "BA00-A00007",
            uuid: [UInt8](repeating: 0xAB, count: 16), nickname: "Küche", firmwareVersion: 11, batteryMillivolts: 3000,
            privateKey: [UInt8](repeating: 0x17, count: 32), rootSeed: [UInt8](repeating: 0x42, count: 32),
            bootID: 4711, pairings: pairing.map { [$0] } ?? [], pingPeriod: .seconds(20)),
        at: Instant(sinceBoot: .seconds(10)))

    private var button = unused
    private var now = Instant(sinceBoot: .seconds(100))
    private var channel: SignedChannel
    private let fresh: SignedChannel
    private var isUp = true

    init?() {
        guard let pairing = Self.pairing,
            let key = SessionKey(
                quickVerify: pairing.key, hostRandom: Self.hostRandom, flags: 0, buttonRandom: Self.buttonRandom)
        else { return nil }
        fresh = SignedChannel(key, as: .host)
        channel = fresh
        _ = button.handle(.linkUp(attMTU: Self.attMTU), at: now)
    }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        switch step & 0xF {
        case 0: try write(input.chunk())
        case 1, 2, 3, 4: try write([step >> 4] + channel.seal(input.chunk()))
        case 5:
            channel = fresh
            let request = HostPacket.quickVerifyRequest(
                .init(random: Self.hostRandom, flags: 0, temporaryID: 7, pairingIdentifier: 0xCAFE))
            try write([0] + request.octets)
        case 6:
            let request = HostPacket.initButtonEventsRequest(
                .init(
                    eventCount: UInt32(input.octet()), bootID: step & 0x80 == 0 ? 4711 : 0, autoDisconnectSeconds: 511,
                    maximumQueuedPackets: input.octet(), maximumQueuedAge: 0xFFFFF))
            try write([step >> 4 & 7] + channel.seal(request.octets))
        case 7, 8:
            now = now + input.pause()
            try give(.timerFired)
        case 9: try give(.pressed)
        case 10: try give(.released)
        case 11: try give(.setPublicMode(step & 0x10 == 0))
        case 12:
            isUp = step & 0x10 == 0
            try give(isUp ? .linkUp(attMTU: Self.attMTU) : .linkDown)
        case 13: try give(.rebooted(bootID: UInt32(input.octet())))
        default: now = now + input.pause()
        }
    }

    private mutating func write(_ value: [UInt8]) throws(BrokenPromise) {
        try give(.received(value, random: Self.buttonRandom))
    }

    private mutating func give(_ input: FlicPeripheral.Input) throws(BrokenPromise) {
        for effect in button.handle(input, at: now) {
            guard case .send(let value) = effect else { continue }
            try promise("nothing is notified on a link that is down", isUp)
            try promise("a value fits the link", (2...Self.attMTU - 3).contains(value.count))
        }
    }
}
