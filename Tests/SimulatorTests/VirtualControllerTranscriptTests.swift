import BluetoothHost
import ButtonModel
import Simulator
import TestSupport
import Testing

@Suite("Virtual controller")
struct VirtualControllerTranscriptTests {
    static let parameters = ConnectionParameters(
        intervalMinimum: 24, intervalMaximum: 40, peripheralLatency: 0, supervisionTimeout: 600)
    static let handle = ConnectionHandle(rawValue: 0x0040)

    func controller(_ change: (inout VirtualController.Configuration) -> Void = { _ in }) -> Transcript<
        VirtualController
    > {
        var configuration = VirtualController.Configuration(address: centralAddress)
        change(&configuration)
        var talk = Transcript(VirtualController(configuration))
        for packet in Packet.unmask { talk.given(.received(packet)) }
        return talk
    }

    @Test("a controller reports version 5.3, LE only, its address and its buffers")
    func description() {
        var talk = controller()
        talk.when(
            .received(Packet.command(.readLocalVersionInformation)),
            expect: .send(Packet.complete(.readLocalVersionInformation, [0, 0x0C, 0, 0, 0x0C, 0xFF, 0xFF, 0, 0])))
        talk.when(
            .received(Packet.command(.readLocalSupportedFeatures)),
            expect: .send(Packet.complete(.readLocalSupportedFeatures, [0, 0, 0, 0, 0, 0x60, 0, 0, 0])))
        talk.when(
            .received(Packet.command(.readBDADDR)),
            expect: .send(Packet.complete(.readBDADDR, [0, 0x01, 0x53, 0x00, 0x5E, 0x00, 0x00])))
        talk.when(
            .received(Packet.command(.leReadBufferSize)),
            expect: .send(Packet.complete(.leReadBufferSize, [0, 27, 0, 8])))
        talk.when(
            .received(Packet.command(.leReadFilterAcceptListSize)),
            expect: .send(Packet.complete(.leReadFilterAcceptListSize, [0, 16])))
    }

    @Test("a controller that shares its buffers reports 0 for LE, and its buffers for Read Buffer Size")
    func sharedBuffers() {
        var talk = controller { $0.sharesBuffers = true }
        talk.when(
            .received(Packet.command(.leReadBufferSize)),
            expect: .send(Packet.complete(.leReadBufferSize, [0, 0, 0, 0])))
        talk.when(
            .received(Packet.command(.readBufferSize)),
            expect: .send(Packet.complete(.readBufferSize, [0, 27, 0, 0, 8, 0, 0, 0])))
    }

    @Test("unknown commands are refused with 0x01, by Command Status or Command Complete as configured")
    func unknownCommands() {
        let vendor = HCIOpcode(rawValue: 0xFC01)
        var talk = controller()
        talk.when(.received(Packet.command(vendor, [1, 2])), expect: .send(Packet.status(vendor, .unknownCommand)))
        var completing = controller { $0.faults.completesUnknownCommands = true }
        completing.when(.received(Packet.command(vendor)), expect: .send(Packet.complete(vendor, [0x01])))
        var lacking = controller { $0.faults.unknownCommands = [.leReadFilterAcceptListSize] }
        lacking.when(
            .received(Packet.command(.leReadFilterAcceptListSize)),
            expect: .send(Packet.status(.leReadFilterAcceptListSize, .unknownCommand)))
    }

    @Test(
        "malformed commands are refused with 0x12",
        arguments: [
            Packet.command(.reset, [0]), Packet.command(.setEventMask, [1, 2, 3]),
            Packet.command(.leSetScanEnable, [2, 0]), Packet.command(.leSetAdvertisingEnable, []),
            Packet.advertisingParameters(interval: 0x1F), Packet.advertisingParameters(interval: 0x4001),
            Packet.command(.leSetAdvertisingData, [32] + [UInt8](repeating: 0, count: 31)),
            Packet.command(.leSetAdvertisingData, [3, 2, 1, 6]),
            Packet.command(.leSetScanParameters, [1, 0x10, 0, 0x11, 0, 0, 0]),
            Packet.command(.readRSSI, [0x40]), Packet.command(.readRSSI, [0, 0x0F]),
            Packet.command(.leAddDeviceToFilterAcceptList, [2, 0, 0, 0, 0, 0, 0]),
            [0x01, 0x03, 0x0C, 0x01], [0x01, 0x03, 0x0C], [0x01, 0x03, 0x0C, 0x00, 0x00],
        ])
    func malformed(_ packet: [UInt8]) {
        var talk = controller()
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        talk.when(
            .received(packet), expect: .violation("malformed parameters of command \(opcode)"),
            .send(Packet.complete(opcode, [0x12])))
    }

    @Test(
        "a connection whose supervision timeout is too short for its latency is refused",
        arguments: [(UInt8(10), UInt8(0), false), (11, 0, true), (20, 1, false), (21, 1, true)])
    func supervisionTimeout(_ timeout: UInt8, _ latency: UInt8, _ isAccepted: Bool) {
        // Twice an interval of 40 × 1.25 ms is 100 ms, which a timeout of 10 × 10 ms does not exceed.
        var talk = controller()
        let parameters: [UInt8] = [0x18, 0, 0x28, 0, latency, 0, timeout, 0, 0, 0, 0, 0]
        let packet = Packet.command(
            .leCreateConnection, [0x10, 0, 0x10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0] + parameters)
        let status = Packet.status(.leCreateConnection, isAccepted ? .success : .invalidParameters)
        #expect(talk.given(.received(packet)).contains(.send(status)))
    }

    @Test("a packet that is not HCI is a violation and changes nothing")
    func garbage() {
        var talk = controller()
        talk.when(.received([]), expect: .violation("an empty packet"))
        talk.when(.received([0x04, 0x0E]), expect: .violation("a packet that is neither command nor data: 040e"))
        talk.when(.received([0x01, 0x03]), expect: .violation("a command without an opcode"))
        talk.when(.received([0x02, 0x40]), expect: .violation("ACL data with a wrong length field"))
    }

    @Test("after Reset LE events are masked, advertising is off and the list is empty")
    func reset() {
        var talk = controller { $0.acceptListSize = 1 }
        talk.given(.received(Packet.accept(peripheralAddress)))
        talk.given(.received(Packet.createConnection(to: nil)))
        talk.when(.received(Packet.command(.reset)), expect: .send(Packet.complete(.reset, [0])))
        talk.when(
            .received(Packet.accept(strangerAddress)),
            expect: .send(Packet.complete(.leAddDeviceToFilterAcceptList, [0])))
        talk.when(
            .received(Packet.command(.leCreateConnectionCancel)),
            expect: .send(Packet.complete(.leCreateConnectionCancel, [0x0C])))
        talk.given(.received(Packet.createConnection(to: nil)))
        talk.when(.linked(Self.handle, peer: strangerAddress, role: .central, Self.parameters), expect: .nothing)
    }

    @Test("Reset discards links without informing their peers")
    func resetWithLink() {
        var talk = controller()
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        talk.when(
            .received(Packet.command(.reset)), expect: .abandon(Self.handle), .send(Packet.complete(.reset, [0])))
    }

    @Test("a cancelled connection is completed twice: the command first, then the connection with 0x02")
    func cancel() {
        var talk = controller()
        let cancel = Packet.command(.leCreateConnectionCancel)
        talk.when(.received(cancel), expect: .send(Packet.complete(.leCreateConnectionCancel, [0x0C])))
        talk.when(
            .received(Packet.createConnection(to: nil)),
            expect: .send(Packet.status(.leCreateConnection, .success)))
        talk.when(
            .received(Packet.createConnection(to: nil)),
            expect: .send(Packet.status(.leCreateConnection, .commandDisallowed)))
        talk.when(
            .received(cancel), expect: .send(Packet.complete(.leCreateConnectionCancel, [0])),
            .send(Packet.connectionCancelled))
        talk.when(.received(cancel), expect: .send(Packet.complete(.leCreateConnectionCancel, [0x0C])))
    }

    @Test("a full filter accept list refuses entries, and is locked while a connection that uses it is pending")
    func acceptList() {
        var talk = controller { $0.acceptListSize = 2 }
        let add = HCIOpcode.leAddDeviceToFilterAcceptList
        let remove = HCIOpcode.leRemoveDeviceFromFilterAcceptList
        talk.when(.received(Packet.accept(peripheralAddress)), expect: .send(Packet.complete(add, [0])))
        talk.when(.received(Packet.accept(peripheralAddress)), expect: .send(Packet.complete(add, [0])))
        talk.when(.received(Packet.accept(centralAddress)), expect: .send(Packet.complete(add, [0])))
        talk.when(.received(Packet.accept(strangerAddress)), expect: .send(Packet.complete(add, [0x07])))

        talk.given(.received(Packet.createConnection(to: nil)))
        let removal = Packet.command(remove, [0] + centralAddress.wireOctets)
        talk.when(.received(removal), expect: .send(Packet.complete(remove, [0x0C])))
        talk.when(.received(Packet.accept(peripheralAddress)), expect: .send(Packet.complete(add, [0x0C])))
        talk.when(
            .received(Packet.command(.leClearFilterAcceptList)),
            expect: .send(Packet.complete(.leClearFilterAcceptList, [0x0C])))

        talk.given(.received(Packet.command(.leCreateConnectionCancel)))
        talk.when(.received(removal), expect: .send(Packet.complete(remove, [0])))
        talk.when(.received(Packet.accept(strangerAddress)), expect: .send(Packet.complete(add, [0])))
    }

    @Test("a connection to one given peer does not use the filter accept list")
    func directConnection() {
        var talk = controller()
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.when(
            .received(Packet.accept(strangerAddress)),
            expect: .send(Packet.complete(.leAddDeviceToFilterAcceptList, [0])))
    }

    @Test("a controller without an accept list refuses entries")
    func noAcceptList() {
        var talk = controller { $0.acceptListSize = 0 }
        talk.when(
            .received(Packet.command(.leReadFilterAcceptListSize)),
            expect: .send(Packet.complete(.leReadFilterAcceptListSize, [0, 0])))
        talk.when(
            .received(Packet.accept(peripheralAddress)),
            expect: .send(Packet.complete(.leAddDeviceToFilterAcceptList, [0x07])))
    }

    @Test("an LE event that the host has not unmasked is dropped")
    func masks() {
        var talk = Transcript(VirtualController(.init(address: centralAddress)))
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.when(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters), expect: .nothing)
        let all = [UInt8](repeating: 0xFF, count: 8)
        for mask in [HCIOpcode.setEventMask, .leSetEventMask] {
            talk.when(.received(Packet.command(mask, all)), expect: .send(Packet.complete(mask, [0])))
        }
    }

    @Test("the enhanced event replaces Connection Complete if the host has enabled it")
    func enhanced() {
        var talk = controller()
        talk.given(.received(Packet.command(.leSetEventMask, [0x1F, 0x02, 0, 0, 0, 0, 0, 0])))
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.when(
            .linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters),
            expect: .send(
                [0x04, 0x3E, 0x1F, 0x0A, 0, 0x40, 0, 0, 0] + peripheralAddress.wireOctets
                    + [UInt8](repeating: 0, count: 12) + [0x28, 0, 0, 0, 0x58, 0x02, 0]))
    }

    @Test("a link beyond the limit is refused with 0x09, a second one to the same peer with 0x0B")
    func linkLimit() {
        var talk = controller { $0.maximumLinks = 2 }
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.when(
            .linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters),
            expect: .send(Packet.connected(0x40, role: 0, peer: peripheralAddress)))
        talk.when(
            .received(Packet.createConnection(to: peripheralAddress)),
            expect: .send(Packet.status(.leCreateConnection, .connectionAlreadyExists)))
        talk.given(.received(Packet.createConnection(to: strangerAddress)))
        talk.given(.linked(.init(rawValue: 0x41), peer: strangerAddress, role: .central, Self.parameters))
        talk.when(
            .received(Packet.createConnection(to: nil)),
            expect: .send(Packet.status(.leCreateConnection, .connectionLimitExceeded)))
        talk.when(
            .received(Packet.advertise),
            expect: .send(Packet.complete(.leSetAdvertisingEnable, [0x09])))
    }

    @Test("data beyond the buffers is lost and reported as an overflow; delivery frees a buffer")
    func buffers() {
        var talk = controller { $0.aclBufferCount = 1 }
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        talk.when(
            .received(Packet.acl(0x40, [1, 2])), expect: .transmit(Self.handle, .init(isFirst: true, data: [1, 2])))
        talk.when(
            .received(Packet.acl(0x40, [3])), expect: .violation("ACL data without a free buffer"),
            .send([0x04, 0x1A, 0x01, 0x01]))
        talk.when(.delivered(Self.handle), expect: .send(Packet.completed(0x40)))
        talk.when(
            .received(Packet.acl(0x40, isFirst: false, [3])),
            expect: .transmit(Self.handle, .init(isFirst: false, data: [3])))
        talk.when(
            .received(Packet.acl(0x40, [UInt8](repeating: 0, count: 28))), expect: .violation("ACL data of 28 octets"))
        talk.when(.received(Packet.aclToHost(0x40, [3])), expect: .violation("ACL data with flags 2"))
    }

    @Test("data from the peer is split to the packet length, and only the first packet begins a frame")
    func fragments() {
        var talk = controller { $0.aclDataLength = 27 }
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        let data = [UInt8](0..<30)
        talk.when(
            .arrived(Self.handle, .init(isFirst: true, data: data)),
            expect: .send(Packet.aclToHost(0x40, Array(data.prefix(27)))),
            .send(Packet.aclToHost(0x40, isFirst: false, [27, 28, 29])))
    }

    @Test("the RSSI of a peer is measured by the air, and refused with 0x02 for an unknown link")
    func signal() {
        var talk = controller()
        let ask = Packet.command(.readRSSI, [0x40, 0])
        talk.when(.received(ask), expect: .send(Packet.complete(.readRSSI, [0x02])))
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        talk.when(.received(ask), expect: .measure(Self.handle))
        talk.when(.measured(Self.handle, rssi: -71), expect: .send(Packet.complete(.readRSSI, [0, 0x40, 0, 0xB9])))
        talk.when(
            .received(Packet.command(.readLocalSupportedCommands)),
            expect: .send(
                Packet.complete(
                    .readLocalSupportedCommands,
                    [0, 0x20, 0, 0, 0, 0, 0xC0] + [UInt8](repeating: 0, count: 8) + [0xA8, 0x22]
                        + [UInt8](repeating: 0, count: 9) + [0xB7, 0xFF, 0x07, 0x08] + [0, 0, 0, 0, 0x30]
                        + [UInt8](repeating: 0, count: 30))))
    }

    @Test("a remote parameter request is passed to a host that has unmasked it, and otherwise refused")
    func parameterRequest() {
        var talk = controller()
        talk.given(.received(Packet.createConnection(to: peripheralAddress)))
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        talk.when(
            .parametersRequested(Self.handle, Self.parameters),
            expect: .refuseParameters(Self.handle, reason: .init(rawValue: 0x1A)))
        talk.given(.received(Packet.command(.leSetEventMask, [0x3F, 0, 0, 0, 0, 0, 0, 0])))
        talk.when(
            .parametersRequested(Self.handle, Self.parameters),
            expect: .send([0x04, 0x3E, 0x0B, 0x06, 0x40, 0, 0x18, 0, 0x28, 0, 0, 0, 0x58, 0x02]))
        let reply = HCIOpcode.leRemoteConnectionParameterRequestReply
        talk.when(
            .received(Packet.command(reply, [0x40, 0] + Packet.connectionParameters)),
            expect: .send(Packet.complete(reply, [0, 0x40, 0])), .updateParameters(Self.handle, Self.parameters))
        talk.when(
            .received(Packet.command(reply, [0x40, 0] + Packet.connectionParameters)),
            expect: .send(Packet.complete(reply, [0x0C])))
    }

    @Test(
        "each fault of a controller can be simulated: silence, no answer, an early connection event, a hardware error")
    func faults() {
        var silent = controller { $0.faults.isSilent = true }
        silent.when(.received(Packet.command(.reset)), expect: .nothing)

        var forgetful = controller { $0.faults.unansweredCommands = [.readBDADDR] }
        forgetful.when(.received(Packet.command(.readBDADDR)), expect: .nothing)
        forgetful.when(.received(Packet.command(.reset)), expect: .send(Packet.complete(.reset, [0])))

        var hasty = controller { $0.faults.reportsConnectionBeforeCommandStatus = true }
        hasty.when(.received(Packet.createConnection(to: peripheralAddress)), expect: .nothing)
        hasty.when(
            .linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters),
            expect: .send(Packet.connected(0x40, role: 0, peer: peripheralAddress)),
            .send(Packet.status(.leCreateConnection, .success)))

        var broken = controller()
        broken.when(.fault(.hardwareError(code: 0x42)), expect: .send([0x04, 0x10, 0x01, 0x42]))
    }

    @Test("with stopAnswering, commands are performed without a response until the power is lost")
    func mute() {
        var talk = controller()
        talk.when(.fault(.stopAnswering), expect: .nothing)
        talk.when(.received(Packet.createConnection(to: peripheralAddress)), expect: .nothing)
        talk.when(
            .linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters),
            expect: .send(Packet.connected(0x40, role: 0, peer: peripheralAddress)))
        talk.when(.received(Packet.command(.reset)), expect: .abandon(Self.handle))
        talk.when(.powerCycled, expect: .nothing)
        talk.when(.received(Packet.command(.reset)), expect: .send(Packet.complete(.reset, [0])))
    }

    @Test("a wedged controller neither receives nor sends, and loses its links with its power")
    func wedged() {
        var talk = controller()
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        talk.when(.fault(.wedge), expect: .nothing)
        talk.when(.received(Packet.command(.reset)), expect: .nothing)
        talk.when(.received(Packet.acl(0x40, [1])), expect: .nothing)
        talk.when(.arrived(Self.handle, ACLFragment(isFirst: true, data: [1])), expect: .nothing)
        talk.when(.powerCycled, expect: .abandon(Self.handle))
    }

    @Test("with loseCompletedPackets, two completed packets are not reported, and the third is")
    func lostPackets() {
        var talk = controller()
        talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
        talk.when(.fault(.loseCompletedPackets(2)), expect: .nothing)
        for _ in 0..<3 { talk.given(.received(Packet.acl(0x40, [1]))) }
        talk.when(.delivered(Self.handle), expect: .nothing)
        talk.when(.delivered(Self.handle), expect: .nothing)
        talk.when(.delivered(Self.handle), expect: .send(Packet.completed(0x40)))
    }

    @Test("a command is refused as many times as the fault specifies")
    func refusal() {
        var talk = controller()
        talk.when(.fault(.refuse(.readBDADDR, .commandDisallowed, count: 1)), expect: .nothing)
        talk.when(.received(Packet.command(.readBDADDR)), expect: .send(Packet.complete(.readBDADDR, [0x0C])))
        talk.when(
            .received(Packet.command(.readBDADDR)),
            expect: .send(Packet.complete(.readBDADDR, [0, 0x01, 0x53, 0x00, 0x5E, 0x00, 0x00])))
    }

    @Test("with delayConnectionComplete, the next connection event is delayed, and the one after it is not")
    func lateConnection() {
        var talk = controller()
        talk.when(.fault(.delayConnectionComplete(.milliseconds(40))), expect: .nothing)
        talk.when(
            .linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters),
            expect: .sendLater(
                Packet.connected(0x40, role: 0, peer: peripheralAddress), after: .milliseconds(40)))
        talk.when(
            .linked(ConnectionHandle(rawValue: 0x41), peer: strangerAddress, role: .central, Self.parameters),
            expect: .send(Packet.connected(0x41, role: 0, peer: strangerAddress)))
    }

    @Test("without scansWhileInitiating, scanning and initiating refuse each other")
    func radioForOne() {
        var talk = controller { $0.scansWhileInitiating = false }
        talk.when(
            .received(Packet.command(.leReadSupportedStates)),
            expect: .send(Packet.complete(.leReadSupportedStates, [0, 0xFF, 0xFF, 0x3F, 0xFF, 0xFF, 3, 0, 0])))
        talk.when(.received(Packet.scan()), expect: .send(Packet.complete(.leSetScanEnable, [0])))
        let create = Packet.createConnection(to: peripheralAddress)
        talk.when(.received(create), expect: .send(Packet.status(.leCreateConnection, .commandDisallowed)))
        talk.given(.received(Packet.command(.leSetScanEnable, [0, 0])))
        talk.when(.received(create), expect: .send(Packet.status(.leCreateConnection, .success)))
        talk.when(.received(Packet.scan()), expect: .send(Packet.complete(.leSetScanEnable, [0x0C])))
    }

    @Test("random octets in any state never trap", arguments: UInt64(0)..<20)
    func randomOctets(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var talk = controller { $0.maximumLinks = 3 }
        let opcodes: [UInt16] = [
            0x0406, 0x0C01, 0x0C03, 0x1001, 0x1003, 0x1005, 0x1009, 0x2001, 0x2005, 0x2006, 0x2008, 0x2009, 0x200A,
            0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2010, 0x2011, 0x2012, 0x2013, 0x201C, 0x2020, 0x2021,
        ]
        for step in 0..<500 {
            let length = Int.random(in: 0...40, using: &random)
            var packet = random.bytes(length)
            switch step % 4 {
            case 0:
                let opcode = opcodes[Int.random(in: 0..<opcodes.count, using: &random)]
                packet = Packet.command(HCIOpcode(rawValue: opcode), packet)
            case 1: packet = Packet.acl(0x40, packet)
            case 2: talk.given(.linked(Self.handle, peer: peripheralAddress, role: .central, Self.parameters))
            default: break
            }
            for case .send(let answer) in talk.given(.received(packet)) {
                #expect(answer.first == 0x04)
                #expect(answer.count == Int(answer[2]) + 3)
            }
        }
    }
}
