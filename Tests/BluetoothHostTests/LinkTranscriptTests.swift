import BluetoothHost
import ButtonModel
import Bytes
import TestSupport
import Testing

@Suite("Links as central")
struct LinkTranscriptTests {
    private let connection = LEConnection(handle: link, peer: kitchen, role: .central)

    private func connected(_ info: ControllerInfo = Bench.info) -> Bench {
        var bench = Bench(info: info)
        bench.connect()
        return bench
    }

    // MARK: Attribute protocol

    @Test(
        "the ATT_MTU is the smaller of both sides' values, and at least 23",
        arguments: [(65, 65), (140, 140), (517, 140), (10, 23)] as [(UInt16, UInt16)])
    func exchangeMTU(offered: UInt16, effective: UInt16) {
        var bench = connected()
        bench.when(.perform(.exchangeMTU(link)), expect: .attribute([0x02, 140, 0]))
        var response = ByteWriter()
        response.uint8(0x03)
        response.uint16(offered)
        bench.when(.attribute(response.bytes), expect: .event(.mtuExchanged(link, attMTU: effective)))
    }

    @Test("a peer that does not know the MTU exchange has an ATT_MTU of 23")
    func exchangeNotSupported() {
        var bench = connected()
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.attribute([0x01, 0x02, 0, 0, 0x06]), expect: .event(.mtuExchanged(link, attMTU: 23)))
    }

    @Test("the peer's MTU exchange is answered, and ours is reported once, when it is answered")
    func bothExchange() {
        var bench = connected()
        bench.when(
            .attribute([0x02, 65, 0]), expect: .attribute([0x03, 140, 0]), .event(.mtuExchanged(link, attMTU: 65)))
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.attribute([0x02, 65, 0]), expect: .attribute([0x03, 140, 0]))
        bench.when(.attribute([0x03, 65, 0]), expect: .event(.mtuExchanged(link, attMTU: 65)))
    }

    @Test("a notification is delivered; an indication is delivered and confirmed")
    func notified() {
        var bench = connected()
        let attribute = AttributeHandle(rawValue: 0x0103)
        bench.when(.attribute([0x1B, 0x03, 0x01, 7, 8]), expect: .event(.notified(link, attribute, [7, 8])))
        bench.when(
            .attribute([0x1D, 0x03, 0x01, 9]), expect: .event(.indicated(link, attribute, [9])), .attribute([0x1E]))
    }

    @Test("notifications are enabled by a write with response")
    func setNotifications() {
        var bench = connected()
        let configuration = AttributeHandle(rawValue: 4)
        bench.when(
            .perform(.setNotifications(link, configuration: configuration, enabled: true)),
            expect: .attribute([0x12, 4, 0, 1, 0]))
        bench.when(
            .attribute([0x13]), expect: .event(.notificationsSet(link, configuration: configuration, enabled: true)))
        bench.when(
            .perform(.setNotifications(link, configuration: configuration, enabled: false)),
            expect: .attribute([0x12, 4, 0, 0, 0]))
        bench.when(
            .attribute([0x01, 0x12, 4, 0, 0x03]),
            expect: .event(
                .procedureFailed(
                    link, .setNotifications(configuration: configuration, enabled: false),
                    .errorResponse(code: 3, attributeHandle: 4))))
    }

    @Test("ATT procedures of a link run one after the other")
    func queued() {
        var bench = connected()
        bench.when(.perform(.exchangeMTU(link)), expect: .attribute([0x02, 140, 0]))
        bench.when(
            .perform(.setNotifications(link, configuration: AttributeHandle(rawValue: 4), enabled: true)),
            expect: .nothing)
        bench.when(
            .attribute([0x03, 140, 0]),
            expect: .event(.mtuExchanged(link, attMTU: 140)), .attribute([0x12, 4, 0, 1, 0]))
    }

    @Test("one procedure more than the bound fails at once")
    func tooManyProcedures() {
        var bench = connected()
        for _ in 0..<17 { bench.given(.perform(.exchangeMTU(link))) }
        bench.when(
            .perform(.exchangeMTU(link)), expect: .event(.procedureFailed(link, .exchangeMTU, .tooManyProcedures)))
    }

    @Test("an ATT request without answer for thirty seconds fails its procedure and ends the link")
    func timeout() {
        var talk = connected().talk
        // Before that time the controller has completed the packet, or the host has given it up.
        let completed = talk.now + .seconds(10)
        talk.when(.perform(.exchangeMTU(link)), expect: .attribute([0x02, 140, 0]), .setTimer(completed))
        talk.when(.freed(), expect: .nothing)
        talk.when(.perform(.exchangeMTU(link)), expect: .nothing)
        talk.wait(.seconds(10))
        talk.when(.timerFired, expect: .setTimer(completed + .seconds(20)))
        talk.wait(.seconds(20))
        talk.when(
            .timerFired,
            expect: .event(.procedureFailed(link, .exchangeMTU, .transactionTimedOut)),
            .event(.procedureFailed(link, .exchangeMTU, .linkLost)),
            .command(.disconnect(link, reason: .remoteUserTerminated)), .setTimer(talk.now + .seconds(2)))
        talk.when(.status(.disconnect), expect: .setTimer(talk.now + .seconds(10)))
        talk.when(.perform(.exchangeMTU(link)), expect: .event(.procedureFailed(link, .exchangeMTU, .linkLost)))
        talk.when(
            .event(.disconnectionComplete(.success, link, reason: .localHostTerminated)),
            expect: .event(.disconnected(connection, reason: .localHostTerminated)), .cancelTimer)
    }

    @Test("the timer is set to the nearest deadline of all links")
    func sharedTimer() {
        var bench = connected()
        bench.connect(otherLink, hall)
        bench.talk.given(.perform(.exchangeMTU(link)))
        bench.talk.given(.freed())
        let first = bench.talk.now + .seconds(30)
        bench.talk.wait(.seconds(10))
        let second = bench.talk.now + .seconds(30)
        bench.talk.when(.timerFired, expect: .setTimer(first))
        bench.talk.when(
            .perform(.exchangeMTU(otherLink)), expect: .attribute([0x02, 140, 0], on: otherLink),
            .setTimer(bench.talk.now + .seconds(10)))
        bench.talk.given(.freed(1, of: otherLink))
        bench.talk.wait(.seconds(10))
        bench.talk.when(.timerFired, expect: .setTimer(first))
        bench.talk.when(
            .attribute([0x03, 140, 0]), expect: .event(.mtuExchanged(link, attMTU: 140)), .setTimer(second))
        bench.talk.when(
            .attribute([0x03, 140, 0], on: otherLink),
            expect: .event(.mtuExchanged(otherLink, attMTU: 140)),
            // The deadline that is left is the check for a silent controller.
            .setTimer(Instant(nanoseconds: 120_000_000_000)))
        #expect(first < second)
    }

    @Test("when a link ends its procedures fail first, and then the link is reported as lost")
    func linkLost() {
        var bench = connected()
        bench.given(.perform(.discoverService(link, .short(0x180F))))
        bench.when(.perform(.exchangeMTU(link)), expect: .nothing)
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .connectionTimeout)),
            expect: .event(.procedureFailed(link, .discoverService(.short(0x180F)), .linkLost)),
            .event(.procedureFailed(link, .exchangeMTU, .linkLost)),
            .event(.disconnected(connection, reason: .connectionTimeout)))
        bench.when(.perform(.exchangeMTU(link)), expect: .event(.procedureFailed(link, .exchangeMTU, .linkLost)))
        bench.when(.perform(.write(link, AttributeHandle(rawValue: 3), [1])), expect: .nothing)
    }

    @Test("a response without a request is an anomaly, and ends nothing")
    func unexpectedResponse() {
        var bench = connected()
        bench.when(.attribute([0x13]), expect: .event(.anomaly("an unexpected attribute response, opcode 19")))
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.attribute([0x13]), expect: .event(.anomaly("an unexpected attribute response, opcode 19")))
        bench.when(.attribute([0x03, 140, 0]), expect: .event(.mtuExchanged(link, attMTU: 140)))
    }

    @Test("a response that is cut short fails its procedure")
    func malformedResponse() {
        var bench = connected()
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.attribute([0x03, 140]), expect: .event(.procedureFailed(link, .exchangeMTU, .malformedResponse)))
    }

    @Test("a central without services answers ATT requests with errors")
    func emptyServer() {
        var bench = connected()
        bench.when(.attribute([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28]), expect: .attribute([0x01, 0x10, 1, 0, 0x0A]))
        bench.when(.attribute([0x0A, 3, 0]), expect: .attribute([0x01, 0x0A, 3, 0, 0x01]))
        bench.when(.attribute([0x20, 1]), expect: .attribute([0x01, 0x20, 0, 0, 0x06]))
        bench.when(
            .attribute([0x10, 1]),
            expect: .attribute([0x01, 0x10, 0, 0, 0x04]), .event(.anomaly("a malformed attribute request, opcode 16")))
    }

    // MARK: Data

    @Test("a frame longer than a packet is cut, and the parts wait for free buffers")
    func fragmentationAndFlow() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = connected(info)
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.freed(), expect: .nothing)
        bench.given(.attribute([0x03, 140, 0]))
        let value = Array(0..<60 as Range<UInt8>)
        let frame = l2cap(4, [0x52, 3, 0] + value)
        bench.when(
            .perform(.write(link, AttributeHandle(rawValue: 3), value)),
            expect: .send(ACLDataPacket(handle: link, boundary: .firstFromHost, data: Array(frame[..<27])).packet))
        bench.when(.perform(.write(link, AttributeHandle(rawValue: 3), [1])), expect: .nothing)
        bench.when(
            .freed(),
            expect: .send(ACLDataPacket(handle: link, boundary: .continuing, data: Array(frame[27..<54])).packet))
        bench.when(
            .freed(),
            expect: .send(ACLDataPacket(handle: link, boundary: .continuing, data: Array(frame[54...])).packet))
        bench.when(.freed(), expect: .attribute([0x52, 3, 0, 1]))
        bench.when(.freed(), expect: .nothing)
    }

    @Test("links take turns at the buffers")
    func turns() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = connected(info)
        bench.connect(otherLink, hall)
        let attribute = AttributeHandle(rawValue: 3)
        bench.when(.perform(.write(link, attribute, [1])), expect: .attribute([0x52, 3, 0, 1]))
        bench.when(.perform(.write(link, attribute, [2])), expect: .nothing)
        bench.when(.perform(.write(link, attribute, [3])), expect: .nothing)
        bench.when(.perform(.write(otherLink, attribute, [9])), expect: .nothing)
        bench.when(.freed(), expect: .attribute([0x52, 3, 0, 2]))
        bench.when(.freed(), expect: .attribute([0x52, 3, 0, 9], on: otherLink))
        bench.when(.freed(of: otherLink), expect: .attribute([0x52, 3, 0, 3]))
    }

    @Test("the buffers of a link are free when it ends")
    func buffersReturned() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = connected(info)
        bench.connect(otherLink, hall)
        let attribute = AttributeHandle(rawValue: 3)
        bench.when(.perform(.write(link, attribute, [1])), expect: .attribute([0x52, 3, 0, 1]))
        bench.when(.perform(.write(otherLink, attribute, [9])), expect: .nothing)
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .connectionTimeout)),
            expect: .event(.disconnected(connection, reason: .connectionTimeout)),
            .attribute([0x52, 3, 0, 9], on: otherLink))
    }

    @Test("completed packets beyond those sent make no buffers free")
    func tooManyCompleted() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = connected(info)
        let attribute = AttributeHandle(rawValue: 3)
        bench.when(.perform(.write(link, attribute, [1])), expect: .attribute([0x52, 3, 0, 1]))
        bench.when(.freed(5), expect: .event(.anomaly("more packets of link 64 completed than were sent")))
        bench.when(.perform(.write(link, attribute, [2])), expect: .attribute([0x52, 3, 0, 2]))
        bench.when(.perform(.write(link, attribute, [3])), expect: .nothing)
    }

    @Test("a link queues a maximum of frames")
    func queueBound() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = connected(info)
        let write = LEHost.Input.perform(.write(link, AttributeHandle(rawValue: 3), [1]))
        for _ in 0...LEHost.maximumQueuedFrames { bench.given(write) }
        bench.when(write, expect: .event(.anomaly("too many frames wait on link 64; one was dropped")))
        for _ in 0..<LEHost.maximumQueuedFrames { bench.when(.freed(), expect: .attribute([0x52, 3, 0, 1])) }
        bench.when(.freed(), expect: .nothing)
    }

    @Test("ATT responses have room of their own in a full queue, up to a bound")
    func reservedFrames() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = connected(info)
        let dropped = LEHost.Effect.event(.anomaly("too many frames wait on link 64; one was dropped"))
        let write = LEHost.Input.perform(.write(link, AttributeHandle(rawValue: 3), [1]))
        for _ in 0...LEHost.maximumQueuedFrames { bench.given(write) }
        for _ in 0..<32 { bench.when(.attribute([0x0A, 3, 0]), expect: .nothing) }
        bench.when(.attribute([0x0A, 3, 0]), expect: dropped)
        bench.when(write, expect: dropped)
        for _ in 0..<LEHost.maximumQueuedFrames { bench.when(.freed(), expect: .attribute([0x52, 3, 0, 1])) }
        for _ in 0..<32 { bench.when(.freed(), expect: .attribute([0x01, 0x0A, 3, 0, 0x01])) }
        bench.when(.freed(), expect: .nothing)
    }

    @Test("a value that does not fit the ATT_MTU is not sent")
    func tooLong() {
        var bench = connected()
        let attribute = AttributeHandle(rawValue: 3)
        #expect(bench.given(.perform(.write(link, attribute, Array(repeating: 0, count: 20)))).count == 1)
        bench.when(
            .perform(.write(link, attribute, Array(repeating: 0, count: 21))),
            expect: .event(.anomaly("24 octets do not fit an ATT_MTU of 23")))
    }

    @Test("a frame in two packets is joined, wherever it is cut", arguments: 1..<24)
    func joined(cut: Int) {
        var bench = connected()
        let value = Array(0..<17 as Range<UInt8>)
        let frame = l2cap(4, [0x1B, 3, 0] + value)
        func packet(_ boundary: ACLDataPacket.Boundary, _ data: ArraySlice<UInt8>) -> LEHost.Input {
            .received(ACLDataPacket(handle: link, boundary: boundary, data: Array(data)).packet)
        }
        bench.when(packet(.firstFromController, frame[..<cut]), expect: .nothing)
        bench.when(
            packet(.continuing, frame[cut...]), expect: .event(.notified(link, AttributeHandle(rawValue: 3), value)))
    }

    @Test("packets that make no frame are dropped, and the next frame is delivered")
    func badFragments() {
        var bench = connected()
        func packet(_ boundary: ACLDataPacket.Boundary, _ data: [UInt8]) -> LEHost.Input {
            .received(ACLDataPacket(handle: link, boundary: boundary, data: data).packet)
        }
        let notified = LEHost.Effect.event(.notified(link, AttributeHandle(rawValue: 3), []))
        bench.when(packet(.continuing, [1, 2]), expect: .event(.anomaly("an L2CAP fragment without its beginning")))
        bench.when(packet(.firstFromController, [9, 0, 4, 0, 1]), expect: .nothing)
        bench.when(.attribute([0x1B, 3, 0]), expect: .event(.anomaly("an L2CAP frame was not finished")), notified)
        bench.when(
            packet(.firstFromController, [1, 0, 4, 0, 1, 2]),
            expect: .event(.anomaly("an L2CAP frame is longer than its length field")))
        bench.when(
            packet(.firstFromController, [0xFF, 0xFF, 4, 0, 1]),
            expect: .event(.anomaly("an L2CAP frame is longer than 521 octets")))
        bench.when(packet(.continuing, [1, 2]), expect: .nothing)
        bench.when(.attribute([0x1B, 3, 0]), expect: notified)
        bench.when(.frame(link, channel: 6, [1]), expect: .event(.anomaly("a frame for unknown L2CAP channel 6")))
        bench.when(
            .attribute([0x1B, 3, 0], on: otherLink), expect: .nothing)
    }

    // MARK: Connection parameters and the end

    private static let parameters = ConnectionParameters(
        intervalMinimum: 80, intervalMaximum: 90, peripheralLatency: 17, supervisionTimeout: 800)
    private static let parameterOctets: [UInt8] = [80, 0, 90, 0, 17, 0, 0x20, 0x03]

    @Test("a peripheral's request for connection parameters is granted if the values are valid")
    func signallingRequest() {
        var bench = connected()
        bench.when(
            .frame(link, channel: 5, [0x12, 7, 8, 0] + Self.parameterOctets),
            expect: .frame(link, channel: 5, [0x13, 7, 2, 0, 0, 0]),
            .command(.leConnectionUpdate(link, Self.parameters)))
        bench.when(.status(.leConnectionUpdate), expect: .nothing)
        bench.when(
            .event(
                .leConnectionUpdateComplete(
                    .success, link, interval: 90, peripheralLatency: 17, supervisionTimeout: 800)),
            expect: .event(.parametersUpdated(link, interval: 90, peripheralLatency: 17, supervisionTimeout: 800)))
    }

    @Test(
        "invalid connection parameters are refused",
        arguments: [
            [5, 0, 90, 0, 17, 0, 0x20, 0x03], [91, 0, 90, 0, 17, 0, 0x20, 0x03], [80, 0, 0x81, 0x0C, 0, 0, 0x80, 0x0C],
            [80, 0, 90, 0, 0xF4, 0x01, 0x20, 0x03], [80, 0, 90, 0, 17, 0, 9, 0], [80, 0, 90, 0, 17, 0, 0x95, 0x01],
        ] as [[UInt8]])
    func invalidParameters(octets: [UInt8]) {
        var bench = connected()
        bench.when(
            .frame(link, channel: 5, [0x12, 7, 8, 0] + octets),
            expect: .frame(link, channel: 5, [0x13, 7, 2, 0, 1, 0]))
        let event: [UInt8] = [0x04, 0x3E, 11, 0x06, 0x40, 0x00] + octets
        bench.when(
            .received(event),
            expect: .command(
                .leRemoteConnectionParameterRequestNegativeReply(link, reason: .unacceptableConnectionParameters)))
    }

    @Test("a parameter request from the controller is granted in the same way")
    func remoteRequest() {
        var bench = connected()
        bench.when(
            .event(.leRemoteConnectionParameterRequest(link, Self.parameters)),
            expect: .command(.leRemoteConnectionParameterRequestReply(link, Self.parameters)))
        bench.when(
            .completed(.leRemoteConnectionParameterRequestReply, .unknownCommand),
            expect: .event(.anomaly("0x2020 was refused: 0x01")))
    }

    @Test("an unknown signalling packet is rejected with its identifier")
    func unknownSignalling() {
        var bench = connected()
        bench.when(
            .frame(link, channel: 5, [0x17, 3, 2, 0, 1, 2]), expect: .frame(link, channel: 5, [0x01, 3, 2, 0, 0, 0]))
        bench.when(
            .frame(link, channel: 5, [0x17, 3, 9]), expect: .event(.anomaly("a signalling packet is too short")))
    }

    @Test("connection updates and disconnections are sent to the controller")
    func commands() {
        var bench = connected()
        bench.when(
            .perform(.updateConnection(link, Self.parameters)),
            expect: .command(.leConnectionUpdate(link, Self.parameters)))
        bench.when(
            .status(.leConnectionUpdate, .unacceptableConnectionParameters),
            expect: .event(.connectionUpdateFailed(link, HCIStatus(rawValue: 0x3B))))
        bench.when(
            .perform(.disconnect(link, reason: .remoteUserTerminated)),
            expect: .command(.disconnect(link, reason: .remoteUserTerminated)))
        bench.when(.status(.disconnect), expect: .nothing)
        bench.when(.perform(.disconnect(otherLink, reason: .remoteUserTerminated)), expect: .nothing)
    }

    @Test("a link that the controller does not know any more is reported as ended")
    func unknownLink() {
        var bench = connected()
        bench.given(.perform(.disconnect(link, reason: .remoteUserTerminated)))
        bench.when(
            .status(.disconnect, .unknownConnectionIdentifier),
            expect: .event(.disconnected(connection, reason: .unknownConnectionIdentifier)))
    }

    @Test("a new connection with a handle in use ends the link that had it")
    func handleAgain() {
        var bench = connected()
        let next = LEConnection(handle: link, peer: hall, role: .central)
        bench.when(
            .event(.leConnectionComplete(.up(next))),
            expect: .event(.disconnected(connection, reason: .unknownConnectionIdentifier)), .event(.connected(next)))
    }
}
