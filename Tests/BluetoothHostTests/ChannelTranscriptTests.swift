import BluetoothHost
import ButtonModel
import Bytes
import TestSupport
import Testing

@Suite("L2CAP credit-based channels")
struct ChannelTranscriptTests {
    private let spsm = SPSM(rawValue: 0x0081)
    private let id = L2CAPChannelID(rawValue: 0x40)
    /// SDUs of at most 64 octets in K-frames of at most 30, with four credits.
    private static let configuration = LEHost.Configuration(
        channels: ChannelConfiguration(mtu: 64, mps: 30, credits: 4))

    /// A link with ATT_MTU 23 and buffers for every packet.
    private func connected(_ configuration: LEHost.Configuration = configuration) -> Bench {
        var info = Bench.info
        info.aclDataLength = 251
        info.aclBufferCount = 255
        var bench = Bench(configuration, info: info)
        bench.connect()
        return bench
    }

    /// A channel that the host opened. The peer's channel id is 0x55, and it takes SDUs of 100 octets in K-frames of
    /// 23.
    private func open(credits: UInt16 = 3, _ configuration: LEHost.Configuration = configuration) -> Bench {
        var bench = connected(configuration)
        bench.given(.perform(.openChannel(link, spsm)))
        bench.given(.signalling([0x15, 1, 10, 0, 0x55, 0, 100, 0, 23, 0] + octets(credits) + [0, 0]))
        return bench
    }

    private func octets(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    private func sdu(_ octets: [UInt8]) -> LEHost.Input { .perform(.sendSDU(link, id, octets)) }

    /// Expects a violation to close the channel and to send a disconnection request to the peer.
    private func expectClosed(
        _ bench: inout Bench, _ input: LEHost.Input, identifier: UInt8 = 2, _ violation: ChannelViolation,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        bench.when(
            input, expect: .signalling([0x06, identifier, 4, 0, 0x55, 0, 0x40, 0]),
            .event(.channelClosed(link, id, .violation(violation))), sourceLocation: sourceLocation)
        // Frames and credits that were on their way are ignored.
        bench.when(.frame(link, channel: 0x40, [1, 0, 1]), expect: .nothing, sourceLocation: sourceLocation)
        bench.when(.signalling([0x16, 9, 4, 0, 0x55, 0, 1, 0]), expect: .nothing, sourceLocation: sourceLocation)
    }

    // MARK: Opening

    @Test("a channel is requested with the host's limits, and reported with the peer's")
    func opened() {
        var bench = connected()
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 1, 10, 0, 0x81, 0, 0x40, 0, 64, 0, 30, 0, 4, 0]))
        bench.when(
            .signalling([0x15, 1, 10, 0, 0x55, 0, 100, 0, 23, 0, 3, 0, 0, 0]),
            expect: .event(.channelOpened(link, L2CAPChannel(id: id, spsm: spsm, peerMTU: 100, isIncoming: false))))
    }

    @Test(
        "a refused channel is reported with the result code",
        arguments: [2, 4, 5, 6, 7, 8, 9, 10, 11] as [UInt8])
    func refused(result: UInt8) {
        var bench = connected()
        bench.given(.perform(.openChannel(link, spsm)))
        bench.when(
            .signalling([0x15, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, result, 0]),
            expect: .event(.channelOpenFailed(link, spsm, .refused(result: UInt16(result)))))
        bench.when(
            .signalling([0x15, 1, 10, 0, 0x55, 0, 100, 0, 23, 0, 3, 0, 0, 0]),
            expect: .event(.anomaly("an unexpected signalling response")))
    }

    @Test("a peer without credit-based channels rejects the request")
    func rejected() {
        var bench = connected()
        bench.given(.perform(.openChannel(link, spsm)))
        bench.when(
            .signalling([0x01, 1, 2, 0, 0, 0]), expect: .event(.channelOpenFailed(link, spsm, .rejected(reason: 0))))
    }

    @Test(
        "a response with invalid values opens no channel",
        arguments: [
            [0x3F, 0, 100, 0, 23, 0, 3, 0], [0x80, 0, 100, 0, 23, 0, 3, 0], [0x55, 0, 22, 0, 23, 0, 3, 0],
            [0x55, 0, 100, 0, 22, 0, 3, 0], [0x55, 0, 100, 0, 0xFE, 0xFF, 3, 0],
        ] as [[UInt8]])
    func malformedResponse(offer: [UInt8]) {
        var bench = connected()
        bench.given(.perform(.openChannel(link, spsm)))
        bench.when(
            .signalling([0x15, 1, 10, 0] + offer + [0, 0]),
            expect: .event(.channelOpenFailed(link, spsm, .malformedResponse)))
    }

    @Test("a channel request without answer for thirty seconds fails, and a later answer is an anomaly")
    func noAnswer() {
        var bench = connected()
        bench.given(.perform(.openChannel(link, spsm)))
        bench.when(.freed(), expect: .nothing)
        bench.wait(.milliseconds(29_999))
        bench.wait(.milliseconds(1), expect: .event(.channelOpenFailed(link, spsm, .noAnswer)))
        bench.when(
            .signalling([0x15, 1, 10, 0, 0x55, 0, 100, 0, 23, 0, 3, 0, 0, 0]),
            expect: .event(.anomaly("an unexpected signalling response")))
    }

    @Test("a link has a maximum of channels; one more fails at once, and ids are used again")
    func tooMany() {
        var bench = connected()
        for number in 0..<UInt8(LEHost.maximumChannels) {
            bench.when(
                .perform(.openChannel(link, spsm)),
                expect: .signalling([0x14, number + 1, 10, 0, 0x81, 0, 0x40 + number, 0, 64, 0, 30, 0, 4, 0]))
        }
        bench.when(.perform(.openChannel(link, spsm)), expect: .event(.channelOpenFailed(link, spsm, .tooManyChannels)))
        bench.when(.perform(.listen(spsm)), expect: .nothing)
        bench.when(
            .signalling([0x14, 7, 10, 0, 0x81, 0, 0x60, 0, 100, 0, 23, 0, 3, 0]),
            expect: .signalling([0x15, 7, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]))
        bench.given(.signalling([0x01, 3, 2, 0, 0, 0]))
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 9, 10, 0, 0x81, 0, 0x42, 0, 64, 0, 30, 0, 4, 0]))
    }

    @Test("without a link or channel nothing is opened, sent or closed")
    func noLink() {
        var bench = connected()
        bench.when(
            .perform(.openChannel(otherLink, spsm)), expect: .event(.channelOpenFailed(otherLink, spsm, .linkLost)))
        bench.when(
            .perform(.sendSDU(otherLink, id, [1])), expect: .event(.sduRefused(otherLink, id, .notOpen)))
        bench.when(sdu([1]), expect: .event(.sduRefused(link, id, .notOpen)))
        bench.when(.perform(.closeChannel(otherLink, id)), expect: .nothing)
        bench.when(.perform(.closeChannel(link, id)), expect: .nothing)
    }

    // MARK: Requests of the peer

    private func request(_ identifier: UInt8, spsm: UInt8 = 0x81, _ offer: [UInt8]) -> LEHost.Input {
        .signalling([0x14, identifier, 10, 0, spsm, 0] + offer)
    }

    @Test("a peer may open a channel to a PSM as long as the host listens on it")
    func listening() {
        var bench = connected()
        let offer: [UInt8] = [0x55, 0, 100, 0, 23, 0, 3, 0]
        bench.when(
            request(9, offer), expect: .signalling([0x15, 9, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]))
        bench.when(.perform(.listen(spsm)), expect: .nothing)
        bench.when(
            request(10, offer), expect: .signalling([0x15, 10, 10, 0, 0x40, 0, 64, 0, 30, 0, 4, 0, 0, 0]),
            .event(.channelOpened(link, L2CAPChannel(id: id, spsm: spsm, peerMTU: 100, isIncoming: true))))
        bench.when(.perform(.stopListening(spsm)), expect: .nothing)
        bench.when(
            request(11, [0x56, 0, 100, 0, 23, 0, 3, 0]),
            expect: .signalling([0x15, 11, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]))
        bench.when(sdu([7]), expect: .frame(link, channel: 0x55, [1, 0, 7]))
    }

    @Test(
        "an invalid channel request is refused with the result code of the specification",
        arguments: [
            (0x80, [0x55, 0, 100, 0, 23, 0, 3, 0], 2), (0x81, [0x3F, 0, 100, 0, 23, 0, 3, 0], 9),
            (0x81, [0x80, 0, 100, 0, 23, 0, 3, 0], 9), (0x81, [0x54, 0, 100, 0, 23, 0, 3, 0], 10),
            (0x81, [0x55, 0, 22, 0, 23, 0, 3, 0], 11), (0x81, [0x55, 0, 100, 0, 22, 0, 3, 0], 11),
        ] as [(UInt8, [UInt8], UInt8)])
    func refusing(spsm: UInt8, offer: [UInt8], result: UInt8) {
        var bench = connected()
        bench.when(.perform(.listen(self.spsm)), expect: .nothing)
        bench.given(request(9, [0x54, 0, 100, 0, 23, 0, 3, 0]))
        bench.when(
            request(10, spsm: spsm, offer),
            expect: .signalling([0x15, 10, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, result, 0]))
    }

    // MARK: Sending

    @Test("an SDU is sent in K-frames, its length in the first, as far as the credits reach")
    func sending() {
        var bench = open()
        let value = Array(0..<80 as Range<UInt8>)
        bench.when(
            sdu(value), expect: .frame(link, channel: 0x55, [80, 0] + value[..<21]),
            .frame(link, channel: 0x55, Array(value[21..<44])), .frame(link, channel: 0x55, Array(value[44..<67])))
        bench.when(sdu([7]), expect: .nothing)
        bench.when(
            .signalling([0x16, 9, 4, 0, 0x55, 0, 5, 0]), expect: .frame(link, channel: 0x55, Array(value[67...])),
            .frame(link, channel: 0x55, [1, 0, 7]))
        bench.when(sdu([]), expect: .frame(link, channel: 0x55, [0, 0]))
    }

    @Test("an SDU longer than the peer's MTU is refused and not sent")
    func sduTooLong() {
        var bench = open()
        bench.when(sdu(Array(repeating: 0, count: 101)), expect: .event(.sduRefused(link, id, .tooLong)))
        #expect(bench.given(sdu(Array(repeating: 0, count: 100))).count == 3)
    }

    @Test("a full queue refuses an SDU, and an event says when half of the queue is free")
    func backpressure() {
        var bench = open(credits: 0)
        let value = [UInt8](repeating: 0, count: 98)
        // Each SDU takes 100 of the queue's 65 537 octets.
        for _ in 0..<655 { bench.when(sdu(value), expect: .nothing) }
        bench.when(sdu(value), expect: .event(.sduRefused(link, id, .queueFull)))
        bench.when(sdu(Array(value.prefix(35))), expect: .nothing)
        bench.when(sdu([]), expect: .event(.sduRefused(link, id, .queueFull)))
        var frames = 0
        var writable: [Int] = []
        while frames < 4000 {
            var effects = bench.given(.signalling([0x16, 9, 4, 0, 0x55, 0, 1, 0]))
            bench.when(.freed(), expect: .nothing)
            if effects.contains(.event(.channelWritable(link, id))) {
                writable.append(frames)
                effects.removeAll { $0 == .event(.channelWritable(link, id)) }
            }
            guard effects.count == 1 else { break }
            frames += 1
        }
        // These are 656 SDUs: the long ones have five K-frames each, the short one has two.
        #expect(frames == 655 * 5 + 2)
        #expect(writable.count == 1)
        #expect((1630...1650).contains(writable.first ?? 0))
    }

    @Test("credits beyond 65535 close the channel; zero credits and credits for no channel are anomalies")
    func credits() {
        var bench = open(credits: 65_000)
        bench.when(
            .signalling([0x16, 9, 4, 0, 0x55, 0, 0, 0]),
            expect: .event(.anomaly("invalid credits (0) for L2CAP channel 85")))
        bench.when(
            .signalling([0x16, 9, 4, 0, 0x56, 0, 1, 0]),
            expect: .event(.anomaly("invalid credits (1) for L2CAP channel 86")))
        bench.when(.signalling([0x16, 9, 4, 0, 0x55, 0] + octets(535)), expect: .nothing)
        expectClosed(&bench, .signalling([0x16, 9, 4, 0, 0x55, 0, 1, 0]), .tooManyCredits)
    }

    // MARK: Receiving

    @Test("K-frames are joined to an SDU, and half of the credits are returned at once")
    func receiving() {
        var bench = open()
        bench.when(.frame(link, channel: 0x40, [40, 0] + Array(0..<28)), expect: .nothing)
        bench.when(
            .frame(link, channel: 0x40, Array(28..<40)), expect: .event(.sduReceived(link, id, Array(0..<40))),
            .signalling([0x16, 2, 4, 0, 0x40, 0, 2, 0]))
        bench.when(.frame(link, channel: 0x40, [0, 0]), expect: .event(.sduReceived(link, id, [])))
    }

    @Test("a channel that does not receive returns no credits, and all of them when it receives again")
    func setReceiving() {
        var bench = open()
        bench.when(.perform(.setReceiving(link, id, false)), expect: .nothing)
        for number in 0..<4 as Range<UInt8> {
            bench.when(
                .frame(link, channel: 0x40, [1, 0, number]), expect: .event(.sduReceived(link, id, [number])))
        }
        bench.when(
            .perform(.setReceiving(link, id, true)), expect: .signalling([0x16, 2, 4, 0, 0x40, 0, 4, 0]))
        bench.when(.perform(.setReceiving(link, id, true)), expect: .nothing)
    }

    @Test("a K-frame without a credit closes the channel")
    func noCredit() {
        var bench = open()
        bench.when(.perform(.setReceiving(link, id, false)), expect: .nothing)
        for _ in 0..<4 { bench.given(.frame(link, channel: 0x40, [1, 0, 1])) }
        expectClosed(&bench, .frame(link, channel: 0x40, [1, 0, 1]), .noCredit)
    }

    @Test(
        "an invalid K-frame closes the channel",
        arguments: [
            ([[1]], .noLength), ([[]], .noLength), ([[65, 0]], .sduTooLong), ([[0xFF, 0xFF]], .sduTooLong),
            ([[1, 0, 1, 2]], .sduOverrun), ([[30, 0] + Array(0..<28), [1, 2, 3]], .sduOverrun),
            ([[60, 0] + Array(0..<29)], .frameTooLong), ([Array(repeating: 1, count: 517)], .frameTooLong),
        ] as [([[UInt8]], ChannelViolation)])
    func violations(frames: [[UInt8]], violation: ChannelViolation) {
        var bench = open()
        for frame in frames.dropLast() { bench.when(.frame(link, channel: 0x40, frame), expect: .nothing) }
        expectClosed(&bench, .frame(link, channel: 0x40, frames.last ?? []), violation)
    }

    @Test("an L2CAP frame longer than the host keeps closes its channel")
    func oversized() {
        var bench = open()
        bench.when(
            .frame(link, channel: 0x40, Array(repeating: 0, count: 600)),
            expect: .event(.anomaly("an L2CAP frame is longer than 521 octets")),
            .signalling([0x06, 2, 4, 0, 0x55, 0, 0x40, 0]),
            .event(.channelClosed(link, id, .violation(.frameTooLong))))
    }

    @Test("a frame for an unknown channel is an anomaly", arguments: [0x40, 0x41, 0x7F] as [UInt16])
    func noChannel(channel: UInt16) {
        var bench = connected()
        bench.when(
            .frame(link, channel: channel, [1, 0, 1]),
            expect: .event(.anomaly("a frame for unknown L2CAP channel \(channel)")))
    }

    // MARK: Closing

    @Test("a channel closed by the host ends at once, and its id is free after the peer's answer")
    func closing() {
        var bench = open(credits: 0)
        bench.when(sdu([1]), expect: .nothing)
        bench.when(
            .perform(.closeChannel(link, id)), expect: .signalling([0x06, 2, 4, 0, 0x55, 0, 0x40, 0]),
            .event(.channelClosed(link, id, .closedByHost)))
        bench.when(.perform(.closeChannel(link, id)), expect: .nothing)
        bench.when(sdu([1]), expect: .event(.sduRefused(link, id, .notOpen)))
        bench.when(.signalling([0x16, 9, 4, 0, 0x55, 0, 1, 0]), expect: .nothing)
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 3, 10, 0, 0x81, 0, 0x41, 0, 64, 0, 30, 0, 4, 0]))
        bench.when(.signalling([0x07, 2, 4, 0, 0x55, 0, 0x40, 0]), expect: .nothing)
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 4, 10, 0, 0x81, 0, 0x40, 0, 64, 0, 30, 0, 4, 0]))
    }

    @Test("the id of a closed channel is free after thirty seconds without an answer")
    func closingSilence() {
        var bench = open()
        bench.given(.perform(.closeChannel(link, id)))
        bench.when(.freed(2), expect: .nothing)
        bench.wait(.seconds(30))
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 3, 10, 0, 0x81, 0, 0x40, 0, 64, 0, 30, 0, 4, 0]))
    }

    @Test("a channel closed by the peer is answered and ends; a peer that closes at the same time is answered, too")
    func closedByPeer() {
        var bench = open()
        bench.when(
            .signalling([0x06, 9, 4, 0, 0x40, 0, 0x55, 0]), expect: .signalling([0x07, 9, 4, 0, 0x40, 0, 0x55, 0]),
            .event(.channelClosed(link, id, .closedByPeer)))
        bench = open()
        bench.given(.perform(.closeChannel(link, id)))
        bench.when(
            .signalling([0x06, 9, 4, 0, 0x40, 0, 0x55, 0]), expect: .signalling([0x07, 9, 4, 0, 0x40, 0, 0x55, 0]))
        bench.when(
            .signalling([0x01, 2, 6, 0, 2, 0, 0x55, 0, 0x40, 0]),
            expect: .event(.anomaly("the peer rejected signalling packet 2")))
    }

    @Test("the end of an unknown channel is rejected with its ids, and an end with the wrong source id is ignored")
    func wrongDisconnection() {
        var bench = open()
        bench.when(
            .signalling([0x06, 9, 4, 0, 0x41, 0, 0x55, 0]),
            expect: .signalling([0x01, 9, 6, 0, 2, 0, 0x41, 0, 0x55, 0]))
        bench.when(.signalling([0x06, 9, 4, 0, 0x40, 0, 0x56, 0]), expect: .nothing)
        bench.when(sdu([7]), expect: .frame(link, channel: 0x55, [1, 0, 7]))
    }

    @Test("when a link ends its channels are closed first, and requested channels fail")
    func linkLost() {
        var bench = open()
        bench.given(.perform(.openChannel(link, spsm)))
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .connectionTimeout)),
            expect: .event(.channelClosed(link, id, .linkLost)),
            .event(.channelOpenFailed(link, spsm, .linkLost)),
            .event(
                .disconnected(LEConnection(handle: link, peer: kitchen, role: .central), reason: .connectionTimeout)))
    }

    @Test("the host's own limits are brought into the range of the specification")
    func limits() {
        var bench = connected(.init(channels: ChannelConfiguration(mtu: 0, mps: 0, credits: 0)))
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 1, 10, 0, 0x81, 0, 0x40, 0, 23, 0, 23, 0, 1, 0]))
        bench = connected(.init(channels: ChannelConfiguration(mtu: .max, mps: .max, credits: .max)))
        bench.when(
            .perform(.openChannel(link, spsm)),
            expect: .signalling([0x14, 1, 10, 0, 0x81, 0, 0x40, 0, 0xFF, 0xFF, 0x05, 2, 0xFF, 0xFF]))
    }

    // MARK: Sharing the controller's buffers

    /// A channel with much to send, on a controller with few and small buffers.
    private func busy(buffers: Int) -> Bench {
        var info = Bench.info
        info.aclBufferCount = buffers
        var bench = Bench(Self.configuration, info: info)
        bench.connect()
        bench.given(.perform(.openChannel(link, spsm)))
        bench.when(.freed(), expect: .nothing)
        bench.given(.signalling([0x15, 1, 10, 0, 0x55, 0, 0, 8, 0, 2, 0xE8, 3, 0, 0]))
        for _ in 0..<20 { bench.given(sdu(Array(repeating: 1, count: 2048))) }
        return bench
    }

    @Test("an ATT request waits for the rest of one K-frame, and not for the whole queue of a channel")
    func attributesFirst() throws {
        var bench = busy(buffers: 2)
        bench.when(.perform(.read(link, AttributeHandle(rawValue: 3))), expect: .nothing)
        var packets: [LEHost.Effect] = []
        while packets.count < 100, packets.last != .attribute([0x0A, 3, 0]) { packets += bench.given(.freed()) }
        // A K-frame of 512 octets is 20 packets, of which two were already sent.
        #expect(packets.count == 19)
    }

    @Test("an ATT request waits for one K-frame also if a buffer is reserved for another link")
    func attributesFirstBesideOthers() {
        var bench = busy(buffers: 4)
        bench.connect(otherLink, hall)
        for _ in 0..<30 { bench.given(.freed()) }
        bench.when(.perform(.read(link, AttributeHandle(rawValue: 3))), expect: .nothing)
        var packets: [LEHost.Effect] = []
        while packets.count < 100, packets.last != .attribute([0x0A, 3, 0]) { packets += bench.given(.freed()) }
        #expect(packets.count <= 20)
    }

    @Test("another link may send at once, and a buffer stays reserved for it")
    func otherLinks() {
        var bench = busy(buffers: 4)
        bench.connect(otherLink, hall)
        let write = LEHost.Input.perform(.write(otherLink, AttributeHandle(rawValue: 3), [9]))
        bench.when(write, expect: .nothing)
        bench.when(.freed(), expect: .attribute([0x52, 3, 0, 9], on: otherLink))
        // From now on the busy link leaves the fourth buffer to the other link.
        bench.when(.freed(of: otherLink), expect: .nothing)
        bench.when(write, expect: .attribute([0x52, 3, 0, 9], on: otherLink))
    }

    @Test("the channels of a link take turns at the buffers")
    func turns() {
        var info = Bench.info
        info.aclBufferCount = 1
        var bench = Bench(Self.configuration, info: info)
        bench.connect()
        bench.when(.perform(.listen(spsm)), expect: .nothing)
        for peer in [0x55, 0x56] as [UInt8] {
            bench.given(.signalling([0x14, peer, 10, 0, 0x81, 0, peer, 0, 100, 0, 23, 0, 9, 0]))
            bench.when(.freed(), expect: .nothing)
        }
        // The write takes the only buffer, so that the SDUs queue up.
        bench.given(.perform(.write(link, AttributeHandle(rawValue: 3), [0])))
        for number in 1...3 as ClosedRange<UInt8> { bench.when(sdu([number]), expect: .nothing) }
        for number in 4...5 as ClosedRange<UInt8> {
            bench.when(.perform(.sendSDU(link, L2CAPChannelID(rawValue: 0x41), [number])), expect: .nothing)
        }
        for (channel, number) in [(0x55, 1), (0x56, 4), (0x55, 2), (0x56, 5), (0x55, 3)] as [(UInt16, UInt8)] {
            bench.when(.freed(), expect: .frame(link, channel: channel, [1, 0, number]))
        }
        bench.when(.freed(), expect: .nothing)
    }
}

extension LEHost.Input {
    fileprivate static func signalling(_ packet: [UInt8]) -> LEHost.Input { .frame(link, channel: 5, packet) }
}

extension LEHost.Effect {
    fileprivate static func signalling(_ packet: [UInt8]) -> LEHost.Effect { .frame(link, channel: 5, packet) }
}
