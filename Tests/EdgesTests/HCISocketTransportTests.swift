import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite struct HCISocketTransportTests {
    private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    private static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    @Test("each read is one packet, and an adapter that goes away is a failure")
    func packets() async {
        let outcome: ([UInt8], [HCITransportEvent])? = await onReactor { run in
            let (near, far) = socketPair(.seqpacket)
            let transport = HCISocketTransport(loop: run.loop, index: 3)
            var events: [HCITransportEvent] = []
            var sent = [UInt8](repeating: 0, count: 16)
            transport.open(with: near) { event in
                events.append(event)
                switch event {
                case .opened:
                    transport.send(Self.reset)
                    sent.removeLast(sent.count - max(0, read(far, &sent, sent.count)))
                    for _ in 0..<2 { _ = write(far, Self.answer, Self.answer.count) }
                case .received:
                    if events.count == 3 { close(far) }
                case .failed:
                    transport.send(Self.reset)
                    run.finish((sent, events))
                }
            }
        }
        #expect(outcome?.0 == Self.reset)
        #expect(
            outcome?.1 == [
                .opened, .received(Self.answer), .received(Self.answer), .failed(.adapterLost(index: 3)),
            ])
    }

    @Test("a packet of the maximum length arrives whole, and a longer one is a failure and not a part of a packet")
    func longPackets() async {
        let longest = [UInt8](repeating: 7, count: HCISocketTransport.maximumPacketLength)
        let events: [HCITransportEvent]? = await onReactor { run in
            let (near, far) = socketPair(.seqpacket)
            let transport = HCISocketTransport(loop: run.loop, index: 3)
            var events: [HCITransportEvent] = []
            transport.open(with: near) { event in
                events.append(event)
                switch event {
                case .opened: for packet in [longest, longest + [7]] { _ = write(far, packet, packet.count) }
                case .received: break
                case .failed:
                    transport.close()
                    close(far)
                    run.finish(events)
                }
            }
        }
        #expect(events == [.opened, .received(longest), .failed(.adapterLost(index: 3))])
    }

    @Test("packets that the adapter does not take wait in order, up to the bound")
    func queue() async {
        let outcome: ([UInt8], [HCITransportEvent])? = await onReactor { run in
            let (near, far) = socketPair(.seqpacket)
            let taken = fill(near)
            let transport = HCISocketTransport(loop: run.loop, index: 3)
            var events: [HCITransportEvent] = []
            transport.open(with: near) { event in
                events.append(event)
                if event != .opened { run.finish(([], events)) }
            }
            for number in 0..<HCISocketTransport.maximumQueued {
                transport.send([UInt8(truncatingIfNeeded: number)])
            }
            // Room for all of them; they come out as they went in.
            var octets = [UInt8](repeating: 0, count: 16)
            for _ in 0..<taken { _ = read(far, &octets, octets.count) }
            var numbers: [UInt8] = []
            _ = run.loop.watch(far, .read) { _ in
                if read(far, &octets, octets.count) == 1 { numbers.append(octets[0]) }
                if numbers.count == HCISocketTransport.maximumQueued {
                    transport.close()
                    run.finish((numbers, events))
                }
            }
        }
        #expect(outcome?.0 == (0..<HCISocketTransport.maximumQueued).map { UInt8(truncatingIfNeeded: $0) })
        #expect(outcome?.1 == [.opened])
    }

    @Test("one packet more than the bound is a failure")
    func queueBound() async {
        let events: [HCITransportEvent]? = await onReactor { run in
            let (near, _) = socketPair(.seqpacket)
            _ = fill(near)
            let transport = HCISocketTransport(loop: run.loop, index: 3)
            var events: [HCITransportEvent] = []
            transport.open(with: near) { event in
                events.append(event)
                if event != .opened {
                    _ = transport
                    run.finish(events)
                }
            }
            for _ in 0...HCISocketTransport.maximumQueued { transport.send(Self.reset) }
        }
        #expect(events == [.opened, .failed(.stalled("hci3"))])
    }

    @Test("an adapter that cannot be there fails once, and not from inside the call")
    func absentAdapter() async {
        let events: [HCITransportEvent]? = await onReactor { run in
            let transport = HCISocketTransport(loop: run.loop, index: 0xFFFE)
            var events: [HCITransportEvent] = []
            transport.open { event in
                events.append(event)
                transport.send([0x01, 0x03, 0x0C, 0x00])
                run.after(milliseconds: 20) { run.finish(events) }
            }
            if !events.isEmpty { run.finish([]) }
        }
        // Which of them depends on the machine: a kernel without Bluetooth, a user without rights, or neither.
        let possible: [TransportFailure] = [
            .noBluetoothInKernel, .noAdapter(index: 0xFFFE), .notPermitted(index: 0xFFFE),
        ]
        #expect(events?.count == 1)
        #expect(possible.map { HCITransportEvent.failed($0) }.contains(events?.first))
    }

    @Test("nothing is heard of an adapter closed while it was being opened")
    func closedWhileOpening() async {
        let events: [HCITransportEvent]? = await onReactor { run in
            let transport = HCISocketTransport(loop: run.loop, index: 0xFFFE)
            var events: [HCITransportEvent] = []
            transport.open { events.append($0) }
            transport.close()
            run.after(milliseconds: 20) { run.finish(events) }
        }
        #expect(events == [])
    }
}

/// Writes packets until the socket takes no more; how many it took.
private func fill(_ descriptor: Int32) -> Int {
    var count = 0
    while write(descriptor, "x", 1) == 1 { count += 1 }
    return count
}
