import BluetoothHost
import ButtonModel
import Bytes

extension FuzzTarget {
    /// A host with arbitrary packets of a controller and its peers: every packet of the host is valid, each link that
    /// ends has begun, and nothing is sent without a recipient.
    static let host = FuzzTarget(name: "host") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = try HostBench(isSetUp: input.octet() & 1 == 0)
        while let step = input.step() { try bench.take(step, &input) }
    }
}

/// A host, and a controller that the script controls.
private struct HostBench {
    private static let peers = [
        BluetoothAddress(rawValue: 0x80E4_DA00_0001), BluetoothAddress(rawValue: 0x80E4_DA00_0002),
    ]
    private static let services = [
        LocalService(uuid: .short(0x180F), characteristics: [.init(uuid: .short(0x2A19), properties: 0x3E)])
    ]
    private static let spsm = SPSM(rawValue: 0x80)

    private var host = LEHost()
    private var now = Instant(sinceBoot: .seconds(100))
    private var isOpen = false
    private var links: Set<ConnectionHandle> = []
    /// The command that was sent last, which a controller would answer.
    private var opcode: [UInt8] = [0, 0]

    init(isSetUp: Bool) throws(BrokenPromise) {
        _ = host.handle(.perform(.setServices(Self.services)), at: now)
        _ = host.handle(.perform(.listen(Self.spsm)), at: now)
        guard isSetUp else { return }
        isOpen = true
        remember(host.handle(.transportOpened, at: now))
        let answers: [[UInt8]] = [
            [], [12, 0, 0, 12, 15, 0, 0, 0], [0, 0, 0, 0, 0x40, 0, 0, 0], [0x55, 0x44, 0x33, 0x22, 0x11, 0], [], [],
            [27, 0, 4], [UInt8](repeating: 0xFF, count: 8), [2], [],
        ]
        var isReady = false
        for answer in answers {
            let effects = host.handle(.received(completed(answer)), at: now)
            remember(effects)
            for case .event(.ready) in effects { isReady = true }
        }
        try promise("a controller that answers is ready", isReady)
    }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let handle = ConnectionHandle(rawValue: 0x40 + UInt16(step >> 7))
        let peer = Self.peers[Int(step >> 6 & 1)]
        switch step & 0x1F {
        case 0: try give(.received(input.chunk()))
        case 1: try give(.received(event(0x3E, input.chunk())))
        case 2: try give(.received(completed(input.chunk())))
        case 3: try give(.received(event(0x0F, [input.octet(), 1] + opcode)))
        case 4: try give(.received(event(input.octet(), input.chunk())))
        // LE Connection Complete: handle, role, peer, interval, latency, timeout, clock accuracy.
        case 5:
            let role: [UInt8] = [step >> 5 & 1, 0]
            let rest: [UInt8] = [24, 0, 0, 0, 0x58, 2, 0]
            try give(.received(event(0x3E, [1, 0] + wire(handle) + role + peer.wireOctets + rest)))
        case 6: try give(.received(event(0x05, [0] + wire(handle) + [0x13])))
        case 7: try give(.received(acl(handle, first: true, input.chunk())))
        case 8: try give(.received(acl(handle, first: false, input.chunk())))
        case 9, 10, 11: try give(.received(acl(handle, first: true, frame(channel: 4, input.chunk()))))
        case 12: try give(.received(acl(handle, first: true, frame(channel: 5, input.chunk()))))
        case 13: try give(.received(event(0x13, [1] + wire(handle) + [input.octet(), 0])))
        case 14:
            now = now + input.pause()
            try give(.timerFired)
        case 15:
            isOpen = true
            try give(.transportOpened)
        case 16: try give(.transportClosed)
        case 17: try give(.perform(.startScanning(active: step & 0x40 != 0)))
        case 18: try give(.perform(.stopScanning))
        case 19: try give(.perform(.setAcceptList(step & 0x80 == 0 ? [peer] : Self.peers)))
        case 20: try give(.perform(.setAcceptList([])))
        case 21: try give(.perform(.disconnect(handle, reason: .remoteUserTerminated)))
        case 22: try give(.perform(.exchangeMTU(handle)))
        case 23: try give(.perform(.discoverService(handle, .short(0x180F))))
        case 24:
            let attribute = AttributeHandle(rawValue: UInt16(input.octet()))
            try give(.perform(.setNotifications(handle, configuration: attribute, enabled: step & 0x40 == 0)))
        case 25: try give(.perform(.write(handle, AttributeHandle(rawValue: 3), input.chunk())))
        case 26: try give(.perform(.notify(handle, AttributeHandle(rawValue: 3), input.chunk())))
        case 27:
            let advertisement = Advertisement(data: [2, 1, 6], scanResponse: [], interval: 32)
            try give(.perform(.startAdvertising(advertisement)))
        case 28: try give(.perform(.stopAdvertising))
        case 29: try ask(handle, &input)
        // A frame of the peer on an L2CAP channel of its own.
        case 30: try give(.received(acl(handle, first: true, frame(channel: 0x40 + (step >> 5 & 3), input.chunk()))))
        default:
            let parameters = ConnectionParameters(
                intervalMinimum: 24, intervalMaximum: 40, peripheralLatency: 0, supervisionTimeout: 600)
            try give(
                .perform(
                    step & 0x40 == 0 ? .updateConnection(handle, parameters) : .requestParameters(handle, parameters)))
        }
    }

    private mutating func ask(_ link: ConnectionHandle, _ input: inout FuzzInput) throws(BrokenPromise) {
        let kind = input.octet()
        let attribute = AttributeHandle(rawValue: UInt16(kind >> 4))
        let channel = L2CAPChannelID(rawValue: 0x40 + UInt16(kind >> 6))
        let command: LEHost.Command =
            switch kind & 0xF {
            case 0: .discoverServices(link)
            case 1: .read(link, attribute)
            case 2: .writeWithResponse(link, attribute, input.chunk())
            // Longer than any ATT_MTU.
            case 3: .writeWithResponse(link, attribute, input.chunk() + [UInt8](repeating: kind, count: 255))
            case 4: .setIndications(link, configuration: attribute, enabled: kind & 0x80 == 0)
            case 5: .setValue(attribute, input.chunk())
            case 6: .indicate(link, attribute, input.chunk())
            case 7: .setServices(kind & 0x80 == 0 ? Self.services : [])
            case 8: .openChannel(link, Self.spsm)
            case 9: .closeChannel(link, channel)
            case 10, 11, 12: .sendSDU(link, channel, input.chunk())
            case 13: .setReceiving(link, channel, kind & 0x20 == 0)
            case 14: .stopListening(Self.spsm)
            default: kind & 0x10 == 0 ? .listen(Self.spsm) : .readRSSI(link)
            }
        try give(.perform(command))
    }

    private mutating func give(_ input: LEHost.Input) throws(BrokenPromise) {
        let effects = host.handle(input, at: now)
        remember(effects)
        for effect in effects {
            switch effect {
            case .send(let packet):
                try promise("nothing is sent to a transport that is closed", isOpen)
                try promise("only valid packets are sent", isPacket(packet))
            case .event(.connected(let connection)):
                try promise("a link comes up once", links.insert(connection.handle).inserted)
            case .event(.disconnected(let connection, _)):
                try promise("only a link that is up ends", links.remove(connection.handle) != nil)
            default: break
            }
        }
        guard input == .transportClosed || input == .transportOpened else { return }
        isOpen = input == .transportOpened
        try promise("no link outlives the transport", links.isEmpty)
    }

    private mutating func remember(_ effects: [LEHost.Effect]) {
        for case .send(let packet) in effects where packet.first == 1 && packet.count >= 3 {
            opcode = Array(packet[1...2])
        }
    }

    // MARK: Octets

    private func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [4, code, UInt8(clamping: parameters.count)] + parameters.prefix(255)
    }

    private func completed(_ parameters: [UInt8]) -> [UInt8] { event(0x0E, [1] + opcode + [0] + parameters) }

    private func wire(_ handle: ConnectionHandle) -> [UInt8] {
        [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(truncatingIfNeeded: handle.rawValue >> 8)]
    }

    private func acl(_ handle: ConnectionHandle, first: Bool, _ data: [UInt8]) -> [UInt8] {
        ACLDataPacket(handle: handle, boundary: first ? .firstFromController : .continuing, data: data).packet
    }

    private func frame(channel: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [UInt8(payload.count), 0, channel, 0] + payload
    }

    private func isPacket(_ octets: [UInt8]) -> Bool {
        var reader = ByteReader(octets)
        guard let indicator = try? reader.uint8(), let _ = try? reader.uint16() else { return false }
        switch indicator {
        case 1: return (try? reader.uint8()).map(Int.init) == reader.remainingCount
        case 2: return (try? reader.uint16()).map(Int.init) == reader.remainingCount
        default: return false
        }
    }
}
