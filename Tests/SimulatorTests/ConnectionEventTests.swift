import BluetoothHost
import ButtonModel
import Simulator
import TestSupport
import Testing

@Suite("Connection events of links on the air")
struct ConnectionEventTests {
    /// An air with a link whose first event was at `linked`, and the packets that arrive.
    private struct Line {
        let linked: Instant
        private(set) var now: Instant
        private var air: Air
        private var timer: Instant?
        private var arrivals: [(time: Instant, station: Air.Station, packet: [UInt8])] = []

        init() {
            let controllers = [centralAddress, peripheralAddress].map { VirtualController.Configuration(address: $0) }
            now = Instant(sinceBoot: .zero)
            // The advertiser, which has begun at 0, and the initiator meet after one interval of 20 ms.
            linked = Instant(sinceBoot: .milliseconds(20))
            air = Air(controllers, .init(hasConnectionEvents: true), seed: 1, at: now)
            for station in 0..<2 {
                for packet in Packet.unmask { give(.received(packet, from: station)) }
            }
            give(.received(Packet.advertisingParameters(interval: 32), from: 1))
            give(.received(Packet.advertise, from: 1))
            give(.received(Packet.createConnection(to: peripheralAddress), from: 0))
            wait(until: .zero)
        }

        mutating func give(_ input: Air.Input) {
            for effect in air.handle(input, at: now) {
                switch effect {
                case .send(let packet, let station): arrivals.append((now, station, packet))
                case .setTimer(let deadline): timer = deadline
                case .cancelTimer: timer = nil
                case .violation(_, let text): Issue.record("\(text)")
                }
            }
        }

        /// Lets time pass until `duration` after the first connection event.
        mutating func wait(until duration: Duration) {
            let end = linked + duration
            while let next = timer, next <= end {
                now = next
                timer = nil
                give(.timerFired)
            }
            now = end
        }

        mutating func send(_ octet: UInt8, from station: Air.Station) {
            give(.received(Packet.acl(0x40, [octet]), from: station))
        }

        /// The central gives the link an interval in units of 1.25 ms, and a latency.
        mutating func update(interval: UInt16, latency: UInt16) {
            let parameters =
                Packet.wire(interval) + Packet.wire(interval) + Packet.wire(latency) + Packet.wire(800) + [0, 0, 0, 0]
            give(.received(Packet.command(.leConnectionUpdate, [0x40, 0] + parameters), from: 0))
        }

        /// How long after the first connection event the octet arrived.
        func arrival(of octet: UInt8, at station: Air.Station) -> Duration? {
            arrivals.first { $0.station == station && $0.packet == Packet.aclToHost(0x40, [octet]) }
                .map { $0.time - linked }
        }

        /// When both ends have learned that the parameters have changed.
        var updates: [Duration] {
            arrivals.filter { $0.packet.starts(with: [0x04, 0x3E, 0x0A, 0x03, 0x00]) }.map { $0.time - linked }
        }

        var events: Int { air.connectionEvents(of: 1, at: now) }
    }

    @Test("without latency, both ends transmit in the next event; each event of 50 ms counts")
    func noLatency() {
        var line = Line()
        line.wait(until: .milliseconds(10))
        line.send(1, from: 0)
        line.wait(until: .milliseconds(60))
        line.send(2, from: 1)
        line.wait(until: .milliseconds(100))
        line.send(3, from: 1)
        line.wait(until: .milliseconds(510))
        #expect(line.arrival(of: 1, at: 1) == .milliseconds(50))
        #expect(line.arrival(of: 2, at: 0) == .milliseconds(100))
        #expect(line.arrival(of: 3, at: 0) == .milliseconds(150))
        #expect(line.events == 10)
    }

    @Test("new parameters take effect six events after they have arrived, whatever is sent meanwhile")
    func update() {
        var line = Line()
        line.update(interval: 80, latency: 1)
        line.send(1, from: 0)
        line.wait(until: .milliseconds(60))
        line.send(2, from: 1)
        line.wait(until: .milliseconds(340))
        #expect(line.arrival(of: 1, at: 1) == .milliseconds(50))
        #expect(line.arrival(of: 2, at: 0) == .milliseconds(100))
        #expect(line.updates.isEmpty)
        line.wait(until: .milliseconds(360))
        #expect(line.updates == [.milliseconds(350), .milliseconds(350)])
        line.send(3, from: 1)
        line.wait(until: .milliseconds(460))
        #expect(line.arrival(of: 3, at: 0) == .milliseconds(450))
    }

    /// After 350 ms the interval is 100 ms, and the peripheral listens at 550, 750, 950… ms.
    private static func lazy() -> Line {
        var line = Line()
        line.update(interval: 80, latency: 1)
        line.wait(until: .milliseconds(360))
        return line
    }

    @Test("a peripheral with latency does not listen in each event, and is counted only where it does")
    func latency() {
        var line = Self.lazy()
        let before = line.events
        line.send(1, from: 0)
        line.wait(until: .milliseconds(1360))
        #expect(line.arrival(of: 1, at: 1) == .milliseconds(550))
        #expect(line.events - before == 5)
    }

    @Test(
        "a peripheral that transmits also receives, and rests again afterwards", arguments: [true, false])
    func early(isCentralFirst: Bool) {
        var line = Self.lazy()
        let before = line.events
        for station in isCentralFirst ? [0, 1] : [1, 0] { line.send(UInt8(station) + 1, from: station) }
        line.wait(until: .milliseconds(460))
        #expect(line.arrival(of: 1, at: 1) == .milliseconds(450))
        #expect(line.arrival(of: 2, at: 0) == .milliseconds(450))
        line.send(3, from: 0)
        line.wait(until: .milliseconds(660))
        #expect(line.arrival(of: 3, at: 1) == .milliseconds(650))
        #expect(line.events - before == 2)
    }

    @Test("what the peripheral receives when it transmits overtakes new parameters that were to take effect before it")
    func overtakingUpdate() {
        var line = Line()
        line.update(interval: 80, latency: 9)
        // The peripheral listens at 1350 and 2350 ms.
        line.wait(until: .milliseconds(1300))
        line.update(interval: 80, latency: 0)
        line.wait(until: .milliseconds(1400))
        line.send(1, from: 0)
        line.wait(until: .milliseconds(1460))
        line.send(2, from: 1)
        line.wait(until: .milliseconds(2000))
        #expect(line.arrival(of: 1, at: 1) == .milliseconds(1550))
        #expect(line.arrival(of: 2, at: 0) == .milliseconds(1550))
        #expect(line.updates.suffix(2) == [.milliseconds(1950), .milliseconds(1950)])
    }

    @Test("the events of a link that has ended stay counted")
    func ended() {
        var line = Line()
        line.wait(until: .milliseconds(110))
        line.give(.received(Packet.disconnect(0x40), from: 0))
        line.wait(until: .milliseconds(510))
        #expect(line.events == 3)
    }
}
