import ButtonModel
import Bytes
import CLinux
import CommandSupport
import Edges
import Glibc
import Hub
import Platform
import Reactor
import Simulator
import TrialEdges

/// Measures one press: from the notification's octets at the transport to the rule's message at a subscriber.
///
/// Three processes take part: a mosquitto on loopback, `tryckd` on an H4 socket, and this process, which is both the
/// controller with its buttons and the subscriber, so that all times come from one clock. After every press,
/// libmosquitto alone publishes and receives a message of the same length, and another goes through `BenchRelay`, a
/// process that only passes on what it reads, which is the minimum cost of a daemon between radio and broker. The load of
/// the machine thus affects all three alike. `tryckd` and the relay run on one processor, the others on another.
@ReactorActor
final class BenchPress {
    /// The buttons are pressed in turn, each with a rule of its own, because one rule runs at most 600 times a minute.
    static let buttonCount = 8
    /// Nanoseconds between two measurements, long enough for acknowledgements and syncs to be over.
    static let pause: Int64 = 4_000_000
    /// A message that takes more nanoseconds than this counts as lost.
    static let timeLimit: Int64 = 5_000_000_000
    enum Stage {
        case starting
        case pairing
        /// The daemon ends, and starts again under valgrind.
        case restarting
        /// Each button is pressed once, so that all are connected.
        case warmingUp
        case pressing
        case publishing
        case relaying
        case releasing
        case settling
        case idling
        case done
    }

    private let loop: EventLoop
    private let directory: String
    /// The directory of the daemon's control socket and ring of records.
    private let runtimeDirectory: String
    private let presses: Int
    private let rules: BenchPressRules
    /// Nanoseconds between two presses; `nil` if they follow each other after `pause`.
    private let interval: Int64?
    /// False if the daemon keeps no history.
    private let keepsHistory: Bool
    /// True if the page cache is dropped before each message.
    private let dropsCaches: Bool
    /// The processors of the daemon and the relay, and of all others; `nil` if Linux chooses them.
    private let processors: (compared: Int, others: Int)?
    /// Counts the daemon's instructions instead of measuring time; `nil` if it is not to do so.
    private let counter: InstructionCounter?
    private let finished: @ReactorActor (Result<BenchReport, Failure>) -> Void
    private var stage = Stage.starting
    private var world: SimulatedWorld
    private var worldTimer: Timer?
    private var pauseTimer: Timer?
    private var radio: H4Server?
    private var broker: EmbeddedBroker?
    private var subscriber: MQTTEdge?
    private var publisher: MQTTEdge?
    private var daemon: DaemonChild?
    private var relay: DaemonChild?
    private var relaySocket: H4Server?
    private var result: Result<BenchReport, Failure>?
    private var pressSamples: [Int64] = []
    private var bareSamples: [Int64] = []
    private var relaySamples: [Int64] = []
    private var profiles: [InstructionProfile] = []
    /// When the first octets of the current press were written.
    private var began: Int64?
    /// When the last press was made.
    private var pressedAt: Int64 = 0
    /// True if a button is pressed and its notification has not been sent yet.
    private var isPressed = false
    /// The number of presses without a message while instructions are counted.
    private var missedPresses = 0
    /// True if a button is down while the buttons are connected for counting.
    private var isDown = false
    private var readyButtons = 0
    private var idleBefore: ProcessFigures?
    private var idleAfter: ProcessFigures?

    init(
        loop: EventLoop, directory: String, runtimeDirectory: String, presses: Int, rules: BenchPressRules,
        interval: Int64?, dropsCaches: Bool, keepsHistory: Bool, processors: (compared: Int, others: Int)?,
        counter: InstructionCounter? = nil, finished: @escaping @ReactorActor (Result<BenchReport, Failure>) -> Void
    ) {
        self.loop = loop
        self.directory = directory
        self.runtimeDirectory = runtimeDirectory
        self.presses = presses
        self.rules = rules
        self.interval = interval
        self.dropsCaches = dropsCaches
        self.keepsHistory = keepsHistory
        self.processors = processors
        self.counter = counter
        self.finished = finished
        world = SimulatedWorld(
            (0..<BenchPress.buttonCount).map {
                SimulatedButtonDescription(name: "bench\($0)", address: BenchPress.address($0))
            }, seed: 1, at: Instant(nanoseconds: loop.nanosecondsSinceBoot))
        worldTimer = loop.timer { [weak self] in self?.advance(.timerFired) }
        pauseTimer = loop.timer { [weak self] in self?.pauseOver() }
    }

    func start() {
        if let processors { BenchProcessors.use(processors.others) }
        let broker = EmbeddedBroker(loop: loop, directory: directory + "/broker", seed: 3) { [weak self] event in
            switch event {
            case .ready(let path): self?.brokerReady(path)
            case .failed(let reason): self?.fail(reason)
            }
        }
        self.broker = broker
        broker.start()
    }

    /// Stops what was started, and then reports the result.
    func stop(_ result: Result<BenchReport, Failure> = .failure(.silent(.unavailable))) {
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

    private func daemonEnded() {
        daemon = nil
        switch stage {
        case .done: finishWhenAlone()
        case .restarting: startCountedDaemon()
        case .starting, .pairing, .warmingUp, .pressing, .publishing, .relaying, .releasing, .settling, .idling:
            fail("tryckd has ended by itself.")
        }
    }

    private func relayEnded() {
        relay = nil
        if stage == .done { finishWhenAlone() } else { fail("The relay has ended by itself.") }
    }

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
        let endpoint = MQTTOptions.Endpoint.unix(path: path)
        subscriber = MQTTEdge(
            loop: loop, options: MQTTOptions(endpoint: endpoint, clientIdentifier: "bench_subscriber"), seed: 1
        ) { [weak self] in self?.received($0, path) }
        publisher = MQTTEdge(
            loop: loop, options: MQTTOptions(endpoint: endpoint, clientIdentifier: "bench_publisher"), seed: 2
        ) { _ in }
        subscriber?.connect()
        publisher?.connect()
    }

    private func startDaemon(_ path: String) {
        let socket = directory + "/radio.sock"
        let rules = rules.text(addresses: (0..<BenchPress.buttonCount).map(BenchPress.address))
        let configuration = """
            bluetooth:
              transport: "h4:unix:\(socket)"
              trust_roots: ["\(SimulatorRoot.publicKey.hex)"]
            mqtt: {broker: "unix:\(path)"}
            rules: rules.yaml
            history: \(keepsHistory ? "7d" : "none")

            """
        guard FileText.write(Array(rules.utf8), to: directory + "/rules.yaml"),
            FileText.write(Array(configuration.utf8), to: directory + "/tryck.yaml"),
            let radio = H4Server(loop: loop, path: socket, { [weak self] in self?.advance(.received($0)) })
        else { return fail("cannot write to \(directory)") }
        self.radio = radio
        let program: String
        do {
            program = try DaemonProgram.locate()
        } catch {
            return fail(error.sentence)
        }
        do {
            try launch([program])
            let relaySocket = directory + "/relay.sock"
            self.relaySocket = H4Server(loop: loop, path: relaySocket) { _ in }
            relay = try startOnComparedProcessor(
                BenchRelay.arguments(socket: relaySocket, broker: path), log: directory + "/relay.log"
            ) { [weak self] _ in self?.relayEnded() }
            stage = .pairing
        } catch {
            fail(error.sentence)
        }
    }

    /// - Parameter program: the program, perhaps after another one that starts it.
    private func launch(_ program: [String]) throws(Failure) {
        let arguments =
            program + [
                "--config", directory + "/tryck.yaml", "--state-directory", directory + "/state",
                "--control-socket", runtimeDirectory + "/control.sock", "--log-level", "error",
            ]
        daemon = try startOnComparedProcessor(arguments, log: directory + "/tryckd.log") { [weak self] _ in
            self?.daemonEnded()
        }
    }

    private func startOnComparedProcessor(
        _ arguments: [String], log: String, _ ended: @escaping @ReactorActor (ExitStatus?) -> Void
    ) throws(Failure) -> DaemonChild {
        guard let processors else { return try DaemonChild(loop, arguments: arguments, log: log, ended) }
        BenchProcessors.use(processors.compared)
        defer { BenchProcessors.use(processors.others) }
        return try DaemonChild(loop, arguments: arguments, log: log, ended)
    }

    /// Starts the daemon under valgrind. It was paired without, because pairing under valgrind takes too long.
    private func startCountedDaemon() {
        guard let counter else { return }
        do {
            try launch(counter.command(DaemonProgram.locate()))
            stage = .warmingUp
        } catch {
            fail(error.sentence)
        }
    }

    // MARK: Measuring

    private func received(_ event: MQTTEvent, _ path: String) {
        switch event {
        case .connected:
            subscriber?.subscribe([
                Subscription("bench/#", qos: 0), Subscription("tryck/bridge/#", qos: 0),
                Subscription("tryck/+/action", qos: 0),
            ])
            if stage == .starting { startDaemon(path) }
        case .message(let topicName, _, _, _) where rules.isAwaited(topicName):
            guard stage == .pressing, let began else { break }
            pressSamples.append(loop.nanosecondsSinceBoot - began)
            self.began = nil
            stage = .releasing
            // Under valgrind, the rest of the press takes longer.
            pause(counter == nil ? BenchPress.pause : 1_000_000_000)
        case .message(topicName: "bench/bare", _, _, _):
            guard stage == .publishing, let began else { break }
            bareSamples.append(loop.nanosecondsSinceBoot - began)
            self.began = nil
            stage = .relaying
            pauseBeforePart(2)
        case .message(topicName: "bench/relay", _, _, _):
            guard stage == .relaying, let began else { break }
            relaySamples.append(loop.nanosecondsSinceBoot - began)
            self.began = nil
            stage = .pressing
            pauseBeforePart(3)
        case .message(topicName: "tryck/bridge/state", _, _, _) where stage == .pairing:
            askToPair()
        case .message(topicName: "tryck/bridge/response/permit_join", let payload, _, _) where stage == .pairing:
            // The adapter may still be starting.
            if String(decoding: payload, as: UTF8.self).contains("error") { pause(200_000_000) }
        case .message(topicName: "tryck/bridge/event", let payload, _, _) where stage == .pairing:
            guard String(decoding: payload, as: UTF8.self).contains(#""paired""#) else { break }
            readyButtons += 1
            guard readyButtons == BenchPress.buttonCount else { break }
            if counter != nil {
                stage = .restarting
                daemon?.stop()
                break
            }
            stage = .pressing
            publisher?.publish(
                id: 0, topicName: "tryck/bridge/request/permit_join", payload: Array("0".utf8), qos: 0, retain: false,
                expiry: nil)
            pause(500_000_000)
        case .message(topicName: "tryck/bridge/state", let payload, _, _) where stage == .warmingUp:
            guard String(decoding: payload, as: UTF8.self).contains("online") else { break }
            pause(2_000_000_000)
        case .disconnected(let failure): fail("\(failure)")
        case .message, .published, .publishFailed, .subscribeFailed, .subscribed, .dropped, .expiringMessage: break
        }
    }

    private static func address(_ number: Int) -> BluetoothAddress {
        BluetoothAddress(rawValue: 0x80E4_DA00_00B0 + UInt64(number))
    }

    /// The button whose turn it is.
    private var button: String { "bench\(bareSamples.count % BenchPress.buttonCount)" }

    private func askToPair() {
        publisher?.publish(
            id: 0, topicName: "tryck/bridge/request/permit_join", payload: Array("60".utf8), qos: 0, retain: false,
            expiry: nil)
    }

    private func pause(_ nanoseconds: Int64 = pause) {
        pauseTimer?.set(at: loop.nanosecondsSinceBoot + nanoseconds)
    }

    /// Waits before a message of libmosquitto alone, a message through the relay or the next press.
    ///
    /// If the presses have an interval, the three parts divide it equally. Each then follows the same quiet time, in which
    /// broker, subscriber and kernel have cooled down for all three alike.
    /// - Parameter part: the number of thirds of the interval that have passed when the part begins.
    private func pauseBeforePart(_ part: Int64) {
        if dropsCaches { dropCaches() }
        pause(max(BenchPress.pause, pressedAt + (interval ?? 0) * part / 3 - loop.nanosecondsSinceBoot))
    }

    /// Makes the kernel forget the contents of files that no process has mapped at present.
    private func dropCaches() {
        sync()
        let control = open("/proc/sys/vm/drop_caches", O_WRONLY)
        let isDropped = control >= 0 && write(control, "3", 1) == 1
        let failure = errno
        if control >= 0 { close(control) }
        if !isDropped { fail("The page cache cannot be dropped: \(errorText(failure)). Run it as root.") }
    }

    private func pauseOver() {
        switch stage {
        case .pairing: askToPair()
        case .pressing, .publishing, .relaying:
            guard began == nil, !isPressed else {
                if counter != nil, missedPresses < 5 { return pressAgain() }
                return fail("A message has not come within 5 s. Run it again; if it happens again, please report it.")
            }
            if stage == .publishing { return publishBare() }
            if stage == .relaying { return sendToRelay() }
            if pressSamples.count >= presses { return counter == nil ? settle() : finishCounting() }
            counter?.begin()
            isPressed = true
            pressedAt = loop.nanosecondsSinceBoot
            advance(.press(button: button, .down))
            pause(BenchPress.timeLimit)
        case .warmingUp: warmUp()
        case .releasing where counter != nil:
            if let profile = counter?.profileOfPress() { profiles.append(profile) }
            advance(.press(button: button, .up))
            bareSamples.append(0)
            stage = .pressing
            pause(1_000_000_000)
        case .releasing:
            advance(.press(button: button, .up))
            stage = .publishing
            pauseBeforePart(1)
        case .settling: beginIdling()
        case .idling:
            idleAfter = ProcessFigures(of: daemon?.process ?? 0)
            let report = BenchReport(
                press: Distribution(pressSamples), bare: Distribution(bareSamples), relay: Distribution(relaySamples),
                before: idleBefore,
                after: idleAfter, idleSeconds: 10, buttons: BenchPress.buttonCount, processors: processors)
            stop(.success(report))
        case .starting, .restarting, .done: break
        }
    }

    /// Presses the next button for half a second. It connects because of that.
    private func warmUp() {
        guard bareSamples.count < BenchPress.buttonCount * 2 else {
            stage = .pressing
            pressSamples = []
            return pause(5_000_000_000)
        }
        isDown.toggle()
        advance(.press(button: button, isDown ? .down : .up))
        if !isDown { bareSamples.append(0) }
        pause(isDown ? 500_000_000 : 1_500_000_000)
    }

    private func finishCounting() {
        guard let counter, !profiles.isEmpty else {
            return fail("callgrind has written no profile of a press. Is valgrind installed?")
        }
        var report = BenchReport(
            press: Distribution([]), bare: Distribution([]), relay: Distribution([]), idleSeconds: 0,
            buttons: BenchPress.buttonCount)
        report.counts = counter.report(of: profiles, isRingMapped: Self.isOnTmpfs(runtimeDirectory))
        stop(.success(report))
    }

    private static func isOnTmpfs(_ directory: String) -> Bool {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        return linux_is_on_tmpfs(descriptor) != 0
    }

    /// Releases the button and presses again. valgrind makes the daemon fifty times slower, so on a busy machine the daemon can
    /// handle a press after the three seconds in which it starts a rule.
    private func pressAgain() {
        missedPresses += 1
        (began, isPressed) = (nil, false)
        advance(.press(button: button, .up))
        pause(5_000_000_000)
    }

    private func publishBare() {
        began = loop.nanosecondsSinceBoot
        publisher?.publish(
            id: 1, topicName: "bench/bare", payload: Array("0123456789abcdef".utf8), qos: 0, retain: false, expiry: nil)
        pause(BenchPress.timeLimit)
    }

    /// Sends a packet that is as long as a notification.
    private func sendToRelay() {
        began = loop.nanosecondsSinceBoot
        relaySocket?.send([2, 0x40, 0x20, 25, 0] + [UInt8](repeating: 0, count: 25))
        pause(BenchPress.timeLimit)
    }

    /// Waits for the work that the last press has caused, which does not count as idling.
    private func settle() {
        stage = .settling
        pause(2_000_000_000)
    }

    private func beginIdling() {
        stage = .idling
        idleBefore = ProcessFigures(of: daemon?.process ?? 0)
        pause(10_000_000_000)
    }

    private func advance(_ input: SimulatedWorld.Input) {
        for effect in world.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .send(let packet, _):
                // ACL data: the notification of the press that was just made.
                if isPressed, packet.first == 2 {
                    began = loop.nanosecondsSinceBoot
                    isPressed = false
                }
                radio?.send(packet)
            case .setTimer(let deadline): worldTimer?.set(at: deadline.nanoseconds)
            case .cancelTimer: worldTimer?.cancel()
            case .pressFinished, .note, .unknownButton: break
            }
        }
    }
}
