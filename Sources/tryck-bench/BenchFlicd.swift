import ButtonModel
import CommandSupport
import Edges
import FlicdProtocol
import Glibc
import Hub
import Platform
import Reactor

/// Measures many clients of flicd over TCP, each with a channel to every button: how long until a press has reached all
/// of them, and how many packets per second are sent.
///
/// The server and its sockets are those of the daemon. A thread of its own reads for the clients.
@ReactorActor
final class BenchFlicd {
    nonisolated static let clients = 50
    nonisolated static let buttons = 100
    /// The events of a press that is a click. For these the server sends `packetsPerPress` packets to each channel.
    nonisolated private static let steps: [PressStep] = [.down, .up(.open), .clickTimeout]
    nonisolated private static let packetsPerPress = 5
    nonisolated private static let octetsPerPress = 13 * packetsPerPress

    private let loop: EventLoop
    private let presses: Int
    private let done: @ReactorActor (Result<String, Failure>) -> Void
    private var server = FlicdServer()
    private var listener: FlicdListener?
    private var timer: Timer?
    private var readers: BenchFlicdReaders?
    private var before: ProcessFigures?
    private var sent = 0
    private var began: Int64 = 0
    private var ready: Int64 = 0
    private var times: [Int64] = []
    /// Processor time of the server and its sockets, and time by the clock, for clicks of all buttons at once.
    private var burst: (nanoseconds: Double, wall: Int64) = (0, 0)
    private var octets = 0

    init(loop: EventLoop, presses: Int, done: @escaping @ReactorActor (Result<String, Failure>) -> Void) {
        self.loop = loop
        self.presses = presses
        self.done = done
        timer = loop.timer { [weak self] in self?.deliver(.timerFired) }
    }

    nonisolated private static func button(_ number: Int) -> ButtonIdentity {
        ButtonIdentity(
            address: BluetoothAddress(rawValue: 0x80E4_DA01_0000 + UInt64(number)),
            uuid: String(repeating: "0f", count: 16), serial: "BE00-\(number)", nickname: "", firmwareVersion: 11)
    }

    func start() {
        deliver(.controller(.attached, address: nil))
        for number in 0..<Self.buttons {
            deliver(.button(Self.button(number)))
            deliver(.status(Self.button(number).id, .ready))
        }
        before = ProcessFigures(of: getpid())
        let port = UInt16.random(in: 20_000..<30_000)
        listener = FlicdListener(loop: loop, host: "127.0.0.1", port: port) { [weak self] in self?.reported($0, port) }
        listener?.carryOut(.listen)
    }

    private func reported(_ report: FlicdReport, _ port: UInt16) {
        switch report {
        case .notListening(let sentence): done(.failure(Failure(.unavailable, sentence)))
        case .listening: connect(to: port)
        case .connected(let client, let peer): deliver(.clientConnected(client, peer: peer))
        case .received(let client, let octets): deliver(.received(client, octets))
        case .finished(let client): deliver(.clientFinished(client))
        case .blocked(let client): deliver(.clientBlocked(client))
        case .drained(let client): deliver(.clientDrained(client))
        case .gone(let client): deliver(.clientGone(client))
        }
    }

    private func deliver(_ input: FlicdServer.Input) {
        for effect in server.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .send(let client, let octets):
                self.octets += octets.count
                listener?.carryOut(.send(client, octets))
            case .pause(let client): listener?.carryOut(.pause(client))
            case .resume(let client): listener?.carryOut(.resume(client))
            case .close(let client, let isWritten): listener?.carryOut(.close(client, isWritten: isWritten))
            case .setTimer(let deadline): timer?.set(at: deadline.nanoseconds)
            case .cancelTimer: timer?.cancel()
            case .requestMode, .listen, .delete, .log: break
            }
        }
    }

    // MARK: The clients

    private func connect(to port: UInt16) {
        var commands: [UInt8] = []
        for number in 0..<Self.buttons {
            let command = FlicdCommand.createConnectionChannel(
                id: UInt32(number), Self.button(number).address, FlicdChannelMode())
            commands += command.encoded()
        }
        loop.offload { [commands] in
            BenchFlicdReaders(port: port, count: Self.clients, commands)
        } then: { [weak self] in
            self?.connected($0, port)
        }
    }

    private func connected(_ readers: BenchFlicdReaders?, _ port: UInt16) {
        guard let readers else {
            return done(.failure(Failure(.unavailable, "The clients could not connect to 127.0.0.1:\(port).")))
        }
        self.readers = readers
        // The response to each channel has 9 octets.
        readers.wait(loop, for: Self.clients * Self.buttons * 9) { [weak self] _ in self?.press() }
    }

    /// Sends the next press when all clients have received the one before.
    private func press() {
        guard sent < presses else { return pressAtOnce() }
        began = loop.nanosecondsSinceBoot
        deliver(events(of: sent))
        sent += 1
        readers?.wait(loop, for: Self.clients * Self.octetsPerPress) { [weak self] arrived in
            guard let self else { return }
            times.append(arrived - began)
            press()
        }
    }

    private func events(of number: Int) -> FlicdServer.Input {
        let button = Self.button(number % Self.buttons).id
        return .events(
            button,
            Self.steps.enumerated().map { index, step in
                ButtonEvent(button: button, bootID: 1, counter: UInt32(index), step: step, ticks: 0)
            })
    }

    /// Sends a click of each button, all at once.
    private func pressAtOnce() {
        octets = 0
        ready = loop.nanosecondsSinceBoot
        do throws(Failure) {
            burst.nanoseconds = try coreTime { () throws(Failure) in
                for number in 0..<Self.buttons { deliver(events(of: number)) }
            }
        } catch {
            return done(.failure(error))
        }
        readers?.wait(loop, for: Self.clients * Self.buttons * Self.octetsPerPress) { [weak self] arrived in
            guard let self else { return }
            burst.wall = arrived - ready
            finish()
        }
    }

    private func finish() {
        listener?.stop()
        let packets = Double(Self.clients * Self.buttons * Self.packetsPerPress)
        let distribution = Distribution(times)
        let after = ProcessFigures(of: getpid())
        let memory = (after?.residentKilobytes ?? 0) - (before?.residentKilobytes ?? 0)
        func tenth(_ value: Double) -> Double { (value * 10).rounded() / 10 }
        done(
            .success(
                """
                \(Self.clients) clients with \(Self.buttons) channels each, \(times.count) presses one after the other
                a click, until the last client has all of it   p50 \(tenth(distribution.percentile(0.5))) µs, \
                p99 \(tenth(distribution.percentile(0.99))) µs
                a click                                        \(Self.clients * Self.packetsPerPress) packets, \
                \(Self.clients * Self.octetsPerPress) octets
                \(Self.buttons) clicks at once                           \(Int(packets)) packets, \(octets) octets in \
                \(tenth(Double(burst.wall) / 1e6)) ms
                packets                                        \(Int(packets / Double(burst.wall) * 1e6)) k/s; of one \
                core \(Int(packets / burst.nanoseconds * 1e6)) k/s
                memory of all clients and channels             \(memory) kB, their reading end included

                """))
    }
}

/// The clients' ends of the connections. A thread of its own reads them and counts octets.
private final class BenchFlicdReaders: Sendable {
    private let descriptors: [Int32]

    /// Connects the clients, each of which sends the commands. `nil` when a client cannot connect.
    init?(port: UInt16, count: Int, _ commands: [UInt8]) {
        var opened: [Int32] = []
        for client in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            opened.append(descriptor)
            // An address may have only half of the connections, so each client takes an address of its own.
            guard Self.call(bind, descriptor, 0x7F00_0002 + UInt32(client), 0) == 0,
                Self.call(connect, descriptor, 0x7F00_0001, port) == 0,
                write(descriptor, commands, commands.count) == commands.count
            else { return nil }
        }
        descriptors = opened
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ host: UInt32,
        _ port: UInt16
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Calls `arrived` with the time since boot, in nanoseconds, when so many octets have arrived at all clients
    /// together.
    @ReactorActor
    func wait(_ loop: EventLoop, for count: Int, _ arrived: @escaping @ReactorActor (Int64) -> Void) {
        loop.offload { [descriptors] in
            var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            var missing = count
            while missing > 0 {
                guard poll(&polled, nfds_t(polled.count), 10_000) > 0 else { break }
                for descriptor in polled where descriptor.revents != 0 {
                    missing -= max(0, read(descriptor.fd, &buffer, buffer.count))
                }
            }
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        } then: {
            arrived($0)
        }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
