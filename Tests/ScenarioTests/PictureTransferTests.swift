import BluetoothHost
import ButtonModel
import PictureTransfer
import Simulator
import TestSupport
import Testing

/// Two plain hosts on one air: a picture goes from one to the other, and the radio does not always let it.
@Suite("A picture over the air")
struct PictureTransferTests {
    @Test("arrives whole, though the link is lost twice on the way", arguments: 0..<8 as Range<UInt64>)
    func transfer(seed: UInt64) throws {
        var room = PictureRoom(seed: seed, pictureLength: 200_000)
        let losses = room.losses(2)
        for loss in losses {
            #expect(room.run { $0.receiver.received.count >= loss })
            room.setReachable(false)
            // The supervision timeout is 6 seconds.
            #expect(room.run(atMost: .seconds(7)) { !$0.receiver.isConnected })
            room.setReachable(true)
        }
        #expect(room.run { $0.sender.isDone && !$0.receiver.isConnected })

        #expect(room.receiver.received == room.picture)
        #expect(room.sender.details == PictureRoom.details)
        #expect(room.receiver.receipt.dropFirst(4).elementsEqual(PictureRoom.name.utf8))
        #expect(room.receiver.links == 3)
        #expect(room.sender.lostLinks == 2)
        // It went on where the receiver was, and that was not the beginning.
        try #require(room.sender.beginnings.count == 3)
        #expect(room.sender.beginnings[0] == 0)
        for (beginning, loss) in zip(room.sender.beginnings.dropFirst(), losses) { #expect(beginning >= loss) }
        #expect(room.receiver.anomalies.isEmpty && room.sender.anomalies.isEmpty && room.violations.isEmpty)
    }

    @Test("arrives whole, though the link is lost at any moment of the conversation", arguments: 0..<16 as Range<UInt64>)
    func anyMoment(seed: UInt64) {
        var room = PictureRoom(seed: seed, pictureLength: 20_000)
        for _ in 0..<2 {
            room.run(atMost: .milliseconds(room.random(in: 100..<1000)))
            room.setReachable(false)
            room.run(atMost: .milliseconds(room.random(in: 1..<12_000)))
            room.setReachable(true)
        }
        #expect(room.run { $0.sender.isDone })
        #expect(room.receiver.received == room.picture)
        #expect(room.violations.isEmpty)
    }
}

/// A receiver, a sender, and the air between them, on one clock wound by hand.
private struct PictureRoom {
    static let name = "Das Fährhaus am Abend, aufgenommen vom anderen Ufer; " + String(repeating: "sehr ", count: 40) + "spät"
    static let details = String(repeating: "800 × 480 points, seven colours, needs 30 s to show it. ", count: 8)

    private static let stations = (receiver: 0, sender: 1)

    let picture: [UInt8]
    private(set) var receiver: PictureReceiver
    private(set) var sender: PictureSender
    private(set) var violations: [String] = []
    private var air: Air
    private var now = Instant(sinceBoot: .seconds(100))
    private var airTimer: Instant?
    private var hostTimers: [Instant?] = [nil, nil]
    private var randomness: SeededGenerator
    private var letters: [Letter] = []

    private enum Letter {
        case air(Air.Input)
        case host(Host.Input, Air.Station)
    }

    /// The seed chooses the picture, the controllers and what the hosts take.
    init(seed: UInt64, pictureLength: Int) {
        var randomness = SeededGenerator(seed: seed)
        picture = randomness.bytes(pictureLength)
        let controllers = (0..<2).map { station in
            VirtualController.Configuration(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0001 + UInt64(station)),
                aclDataLength: [27, 69, 251].randomElement(using: &randomness) ?? 27,
                aclBufferCount: UInt8.random(in: 1...12, using: &randomness))
        }
        let configurations = (0..<2).map { _ in
            Host.Configuration(
                attMTU: UInt16.random(in: 23...517, using: &randomness),
                channels: ChannelConfiguration(
                    mtu: UInt16.random(in: 200...8000, using: &randomness),
                    mps: UInt16.random(in: 23...517, using: &randomness),
                    credits: UInt16.random(in: 1...40, using: &randomness)))
        }
        air = Air(controllers, seed: seed, at: now)
        receiver = PictureReceiver(configurations[0], name: "frame", details: Self.details)
        sender = PictureSender(configurations[1], picture: picture, name: Self.name)
        self.randomness = randomness
        for station in 0..<2 { carry(.host(.transportOpened, station)) }
    }

    mutating func random(in range: Range<Int64>) -> Int64 { Int64.random(in: range, using: &randomness) }

    /// So many places in the picture, in order.
    mutating func losses(_ count: Int) -> [Int] {
        (0..<count).map { _ in Int.random(in: 1..<picture.count * 9 / 10, using: &randomness) }.sorted()
    }

    mutating func setReachable(_ isReachable: Bool) {
        carry(.air(.setReachable(Self.stations.sender, isReachable)))
    }

    /// Winds the clock from timer to timer until the condition holds.
    ///
    /// - Returns: whether it came to hold in time.
    @discardableResult
    mutating func run(
        atMost limit: Duration = .seconds(600), until condition: (PictureRoom) -> Bool = { _ in false }
    ) -> Bool {
        let end = now + limit
        while !condition(self) {
            guard let next = ([airTimer] + hostTimers).compactMap({ $0 }).min(), next <= end else {
                now = end
                return condition(self)
            }
            now = max(now, next)
            if let timer = airTimer, timer <= now {
                airTimer = nil
                carry(.air(.timerFired))
            }
            for station in 0..<2 {
                guard let timer = hostTimers[station], timer <= now else { continue }
                hostTimers[station] = nil
                carry(.host(.timerFired, station))
            }
        }
        return true
    }

    /// Everything an input sets off, one after another.
    private mutating func carry(_ letter: Letter) {
        letters.append(letter)
        while !letters.isEmpty {
            switch letters.removeFirst() {
            case .air(let input): for effect in air.handle(input, at: now) { take(effect) }
            case .host(let input, Self.stations.receiver):
                for effect in receiver.handle(input, at: now) { take(effect, of: Self.stations.receiver) }
            case .host(let input, let station):
                for effect in sender.handle(input, at: now) { take(effect, of: station) }
            }
        }
    }

    private mutating func take(_ effect: Air.Effect) {
        switch effect {
        case .send(let packet, let station): letters.append(.host(.received(packet), station))
        case .setTimer(let instant): airTimer = instant
        case .cancelTimer: airTimer = nil
        case .violation(let station, let text): violations.append("\(station): \(text)")
        }
    }

    private mutating func take(_ effect: Host.Effect, of station: Air.Station) {
        switch effect {
        case .send(let packet): letters.append(.air(.received(packet, from: station)))
        case .setTimer(let instant): hostTimers[station] = instant
        case .cancelTimer: hostTimers[station] = nil
        case .event: break
        }
    }
}
