import ButtonModel
import Edges
import Foundation
import TestSupport

@testable import Flic
@testable import Simulator

/// A simulated button on a controller of RootCanal, which is pressed at random.
///
/// The time for which a press is held encodes a code, which selects the rule: the time in units of `unit`, modulo
/// `codeCount`. 24 presses of a button in a row have 24 codes.
final class AirButton {
    /// The facts about a press at its release.
    struct Press {
        var identity: Ledger.Press
        var code: Int
        var heldFor: Int
        var releasedAt: Date
        /// Each delivery, live or stored.
        var deliveries: [Delivery] = []
    }

    struct Delivery {
        /// The age; zero for events that are sent as they happen.
        var age: Duration
        /// No later stored press follows it.
        var isLast = true
        /// The life of the daemon during which the press happened.
        var life: Int
    }

    static let unit = 8
    static let codeCount = 24
    /// How long a link lasts on which the peer has sent nothing. RootCanal can connect the button to a peer that has cancelled its
    /// attempt at the same moment and knows of no link. A real controller would end that link after six connection events.
    private static let establishLimit = Duration.seconds(3)
    /// The H4 packet type of data.
    private static let aclData: UInt8 = 0x02
    /// The maximum number of octets of a read.
    private static let readSize = 16 * 1024
    /// While the button has this many events to deliver, it is not pressed: it discards the oldest above sixteen.
    private static let patience = 11

    let descriptor: Int32
    private(set) var presses: [Press] = []
    private(set) var notes: [String] = []
    private(set) var hasSession = false
    private var isLinked = false
    private var advertisesAgain = false
    private(set) var isPaired = false
    /// The current life of the daemon, which is recorded in presses.
    var life = 0
    var isResting = true

    private var button: SimulatedButton
    private var framer = H4Framer()
    private var timer: Instant?
    private var random: SeededGenerator
    private var nextMove: Instant?
    /// When a link to a peer that is gone, or that has sent nothing yet, ends.
    private var supervisionEnd: Instant?
    /// True if the peer has sent nothing on the link yet.
    private var awaitsPeer = false
    private var down: (at: Instant, ticks: UInt64)?
    private let codes: [Int]
    private var pressCount = 0
    private var code = 0

    init(_ description: SimulatedButtonDescription, port: Int, seed: UInt64, at now: Instant) throws {
        var random = SeededGenerator(seed: seed)
        codes = (0..<Self.codeCount).shuffled(using: &random)
        self.random = random
        button = SimulatedButton(description, seed: seed, at: now)
        descriptor = try Self.connect(port)
        try advance(.transportOpened, at: now)
    }

    deinit { close(descriptor) }

    var address: String { button.address.map { "\(ButtonID($0))" } ?? "" }
    /// All events of the button were acknowledged.
    var isDrained: Bool { button.peripheral?.queue.entries.isEmpty ?? true }
    var isDown: Bool { down != nil }

    var deadline: Instant? { [timer, nextMove, supervisionEnd].compactMap(\.self).min() }

    func timePassed(at now: Instant) throws {
        if let due = timer, due <= now {
            timer = nil
            try advance(.timerFired, at: now)
        }
        if let due = supervisionEnd, due <= now {
            supervisionEnd = nil
            try advance(.fault(.dropLink), at: now)
        }
        if let due = nextMove, due <= now { try move(at: now) }
        if nextMove == nil, !isResting { nextMove = now }
    }

    func receive(at now: Instant) throws {
        var chunk = [UInt8](repeating: 0, count: Self.readSize)
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { throw Program.Failure(description: "the virtual controller went away") }
        framer.append(Array(chunk.prefix(count)))
        while let packet = try framer.next() {
            if awaitsPeer, packet.first == Self.aclData { (awaitsPeer, supervisionEnd) = (false, nil) }
            try advance(.received(packet), at: now)
        }
    }

    /// The daemon has ended. The virtual controllers do not report the end of every link.
    func hostDied(at now: Instant) {
        awaitsPeer = false
        supervisionEnd = isLinked ? now + .milliseconds(500) : nil
    }

    // MARK: The finger

    private func move(at now: Instant) throws {
        guard let peripheral = button.peripheral else { return nextMove = now + .milliseconds(20) }
        guard let down else {
            guard !isResting else { return nextMove = nil }
            guard peripheral.queue.entries.count <= Self.patience else { return nextMove = now + .milliseconds(20) }
            code = codes[pressCount % codes.count]
            pressCount += 1
            try advance(.press(.down), at: now)
            self.down = (now, ticks)
            let turns = Int.random(in: 0...1, using: &random)
            return nextMove = now + .milliseconds(Self.unit * (code + turns * Self.codeCount) + Self.unit / 2)
        }
        // Waits for the middle of the unit that encodes the code, or of the same unit one round later.
        let held = (now - down.at).milliseconds
        let isInTheMiddle = (2..<Self.unit - 2).contains(Int(held) % Self.unit)
        guard isInTheMiddle, Int(held) / Self.unit % Self.codeCount == code else {
            return nextMove = now + .milliseconds(1)
        }
        try advance(.press(.up), at: now)
        let heldFor = Int(ticks - down.ticks) * 1000 / Int(FlicPeripheral.ticksPerSecond)
        var press = Press(
            identity: Ledger.Press(
                button: address, bootID: peripheral.bootID, counter: button.peripheral?.press.counter ?? 0),
            code: code, heldFor: heldFor, releasedAt: Date())
        if hasSession { press.deliveries.append(Delivery(age: .zero, life: life)) }
        presses.append(press)
        self.down = nil
        nextMove = now + .milliseconds(Int.random(in: 30...600, using: &random))
    }

    private var ticks: UInt64 { button.peripheral?.queue.entries.last?.ticks ?? 0 }

    // MARK: The button

    private func advance(_ input: SimulatedButton.Input, at now: Instant) throws {
        for effect in button.handle(input, at: now) {
            switch effect {
            case .send(let packet): try send(packet)
            case .setTimer(let instant): timer = instant
            case .cancelTimer: timer = nil
            case .pressFinished: break
            case .note(let note): noted(note, at: now)
            case .failed(let sentence): throw Program.Failure(description: sentence)
            }
        }
        guard advertisesAgain else { return }
        advertisesAgain = false
        button.plan.disconnected(lookingFor: nil, advertisesAgain: true, at: now)
        try advance(.timerFired, at: now)
    }

    private func noted(_ note: String, at now: Instant) {
        notes.append("\(Date().formatted(.iso8601)) \(note)")
        switch note {
        case "paired": isPaired = true
        case "connected": (isLinked, awaitsPeer, supervisionEnd) = (true, true, now + Self.establishLimit)
        case "disconnected":
            isLinked = false
            hasSession = false
            // The virtual controllers report this as a requested disconnection. It was not requested, so the button
            // advertises again.
            advertisesAgain = true
            (awaitsPeer, supervisionEnd) = (false, nil)
        case "silent":
            // A press would make the button advertise again, but it is not pressed while it has so much to deliver. Without this, it
            // would be silent until the end if no daemon connects for as long as it advertises, such as on a machine that stands still.
            advertisesAgain = (button.peripheral?.queue.entries.count ?? 0) > Self.patience
        case "session ready":
            hasSession = true
            bringStored(at: now)
        default: break
        }
    }

    /// Sends all stored events in the new session.
    private func bringStored(at now: Instant) {
        guard let peripheral = button.peripheral else { return }
        let clock = peripheral.ticks(at: now)
        func age(_ ticks: UInt64) -> Duration {
            .milliseconds(Int64(clock - ticks) * 1000 / Int64(FlicPeripheral.ticksPerSecond))
        }
        let stored = peripheral.queue.entries.compactMap { entry in
            presses.lastIndex { $0.identity.counter == entry.counter }.map { (place: $0, ticks: entry.ticks) }
        }
        for press in stored {
            presses[press.place].deliveries.append(
                Delivery(age: age(press.ticks), isLast: press.place == stored.last?.place, life: life))
        }
    }

    private func send(_ packet: [UInt8]) throws {
        var rest = packet[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Program.Failure(description: "the virtual controller takes no more") }
            rest = rest.dropFirst(count)
        }
    }

    private static func connect(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Program.Failure(description: "the virtual controller does not listen on \(port)")
        }
        var enabled: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }
}
