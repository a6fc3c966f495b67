import ButtonModel
import Bytes
import TestSupport
import Testing

@testable import BluetoothHost

/// The two hosts at the ends of one link. Each gets the other's packets and nothing else.
private struct TwoEnds {
    private(set) var tables: [ChannelTable]
    private var identifiers = [SignallingIdentifiers(), SignallingIdentifiers()]
    private(set) var received: [[[UInt8]]] = [[], []]
    private(set) var channels: [L2CAPChannel?] = [nil, nil]
    private(set) var failures: [ChannelFailure] = []
    private(set) var anomalies: [String] = []
    private(set) var frames = 0
    private let now = Instant(sinceBoot: .zero)
    private static let spsm = SPSM(rawValue: 0x80)

    init(_ configurations: [ChannelConfiguration]) {
        tables = configurations.map { ChannelTable($0.limited) }
        take(tables[0].open(Self.spsm, &identifiers[0], at: now), of: 0)
    }

    /// - Returns: whether the SDU was accepted.
    mutating func send(_ sdu: [UInt8], from end: Int) -> Bool {
        guard let channel = channels[end] else { return false }
        let effects = tables[end].send(sdu, on: channel.id)
        take(effects, of: end)
        return effects.isEmpty
    }

    mutating func setReceiving(_ isReceiving: Bool, at end: Int) {
        guard let channel = channels[end] else { return }
        take(tables[end].setReceiving(isReceiving, on: channel.id, &identifiers[end], at: now), of: end)
    }

    /// Passes one frame from one end to the other, if there is one.
    mutating func step(_ end: Int) -> Bool {
        guard tables[end].canSend else { return false }
        take(tables[end].nextFrame(), of: end)
        frames += 1
        return true
    }

    private mutating func take(_ effects: [ChannelTable.Effect], of end: Int) {
        for effect in effects {
            switch effect {
            case .send(let packet):
                take(
                    tables[1 - end].receive(packet, listening: [Self.spsm], &identifiers[1 - end], at: now),
                    of: 1 - end)
            case .sendFrame(let payload, let id):
                take(
                    tables[1 - end].receive(ByteReader(payload), on: id, &identifiers[1 - end], at: now), of: 1 - end)
            case .opened(let channel): channels[end] = channel
            case .received(_, let sdu): received[end].append(sdu)
            case .openFailed(_, let failure), .closed(_, let failure): failures.append(failure)
            case .anomaly(let text): anomalies.append(text)
            case .refused, .writable: break
            }
        }
    }
}

@Suite("Channels with random sizes")
struct ChannelPropertyTests {
    @Test(
        "SDUs of every size around the boundaries arrive as they were sent",
        arguments: [(23, 23), (23, 40), (46, 23), (100, 30), (517, 517), (1034, 517), (2000, 251)]
            as [(UInt16, UInt16)], [1, 2, 7] as [UInt16])
    func boundaries(sizes: (mtu: UInt16, mps: UInt16), credits: UInt16) {
        let configuration = ChannelConfiguration(mtu: sizes.mtu, mps: sizes.mps, credits: credits)
        var ends = TwoEnds([configuration, configuration])
        let (mtu, mps) = (Int(sizes.mtu), Int(sizes.mps))
        // The first K-frame has two octets less room, for the SDU length.
        let interesting = [0, 1, mps - 3, mps - 2, mps - 1, mps, 2 * mps - 3, 2 * mps - 2, 2 * mps - 1, mtu - 1, mtu]
        let lengths = interesting.filter { (0...mtu).contains($0) }
        for length in lengths {
            let isTaken = ends.send((0..<length).map { UInt8(truncatingIfNeeded: $0) }, from: 0)
            #expect(isTaken)
            while ends.step(0) {}
        }
        let isTooLongTaken = ends.send([UInt8](repeating: 0, count: mtu + 1), from: 0)
        #expect(!isTooLongTaken)
        #expect(ends.received[1].map(\.count) == lengths)
        #expect(
            ends.received[1].allSatisfy {
                $0.enumerated().allSatisfy { $0.element == UInt8(truncatingIfNeeded: $0.offset) }
            })
        #expect(ends.frames == lengths.reduce(0) { $0 + max(1, ($1 + 2 + mps - 1) / mps) })
        #expect(ends.failures.isEmpty && ends.anomalies.isEmpty)
    }

    @Test(
        "SDUs in both directions, in any order and with pauses, arrive complete and in order",
        arguments: 0..<100 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let configurations = (0..<2).map { _ in
            ChannelConfiguration(
                mtu: UInt16.random(in: 23...3000, using: &random), mps: UInt16.random(in: 23...517, using: &random),
                credits: UInt16.random(in: 1...20, using: &random))
        }
        var ends = TwoEnds(configurations)
        var sent: [[[UInt8]]] = [[], []]
        for _ in 0..<400 {
            let end = Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let sdu = random.bytes(Int.random(in: 0...Int(configurations[1 - end].mtu), using: &random))
                if ends.send(sdu, from: end) { sent[end].append(sdu) }
            case 2: ends.setReceiving(random.next() & 1 == 0, at: end)
            default: _ = ends.step(end)
            }
        }
        for end in 0..<2 { ends.setReceiving(true, at: end) }
        while ends.step(0) || ends.step(1) {}
        #expect(ends.received[1] == sent[0])
        #expect(ends.received[0] == sent[1])
        #expect(ends.failures.isEmpty && ends.anomalies.isEmpty)
    }

    @Test(
        "random frames of a peer neither trap nor make a queue grow without bound",
        arguments: 0..<200 as Range<UInt64>)
    func anything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var identifiers = SignallingIdentifiers()
        let configuration = ChannelConfiguration(mtu: 100, mps: 40, credits: UInt16.random(in: 1...8, using: &random))
        var table = ChannelTable(configuration)
        var now = Instant(sinceBoot: .zero)
        let listening: Set<SPSM> = [SPSM(rawValue: 0x80)]
        var open: Set<L2CAPChannelID> = []
        func id(_ random: inout SeededGenerator) -> L2CAPChannelID {
            L2CAPChannelID(rawValue: UInt16.random(in: 0x3E...0x4A, using: &random))
        }
        func number(_ random: inout SeededGenerator) -> UInt16 {
            [0, 1, 22, 23, 40, 517, 40_000, .max].randomElement(using: &random) ?? 0
        }
        for _ in 0..<400 {
            let identifier = UInt8.random(in: 0...12, using: &random)
            let offer = ChannelOffer(
                id: id(&random), mtu: number(&random), mps: number(&random), credits: number(&random))
            let effects: [ChannelTable.Effect]
            switch Int.random(in: 0..<12, using: &random) {
            case 0: effects = table.open(SPSM(rawValue: 0x80), &identifiers, at: now)
            case 1: effects = table.close(id(&random), &identifiers, at: now)
            case 2: effects = table.send(random.bytes(Int(number(&random)) % 600), on: id(&random))
            case 3: effects = table.nextFrame()
            case 4:
                now = now + .seconds(10)
                effects = table.timerFired(at: now)
            case 5, 6, 7:
                let octets = random.bytes(Int.random(in: 0...45, using: &random))
                effects = table.receive(ByteReader(octets), on: id(&random), &identifiers, at: now)
            default:
                let packets: [SignallingPacket] = [
                    .creditBasedConnectionRequest(identifier: identifier, SPSM(rawValue: 0x80), offer),
                    .creditBasedConnectionResponse(identifier: identifier, offer, result: identifier & 1 == 0 ? 0 : 4),
                    .disconnectionRequest(identifier: identifier, destination: id(&random), source: id(&random)),
                    .disconnectionResponse(identifier: identifier, destination: id(&random), source: id(&random)),
                    .flowControlCredit(identifier: identifier, channel: id(&random), credits: number(&random)),
                    .commandReject(identifier: identifier, reason: 0, data: []),
                ]
                guard let packet = packets.randomElement(using: &random) else { continue }
                effects = table.receive(packet, listening: listening, &identifiers, at: now)
            }
            for effect in effects {
                switch effect {
                case .opened(let channel): #expect(open.insert(channel.id).inserted)
                case .closed(let id, _): #expect(open.remove(id) != nil)
                case .received(let id, let sdu): #expect(open.contains(id) && sdu.count <= 100)
                case .sendFrame(let payload, _): #expect(payload.count <= 517)
                case .send, .openFailed, .refused, .writable, .anomaly: break
                }
            }
            #expect(open.count <= LEHost.maximumChannels)
        }
        let ended = table.linkEnded()
        for case .closed(let id, .linkLost) in ended { #expect(open.remove(id) != nil) }
        #expect(open.isEmpty)
        #expect(table.deadline == nil)
    }
}
