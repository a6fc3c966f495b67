import ButtonModel
import CommandSupport
import Edges
import Glibc
import Hub
import Platform
import Reactor
import TrialEdges

/// Measures what a daemon with many buttons publishes when it has connected to its broker: how long until it reports
/// that it is online, how many messages and octets there are, and how much memory they take.
///
/// Each round starts a daemon with the same buttons and no broker, and then a new broker and a new daemon.
@ReactorActor
final class BenchAnnounce {
    /// Nanoseconds without a message after which the daemon counts as having published everything.
    private static let silence: Int64 = 1_000_000_000
    private static let timeLimit: Int64 = 60_000_000_000

    private enum Stage {
        case alone, connecting, listening, stopping, over
    }

    private let loop: EventLoop
    private let directory: String
    private let rounds: Int
    private let buttons: Int
    private let finished: @ReactorActor (Result<BenchTable.Section, Failure>) -> Void
    private var stage = Stage.alone
    private var timer: Timer?
    private var daemon: DaemonChild?
    private var broker: EmbeddedBroker?
    private var observer: MQTTEdge?
    private var startedAt: Int64 = 0
    private var firstAt: Int64?
    private var isOnline = false
    private var messages = 0, octets = 0
    private var result: Result<BenchTable.Section, Failure>?

    private var untilOnline: [Double] = [], announcing: [Double] = []
    private var before: [Double] = [], after: [Double] = [], peak: [Double] = []
    private var counts: (messages: Int, octets: Int) = (0, 0)

    init(
        loop: EventLoop, directory: String, rounds: Int, buttons: Int,
        finished: @escaping @ReactorActor (Result<BenchTable.Section, Failure>) -> Void
    ) {
        self.loop = loop
        self.directory = directory
        self.rounds = rounds
        self.buttons = buttons
        self.finished = finished
        timer = loop.timer { [weak self] in self?.timerFired() }
    }

    func start() {
        do {
            try fillStore()
        } catch {
            return end(.failure(Failure(.unavailable, "The state directory cannot be filled: \(error).")))
        }
        startAlone()
    }

    /// Stops what was started, and then reports the result.
    func end(_ result: Result<BenchTable.Section, Failure> = .failure(.silent(.unavailable))) {
        guard self.result == nil, stage != .over else { return }
        self.result = result
        stage = .stopping
        timer?.cancel()
        if let daemon { daemon.stop() } else { ended() }
    }

    private func fail(_ sentence: String) { end(.failure(Failure(.unavailable, sentence))) }

    private func fillStore() throws(StoreFailure) {
        let store = try StoreDisk(
            directory: directory + "/state", entropy: 0xBE4C, now: UTCTime(milliseconds: 0))
        try store.apply(
            (0..<buttons).compactMap { number in
                guard let key = PairingKey([UInt8](repeating: 7, count: 16)) else { return nil }
                let identity = ButtonIdentity(
                    address: BluetoothAddress(rawValue: 0x80E4_DA04_0000 + UInt64(number)), uuid: "",
                    serial: "BE01-\(number)", nickname: "", firmwareVersion: 10)
                return .putButton(
                    StoredButton(
                        identity: identity, name: "bench\(number)", pairing: Pairing(identifier: 1, key: key),
                        pairedAt: UTCTime(milliseconds: 0)))
            })
    }

    // MARK: One round

    private func startAlone() {
        stage = .alone
        startDaemon(broker: "none")
        timer?.set(at: loop.nanosecondsSinceBoot + 2 * Self.silence)
    }

    private func startBroker() {
        stage = .connecting
        let broker = EmbeddedBroker(
            loop: loop, directory: directory + "/broker\(before.count)", seed: 3
        ) { [weak self] event in
            switch event {
            case .ready(let path): self?.observe(path)
            case .failed(let reason): self?.fail(reason)
            }
        }
        self.broker = broker
        broker.start()
    }

    private func observe(_ path: String) {
        guard observer == nil else { return }
        let options = MQTTOptions(
            endpoint: .unix(path: path), clientIdentifier: "bench_observer")
        let observer = MQTTEdge(loop: loop, options: options, seed: 1) { [weak self] in self?.received($0, path) }
        self.observer = observer
        observer.connect()
    }

    private func received(_ event: MQTTEvent, _ path: String) {
        switch event {
        case .connected:
            guard stage == .connecting else { break }
            stage = .listening
            observer?.subscribe([Subscription("#", qos: 0)])
            (firstAt, isOnline, messages, octets) = (nil, false, 0, 0)
            startDaemon(broker: "unix:\(path)")
            timer?.set(at: loop.nanosecondsSinceBoot + Self.timeLimit)
        case .message(let topicName, let payload, _, _): received(topicName, payload)
        case .disconnected(let failure): fail("\(failure)")
        case .published, .publishFailed, .subscribeFailed, .subscribed, .dropped, .expiringMessage: break
        }
    }

    private func received(_ topicName: String, _ payload: [UInt8]) {
        guard stage == .listening else { return }
        let now = loop.nanosecondsSinceBoot
        let first = firstAt ?? now
        firstAt = first
        messages += 1
        octets += topicName.utf8.count + payload.count
        if topicName == "tryck/bridge/state", !isOnline {
            isOnline = true
            untilOnline.append(Double(now - startedAt))
            announcing.append(Double(now - first))
        }
        timer?.set(at: now + (isOnline ? Self.silence : Self.timeLimit))
    }

    private func timerFired() {
        switch stage {
        case .alone:
            guard let figures = ProcessFigures(of: daemon?.process ?? 0) else { return fail("tryckd has ended.") }
            before.append(Double(figures.residentKilobytes))
            daemon?.stop()
        case .listening:
            guard isOnline, let figures = ProcessFigures(of: daemon?.process ?? 0) else {
                return fail("tryckd has not published within 60 s that it is online.")
            }
            after.append(Double(figures.residentKilobytes))
            peak.append(Double(figures.peakKilobytes))
            counts = (messages, octets)
            stage = .stopping
            daemon?.stop()
        case .connecting, .stopping, .over: break
        }
    }

    private func startDaemon(broker: String) {
        let configuration = """
            bluetooth: {transport: none}
            mqtt: {broker: "\(broker)"}
            rules: rules.yaml

            """
        guard FileText.write(Array(configuration.utf8), to: directory + "/tryck.yaml"),
            FileText.write(Array("version: 1\n".utf8), to: directory + "/rules.yaml")
        else { return fail("cannot write to \(directory)") }
        do {
            let arguments = [
                try DaemonProgram.locate(), "--config", directory + "/tryck.yaml", "--state-directory",
                directory + "/state", "--control-socket", directory + "/control.sock", "--log-level", "error",
            ]
            startedAt = loop.nanosecondsSinceBoot
            daemon = try DaemonChild(loop, arguments: arguments, log: directory + "/tryckd.log") { [weak self] _ in
                self?.ended()
            }
        } catch {
            fail(error.sentence)
        }
    }

    private func ended() {
        daemon = nil
        observer?.disconnect {}
        observer = nil
        broker?.stop()
        broker = nil
        if let result {
            self.result = nil
            stage = .over
            return finished(result)
        }
        switch stage {
        case .alone where before.count > after.count: startBroker()
        case .stopping where after.count < rounds: startAlone()
        case .stopping: finish()
        case .alone, .connecting, .listening: fail("tryckd has ended by itself: see \(directory)/tryckd.log")
        case .over: break
        }
    }

    private func finish() {
        end(
            .success(
                BenchTable.Section(
                    title: "\(buttons) buttons, \(counts.messages) messages of \(counts.octets) octets",
                    rows: [
                        .init(name: "start → bridge/state says online", unit: .time, samples: untilOnline),
                        .init(name: "first message → bridge/state says online", unit: .time, samples: announcing),
                        .init(name: "tryckd without a broker, resident", unit: .memory, samples: before),
                        .init(
                            name: "tryckd when all is said, resident", unit: .memory, samples: after, floor: before),
                        .init(name: "tryckd, most memory", unit: .memory, samples: peak, floor: before),
                    ])))
    }
}
