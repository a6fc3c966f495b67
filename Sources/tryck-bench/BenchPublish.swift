import CommandSupport
import Edges
import Hub
import Platform
import Reactor
import TrialEdges

/// Measures what `MQTTEdge` adds to libmosquitto: a message through the event loop to a broker and back, in turn with a
/// message by libmosquitto alone.
@ReactorActor
final class BenchPublish {
    private static let topicName = "bench/edge"
    private static let bareTopicName = "bench/bare"
    /// Has the length of a rule's message.
    private static let payload = Array("0123456789abcdef".utf8)
    /// Nanoseconds between two measurements, long enough for acknowledgements to be over.
    private static let pause: Int64 = 2_000_000
    private static let timeLimit: Int64 = 5_000_000_000

    private let loop: EventLoop
    private let directory: String
    private let count: Int
    private let finished: @ReactorActor (Result<BenchTable.Section, Failure>) -> Void
    private var broker: EmbeddedBroker?
    private var bare: BareMosquitto?
    private var publisher: MQTTEdge?
    private var subscriber: MQTTEdge?
    private var connected = 0
    private var timer: Timer?
    private var began: Int64?
    private var isOver = false
    /// Nanoseconds for each message, by QoS.
    private var samples: [[Double]] = [[], []]
    private var floors: [[Double]] = [[], []]

    init(
        loop: EventLoop, directory: String, count: Int,
        finished: @escaping @ReactorActor (Result<BenchTable.Section, Failure>) -> Void
    ) {
        self.loop = loop
        self.directory = directory
        self.count = count
        self.finished = finished
        timer = loop.timer { [weak self] in self?.next() }
    }

    func start() {
        let broker = EmbeddedBroker(loop: loop, directory: directory + "/broker", seed: 3) { [weak self] event in
            switch event {
            case .ready(let path): self?.connect(path)
            case .failed(let reason): self?.end(.failure(Failure(.unavailable, reason)))
            }
        }
        self.broker = broker
        broker.start()
    }

    func end(_ result: Result<BenchTable.Section, Failure> = .failure(.silent(.unavailable))) {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        for edge in [publisher, subscriber] { edge?.disconnect {} }
        broker?.stop()
        finished(result)
    }

    private func connect(_ path: String) {
        let endpoint = MQTTOptions.Endpoint.unix(path: path)
        do throws(Failure) {
            bare = try BareMosquitto(broker: path, topicFilter: Self.bareTopicName)
        } catch {
            return end(.failure(error))
        }
        func edge(_ name: String, _ seed: UInt64) -> MQTTEdge {
            MQTTEdge(loop: loop, options: MQTTOptions(endpoint: endpoint, clientIdentifier: name), seed: seed) {
                [weak self] in self?.received($0)
            }
        }
        publisher = edge("bench_publisher", 1)
        subscriber = edge("bench_subscriber", 2)
        publisher?.connect()
        subscriber?.connect()
    }

    private func received(_ event: MQTTEvent) {
        switch event {
        case .connected:
            connected += 1
            guard connected == 2 else { break }
            subscriber?.subscribe([Subscription(Self.topicName, qos: 1)])
            timer?.set(at: loop.nanosecondsSinceBoot + 200_000_000)
        case .message(Self.topicName, _, _, let qos):
            guard let began, samples.indices.contains(qos) else { break }
            samples[qos].append(Double(loop.nanosecondsSinceBoot - began))
            self.began = nil
            timer?.set(at: loop.nanosecondsSinceBoot + Self.pause)
        case .disconnected(let failure): end(.failure(Failure(.unavailable, "\(failure)")))
        case .message, .published, .publishFailed, .subscribeFailed, .subscribed, .dropped, .expiringMessage: break
        }
    }

    private func next() {
        guard began == nil else {
            return end(.failure(Failure(.unavailable, "A message has not come within 5 s. Please run it again.")))
        }
        guard let qos = samples.indices.min(by: { samples[$0].count < samples[$1].count }),
            samples[qos].count < count
        else { return finish() }
        guard floors[qos].count > samples[qos].count else {
            do throws(Failure) {
                guard let bare else { return }
                floors[qos].append(try bare.publish(Self.payload, to: Self.bareTopicName, qos: Int32(qos)))
            } catch {
                return end(.failure(error))
            }
            timer?.set(at: loop.nanosecondsSinceBoot + Self.pause)
            return
        }
        began = loop.nanosecondsSinceBoot
        publisher?.publish(
            id: UInt64(samples[qos].count), topicName: Self.topicName, payload: Self.payload, qos: qos, retain: false,
            expiry: nil)
        timer?.set(at: loop.nanosecondsSinceBoot + Self.timeLimit)
    }

    private func finish() {
        let rows = samples.indices.flatMap { qos in
            [
                BenchTable.Row(name: "QoS \(qos): libmosquitto alone", unit: .time, samples: floors[qos]),
                BenchTable.Row(
                    name: "QoS \(qos): our edge on the event loop", unit: .time, samples: samples[qos],
                    floor: floors[qos]),
            ]
        }
        end(.success(BenchTable.Section(title: "publish → receive, \(count) of each in turn", rows: rows)))
    }
}
