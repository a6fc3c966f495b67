import ButtonModel

@testable import Flic

extension FuzzTarget {
    /// A host and a button, with an attacker that drops, repeats, truncates and changes their packets: both sides agree
    /// on the same keys, and no event comes twice or out of order.
    static let twoEnds = FuzzTarget(name: "two-ends") { octets throws(BrokenPromise) in
        // The inputs are divided equally between the three models.
        let unused = [TwoEndsBench.flic2, TwoEndsBench.duo, TwoEndsBench.twist]
        var bench = TwoEndsBench(FuzzInput(octets), unused[octets.count % unused.count])
        try bench.run()
    }
}

private struct TwoEndsBench {
    private static let rootSeed = [UInt8](repeating: 0x42, count: 32)
    private static let address = BluetoothAddress(rawValue: 0x80E4_DA00_0007)
    /// The limit for one run; a longer script is cut off.
    private static let maximumDeliveries = 200
    /// Shared by all runs, because making its certificate takes longer than a run.
    static let flic2 = button(.flic2)
    static let duo = button(.duo)
    static let twist = button(.twist)

    private static func button(_ model: FlicModel) -> FlicPeripheral {
        FlicPeripheral(
            .init(
                address: address, serial: "BA00-A00007", uuid: [UInt8](repeating: 0xAB, count: 16), nickname: "Küche",
                firmwareVersion: 11, batteryMillivolts: 3000, privateKey: [UInt8](repeating: 0x17, count: 32),
                rootSeed: rootSeed, bootID: 4711, pairings: [], pingPeriod: nil, model: model),
            at: Instant(sinceBoot: .seconds(10)))
    }

    private static let root = FlicPeripheral.rootPublicKey(seed: rootSeed)

    private enum Delivery {
        case toHost([UInt8])
        case toButton([UInt8])
    }

    private var input: FuzzInput
    private var now = Instant(sinceBoot: .seconds(100))
    private var session: ButtonSession
    private var button: FlicPeripheral
    private var air: [Delivery] = []
    private var deliveries = 0
    private var lastEvent: EventCursor?

    init(_ input: FuzzInput, _ unused: FlicPeripheral) {
        self.input = input
        button = unused
        session = ButtonSession(
            .init(
                address: Self.address, purpose: .pair, trustRoots: [Self.root], isTwist: unused.dialSnapshot != nil))
    }

    mutating func run() throws(BrokenPromise) {
        _ = button.handle(.setPublicMode(true), at: now)
        tell(button.handle(.linkUp(attMTU: 140), at: now))
        try tell(session.handle(.linkReady(attMTU: 140, entropy), at: now))
        try deliver()
        while let step = input.step(), deliveries < Self.maximumDeliveries {
            switch step & 3 {
            case 0 where step & 0x10 != 0: tell(button.handle(.turned(units: Int(step) * 200), at: now))
            case 0:
                let part: ButtonPart = step & 8 == 0 ? .big : .small
                tell(button.handle(step & 4 == 0 ? .partPressed(part) : .partReleased(part, swipe: nil), at: now))
            case 1: now = now + input.pause()
            case 2: try tell(session.handle(.timerFired, at: now))
            default: tell(button.handle(.timerFired, at: now))
            }
            try deliver()
        }
        let positions = button.dialSnapshot.map { Array($0.positions.values) } ?? []
        try promise("a dial stays in its range", positions.allSatisfy { 0...Dial.unitsPerTurn ~= $0 })
    }

    private mutating func deliver() throws(BrokenPromise) {
        while !air.isEmpty, deliveries < Self.maximumDeliveries {
            deliveries += 1
            let delivery = air.removeFirst()
            let fate = input.octet()
            // Most packets arrive.
            if fate & 0xF0 == 0x10 { continue }
            if fate & 0xF0 == 0x20 { air.append(delivery) }
            switch delivery {
            case .toHost(let value):
                let input = ButtonSession.Input.received(changed(value, by: fate))
                let preview = session.preview(of: input, at: now)
                let effects = session.handle(input, at: now)
                try promise("a previewed event is reported", preview?.isReported(in: effects) ?? true)
                try tell(effects)
            case .toButton(let value):
                tell(button.handle(.received(changed(value, by: fate), random: entropy.random), at: now))
            }
        }
    }

    private mutating func changed(_ value: [UInt8], by fate: UInt8) -> [UInt8] {
        switch fate & 0xF0 {
        case 0x30: return Array(value.prefix(Int(input.octet())))
        case 0x40:
            var changed = value
            if let index = value.indices.dropFirst(Int(input.octet()) % max(value.count, 1)).first {
                changed[index] ^= 1 << (fate & 7)
            }
            return changed
        default: return value
        }
    }

    private mutating func tell(_ effects: [FlicPeripheral.Effect]) {
        for case .send(let value) in effects { air.append(.toHost(value)) }
    }

    private mutating func tell(_ effects: [ButtonSession.Effect]) throws(BrokenPromise) {
        for effect in effects {
            switch effect {
            case .send(let value): air.append(.toButton(value))
            case .paired(_, let pairing, _):
                try promise("both sides keep the same pairing", button.pairings.contains(pairing))
            case .events(_, let cursor, let needsAcknowledgement):
                if let lastEvent, lastEvent.bootID == cursor.bootID {
                    try promise("events count upward", cursor.eventCount >= lastEvent.eventCount)
                    try promise(
                        "events of the small button count upward", cursor.smallEventCount >= lastEvent.smallEventCount)
                }
                lastEvent = cursor
                if needsAcknowledgement { try tell(session.handle(.synced(cursor), at: now)) }
            case .moved(let movements):
                try promise(
                    "a reported dial stays in its range", movements.allSatisfy { 0...Dial.unitsPerTurn ~= $0.units })
            case .needsEntropy: try tell(session.handle(.restart(entropy), at: now))
            default: break
            }
        }
    }

    private var entropy: SessionEntropy {
        SessionEntropy(
            temporaryID: UInt32(deliveries), random: [UInt8](repeating: UInt8(deliveries & 0xFF), count: 8),
            privateKey: [UInt8](repeating: 9, count: 32))
    }
}
