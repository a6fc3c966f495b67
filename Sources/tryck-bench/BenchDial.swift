import ButtonModel
import Bytes
import CommandSupport
import Edges
import Glibc
import Hub
import Platform
import Reactor
import Simulator
import TrialEdges

/// Measures a Duo that is turned faster than by hand: many notifications at once, from their octets at the transport to
/// the message with which a rule with `mode: single` completes the sum of their steps at a subscriber.
///
/// The processes are those of `BenchPress`. The simulated Duo and its air make the notifications beforehand, and they
/// are written at once. After each such burst as many packets go through `BenchRelay`, which publishes a message for
/// each.
@ReactorActor
final class BenchDial {
    private enum Stage {
        case starting, pairing, paired, held, turning, relaying, done
    }

    nonisolated static let pairTimeLimit: Int64 = 60_000_000_000
    /// In nanoseconds. A burst that takes longer, including the time for its notifications on the air, has lost a packet
    /// or a message.
    nonisolated static let timeLimit: Int64 = 60_000_000_000
    /// In nanoseconds. It is longer than the time after a `down` during which a host ignores the rotation of a Duo.
    private static let settling: Int64 = 600_000_000
    private static let hundredths = 3
    private static let address = BluetoothAddress(rawValue: 0x80E4_DA00_00D0)

    private let loop: EventLoop
    private let directory: String
    private let rounds, turns: Int
    /// False if the daemon keeps no history.
    private let keepsHistory: Bool
    private let finished: @ReactorActor (Result<BenchTable.Section, Failure>) -> Void
    private var stage = Stage.starting
    private var world: SimulatedWorld
    private var worldTimer, pauseTimer: Timer?
    private var radio, relaySocket: H4Server?
    private var broker: EmbeddedBroker?
    private var subscriber: MQTTEdge?
    private var daemon, relay: DaemonChild?
    private var result: Result<BenchTable.Section, Failure>?

    private var isIntercepting = false
    private var intercepted: [[UInt8]] = []
    /// The turns of this round so far.
    private var made = 0
    private var began: Int64 = 0
    private var processorBefore: Int64 = 0
    private var stepsReceived = 0
    private var relayedReceived = 0
    private var dialTimes, relayTimes, dialProcessor, relayProcessor: [Double]

    init(
        loop: EventLoop, directory: String, rounds: Int, turns: Int, keepsHistory: Bool,
        finished: @escaping @ReactorActor (Result<BenchTable.Section, Failure>) -> Void
    ) {
        self.loop = loop
        self.directory = directory
        self.rounds = rounds
        self.turns = turns
        self.keepsHistory = keepsHistory
        self.finished = finished
        (dialTimes, relayTimes, dialProcessor, relayProcessor) = ([], [], [], [])
        world = SimulatedWorld(
            [SimulatedButtonDescription(name: "duo", address: Self.address, model: .duo)], seed: 1,
            at: Instant(nanoseconds: loop.nanosecondsSinceBoot))
        worldTimer = loop.timer { [weak self] in self?.advance(.timerFired) }
        pauseTimer = loop.timer { [weak self] in self?.pauseOver() }
    }

    func start() {
        broker = EmbeddedBroker(loop: loop, directory: directory + "/broker", seed: 3) { [weak self] event in
            switch event {
            case .ready(let path): self?.brokerReady(path)
            case .failed(let reason): self?.fail(reason)
            }
        }
        broker?.start()
    }

    /// Stops what was started, and then reports the result.
    func stop(_ result: Result<BenchTable.Section, Failure> = .failure(.silent(.unavailable))) {
        guard stage != .done else { return }
        stage = .done
        self.result = result
        pauseTimer?.cancel()
        worldTimer?.cancel()
        daemon?.stop()
        relay?.stop()
        finishWhenAlone()
    }

    private func fail(_ sentence: String) { stop(.failure(Failure(.unavailable, sentence))) }

    private func finishWhenAlone() {
        guard daemon == nil, relay == nil, let result else { return }
        self.result = nil
        radio?.close()
        relaySocket?.close()
        broker?.stop()
        finished(result)
    }

    // MARK: Setting up

    private func brokerReady(_ path: String) {
        subscriber = MQTTEdge(
            loop: loop,
            options: MQTTOptions(
                endpoint: .unix(path: path), clientIdentifier: "bench_subscriber"), seed: 1
        ) { [weak self] in self?.received($0, path) }
        subscriber?.connect()
    }

    private func startPrograms(_ path: String) {
        let rules = """
            version: 1
            rules:
              - id: dial
                triggers:
                  button: {address: "\(Self.address)"}
                  event: [rotate_clockwise, rotate_counter_clockwise]
                  collect: 10ms
                mode: single
                actions:
                  - publish: {topic: bench/dial, payload: "{{ trigger.steps }}"}
                  - delay: 5ms

            """
        let root = SimulatorRoot.publicKey.hex
        let configuration = """
            bluetooth:
              transport: "h4:unix:\(directory)/radio.sock"
              trust_roots: ["\(root)"]
            mqtt: {broker: "unix:\(path)"}
            rules: rules.yaml
            history: \(keepsHistory ? "7d" : "none")

            """
        radio = H4Server(loop: loop, path: directory + "/radio.sock") { [weak self] in self?.advance(.received($0)) }
        relaySocket = H4Server(loop: loop, path: directory + "/relay.sock") { _ in }
        guard radio != nil, relaySocket != nil,
            FileText.write(Array(rules.utf8), to: directory + "/rules.yaml"),
            FileText.write(Array(configuration.utf8), to: directory + "/tryck.yaml")
        else { return fail("cannot write to \(directory)") }
        do {
            let arguments = [
                try DaemonProgram.locate(), "--config", directory + "/tryck.yaml", "--state-directory",
                directory + "/state", "--control-socket", directory + "/control.sock", "--log-level", "error",
            ]
            daemon = try DaemonChild(loop, arguments: arguments, log: directory + "/tryckd.log") { [weak self] _ in
                self?.daemon = nil
                self?.programEnded("tryckd")
            }
            relay = try DaemonChild(
                loop, arguments: BenchRelay.arguments(socket: directory + "/relay.sock", broker: path),
                log: directory + "/relay.log"
            ) { [weak self] _ in
                self?.relay = nil
                self?.programEnded("The relay")
            }
            stage = .pairing
            pauseTimer?.set(at: loop.nanosecondsSinceBoot + Self.pairTimeLimit)
        } catch {
            fail(error.sentence)
        }
    }

    private func programEnded(_ name: String) {
        if stage == .done { finishWhenAlone() } else { fail("\(name) has ended by itself.") }
    }

    private func askToPair() {
        subscriber?.publish(
            id: 0, topicName: "tryck/bridge/request/permit_join", payload: Array("60".utf8), qos: 0, retain: false,
            expiry: nil)
    }

    // MARK: Measuring

    private func received(_ event: MQTTEvent, _ path: String) {
        switch event {
        case .connected:
            subscriber?.subscribe([Subscription("bench/#", qos: 0), Subscription("tryck/bridge/#", qos: 0)])
            if stage == .starting { startPrograms(path) }
        case .message(topicName: "bench/dial", let payload, _, _) where stage == .turning:
            stepsReceived += Int(String(decoding: payload, as: UTF8.self)) ?? 0
            if stepsReceived >= turns * Self.hundredths { dialArrived() }
        case .message(topicName: "bench/relay", _, _, _) where stage == .relaying:
            relayedReceived += 1
            if relayedReceived == turns { relayArrived() }
        case .message(topicName: "tryck/bridge/state", _, _, _) where stage == .pairing: askToPair()
        case .message(topicName: "tryck/bridge/response/permit_join", let payload, _, _) where stage == .pairing:
            // The adapter may still be starting.
            if String(decoding: payload, as: UTF8.self).contains("error") { askToPair() }
        case .message(topicName: "tryck/bridge/event", let payload, _, _) where stage == .pairing:
            guard String(decoding: payload, as: UTF8.self).contains(#""paired""#) else { break }
            stage = .paired
            // With low latency, the air carries a notification at each connection event.
            subscriber?.publish(
                id: 0, topicName: "tryck/bridge/request/button/options",
                payload: Array(#"{"id":"\#(ButtonID(Self.address))","options":{"latency_mode":"low"}}"#.utf8), qos: 0,
                retain: false, expiry: nil)
            pauseTimer?.set(at: loop.nanosecondsSinceBoot + Self.settling)
        case .disconnected(let failure): fail("\(failure)")
        case .message, .published, .publishFailed, .subscribeFailed, .subscribed, .dropped, .expiringMessage: break
        }
    }

    private func pauseOver() {
        switch stage {
        case .paired:
            advance(.press(button: "duo", .down))
            stage = .held
            pauseTimer?.set(at: loop.nanosecondsSinceBoot + Self.settling)
        case .held: makeTurns()
        case .pairing: fail("The simulated Duo was not paired within a minute. Please report it.")
        case .turning, .relaying:
            fail("\(stepsReceived) of \(turns * Self.hundredths) steps have arrived within a minute. Please report it.")
        case .starting, .done: break
        }
    }

    /// Makes the turns of a round. Their notifications arrive at the speed of the simulated radio, and are kept until all have
    /// arrived.
    private func makeTurns() {
        stage = .turning
        isIntercepting = true
        stepsReceived = 0
        pauseTimer?.set(at: loop.nanosecondsSinceBoot + Self.timeLimit)
        made = 0
        makeTurn()
    }

    private func makeTurn() {
        made += 1
        advance(.turn(button: "duo", hundredths: Self.hundredths))
    }

    private func turn() {
        isIntercepting = false
        processorBefore = processorTime(of: daemon)
        began = loop.nanosecondsSinceBoot
        radio?.send(Array(intercepted.joined()))
        intercepted = []
    }

    private func dialArrived() {
        dialTimes.append(Double(loop.nanosecondsSinceBoot - began))
        dialProcessor.append(Double(processorTime(of: daemon) - processorBefore) / Double(turns))
        stage = .relaying
        relayedReceived = 0
        processorBefore = processorTime(of: relay)
        pauseTimer?.set(at: loop.nanosecondsSinceBoot + Self.timeLimit)
        began = loop.nanosecondsSinceBoot
        let packet: [UInt8] = [2, 0x40, 0x20, 25, 0] + [UInt8](repeating: 0, count: 25)
        relaySocket?.send(Array(repeatElement(packet, count: turns).joined()))
    }

    private func relayArrived() {
        relayTimes.append(Double(loop.nanosecondsSinceBoot - began))
        relayProcessor.append(Double(processorTime(of: relay) - processorBefore) / Double(turns))
        guard relayTimes.count < rounds else { return stop(.success(section)) }
        makeTurns()
    }

    private var section: BenchTable.Section {
        BenchTable.Section(
            title: "\(rounds) × \(turns) turns at once, every step of which arrived",
            rows: [
                .init(name: "the last step at a subscriber", unit: .time, samples: dialTimes, floor: relayTimes),
                .init(
                    name: "turns, by the daemon's own time", unit: .rate, samples: dialProcessor, floor: relayProcessor),
                .init(name: "a process that only passes on: the last", unit: .time, samples: relayTimes),
                .init(name: "the same, by its own time", unit: .rate, samples: relayProcessor),
            ])
    }

    private func advance(_ input: SimulatedWorld.Input) {
        for effect in world.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .send(let packet, _) where isIntercepting && packet.first == 2:
                intercepted.append(packet)
                if intercepted.count == turns { turn() }
            case .send(let packet, _): radio?.send(packet)
            case .setTimer(let deadline): worldTimer?.set(at: deadline.nanoseconds)
            case .cancelTimer: worldTimer?.cancel()
            case .pressFinished, .note, .unknownButton: break
            }
        }
        // The button queues only a few notifications, so turns are made while the notifications of others come.
        if isIntercepting, made < turns, made - intercepted.count < 8 { makeTurn() }
    }

    /// The processor time of a child process, in nanoseconds.
    private func processorTime(of child: DaemonChild?) -> Int64 {
        guard let child, let file = fopen("/proc/\(child.process)/schedstat", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: " ").first.flatMap { Int64($0) } ?? 0
    }
}
