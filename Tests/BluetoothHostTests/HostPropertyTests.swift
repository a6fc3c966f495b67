import BluetoothHost
import ButtonModel
import Bytes
import TestSupport
import Testing

@Suite("The host with random input from a controller")
struct HostPropertyTests {
    enum Phase: CaseIterable {
        case closed, settingUp, ready, scanning, connected, discovering, reading, channelOpen, advertising, failed
    }

    private func host(in phase: Phase) -> Bench {
        var bench = Bench()
        bench.when(
            .perform(
                .setServices([
                    LocalService(uuid: .short(0x180F), characteristics: [.init(uuid: .short(0x2A19), properties: 0x1E)])
                ])), expect: .nothing)
        switch phase {
        case .closed: bench.given(.transportClosed)
        case .settingUp: bench.given(.transportOpened)
        case .ready: break
        case .scanning:
            bench.given(.perform(.setAcceptList([kitchen, hall])))
            bench.when(.perform(.startScanning(active: true)), expect: .nothing)
        case .connected: bench.connect()
        case .discovering:
            bench.connect()
            bench.given(.perform(.discoverService(link, .short(0x180F))))
            bench.when(.perform(.exchangeMTU(link)), expect: .nothing)
        case .reading:
            bench.connect()
            bench.given(.perform(.read(link, AttributeHandle(rawValue: 3))))
            bench.when(
                .perform(.writeWithResponse(link, AttributeHandle(rawValue: 3), Array(0..<100))), expect: .nothing)
            bench.when(.perform(.discoverServices(link)), expect: .nothing)
        case .channelOpen:
            bench.connect()
            bench.when(.perform(.listen(SPSM(rawValue: 0x80))), expect: .nothing)
            bench.given(.frame(link, channel: 5, [0x14, 1, 10, 0, 0x80, 0, 0x41, 0, 100, 0, 23, 0, 9, 0]))
            bench.given(.perform(.sendSDU(link, L2CAPChannelID(rawValue: 0x40), Array(0..<100))))
        case .advertising:
            bench.given(.perform(.startAdvertising(Advertisement(data: [2, 1, 6], scanResponse: [], interval: 32))))
        case .failed: bench.given(.event(.hardwareError(1)))
        }
        return bench
    }

    /// Random octets that pass the first checks: most have a known form around random contents.
    private func packet(_ random: inout SeededGenerator) -> [UInt8] {
        let body = random.bytes(Int.random(in: 0..<40, using: &random))
        func pick(_ octets: [UInt8]) -> UInt8 { octets[Int.random(in: octets.indices, using: &random)] }
        let handle: [UInt8] = [pick([0x40, 0x40, 0x41]), pick([0x20, 0x20, 0x20, 0x10, 0x00, 0x30])]
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return body
        case 1: return [pick([1, 2, 4])] + body
        case 2: return [4, pick([0x05, 0x0E, 0x0F, 0x13, 0x1A, 0x3E]), UInt8(body.count)] + body
        case 3:
            let subevent = [pick([1, 2, 3, 6, 10]), pick([0, 0, 1])] + [0x40, 0] + body
            return [4, 0x3E, UInt8(subevent.count)] + subevent
        case 4:
            let opcodes = Samples.commands.map(\.opcode)
            let opcode = opcodes[Int.random(in: opcodes.indices, using: &random)].rawValue
            let answer = [pick([0, 1, 1, 1]), UInt8(opcode & 0xFF), UInt8(opcode >> 8), pick([0, 0, 1, 0x0C])] + body
            return [4, 0x0E, UInt8(answer.count)] + answer
        default:
            let pdu =
                [
                    pick([
                        1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x0B, 0x0C, 0x0D, 0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x18,
                        0x19, 0x1B,
                        0x1D, 0x1E, 0x52,
                    ])
                ] + body
            let command = [
                pick([1, 6, 7, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17]), pick([1, 2, 3]), UInt8(body.count), 0,
            ]
            let channel = UInt16(pick([4, 4, 4, 5, 5, 6, 0x40, 0x40, 0x41]))
            let frame = l2cap(channel, channel == 5 ? command + body : channel == 0x40 ? [5, 0] + body : pdu)
            let cut =
                pick([0, 0, 0, 1]) == 0 ? frame : Array(frame.prefix(Int.random(in: 0...frame.count, using: &random)))
            return [2] + handle + [UInt8(cut.count), 0] + cut
        }
    }

    @Test(
        "no octets trap the host in any state, and every packet it sends is an HCI packet without a key",
        arguments: Phase.allCases, 0..<12 as Range<UInt64>)
    func anything(phase: Phase, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var talk = host(in: phase).talk
        var connected: Set<ConnectionHandle> =
            [.connected, .discovering, .reading, .channelOpen].contains(phase) ? [link] : []
        for _ in 0..<300 {
            let input: LEHost.Input =
                switch Int.random(in: 0..<40, using: &random) {
                case 0: .timerFired
                case 1: .perform(.exchangeMTU(link))
                case 2: .perform(.write(link, AttributeHandle(rawValue: 3), [1]))
                case 3: .perform(.setAcceptList(random.next() & 1 == 0 ? [kitchen] : [hall, kitchen]))
                case 4: .perform(random.next() & 1 == 0 ? .startScanning(active: true) : .stopScanning)
                case 5: .perform(.discoverService(link, .short(0x180F)))
                case 6: seed < 4 ? .transportOpened : .timerFired
                case 7: .perform(.read(link, AttributeHandle(rawValue: 3)))
                case 8: .perform(.openChannel(link, SPSM(rawValue: 0x80)))
                case 9: .perform(.sendSDU(link, L2CAPChannelID(rawValue: 0x40), Array(0..<50)))
                case 10: .perform(.indicate(link, AttributeHandle(rawValue: 3), [1]))
                case 11: .event(.numberOfCompletedPackets([CompletedPackets(handle: link, count: 2)]))
                case 12: .perform(.readRSSI(link))
                default: .received(packet(&random))
                }
            talk.wait(.milliseconds(Int64.random(in: 0..<1500, using: &random)))
            for effect in talk.given(input) {
                switch effect {
                case .send(let octets):
                    #expect(isPacket(octets))
                    #expect(!carriesKey(octets), "a capture would hold the key")
                case .event(.connected(let connection)): #expect(connected.insert(connection.handle).inserted)
                case .event(.disconnected(let connection, _)): #expect(connected.remove(connection.handle) != nil)
                case .event, .setTimer, .cancelTimer: break
                }
            }
        }
    }

    @Test(
        "a timer that fires is set to a later time or not at all",
        arguments: Phase.allCases, 100..<108 as Range<UInt64>)
    func timers(phase: Phase, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var talk = host(in: phase).talk
        var timer: Instant?
        func note(_ effects: [LEHost.Effect], at now: Instant) {
            for effect in effects {
                switch effect {
                case .setTimer(let deadline): timer = deadline
                case .cancelTimer: timer = nil
                case .send, .event: break
                }
            }
        }
        for step in 0..<400 {
            let input: LEHost.Input =
                switch Int.random(in: 0..<12, using: &random) {
                case 0: .perform(.setAcceptList([[], [kitchen], [hall, kitchen], Self.crowd][step % 4]))
                case 1: .perform(random.next() & 1 == 0 ? .startScanning(active: true) : .stopScanning)
                case 2: .perform(.write(link, AttributeHandle(rawValue: 3), [1]))
                case 3: .perform(.disconnect(link, reason: .remoteUserTerminated))
                default: .received(packet(&random))
                }
            note(talk.given(input), at: talk.now)
            guard let due = timer, Bool.random(using: &random) else { continue }
            talk.wait(due > talk.now ? due - talk.now : .zero)
            timer = nil
            note(talk.given(.timerFired), at: talk.now)
            if let timer { #expect(timer > talk.now) }
        }
    }

    private static let crowd = (0..<9 as Range<UInt64>).map { BluetoothAddress(rawValue: 0x80E4_DA00_0000 + $0) }

    @Test("commands beyond the bound of waiting commands are reported as refused")
    func commandBound() {
        var bench = Bench()
        bench.connect()
        let parameters = LEHost.Configuration().connectionParameters
        // The controller handles one of these commands at the moment.
        for _ in 0..<1025 { bench.given(.perform(.updateConnection(link, parameters))) }
        #expect(
            bench.given(.perform(.updateConnection(link, parameters))) == [
                .event(.anomaly("too many commands waiting; 0x2013 was dropped")),
                .event(.connectionUpdateFailed(link, .memoryCapacityExceeded)),
            ])
    }

    /// LE Encrypt, LE Enable Encryption and the two replies to a Long Term Key Request are the commands that carry
    /// keys. Without them a capture contains no key.
    private static let commandsWithKeys: Set<UInt16> = [0x2017, 0x2019, 0x201A, 0x201B]

    private func carriesKey(_ octets: [UInt8]) -> Bool {
        octets.first == 1 && Self.commandsWithKeys.contains(UInt16(octets[1]) | UInt16(octets[2]) << 8)
    }

    private func isPacket(_ octets: [UInt8]) -> Bool {
        switch octets.first {
        case 1: octets.count == 4 + Int(octets[3])
        case 2: octets.count > 5 && octets.count <= 32 && octets.count == 5 + Int(octets[3])
        default: false
        }
    }
}
