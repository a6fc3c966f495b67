import CLinux
import Edges
import Glibc
import Hub
import Reactor

/// The demo's own MQTT subscriber. The demo shows only messages that the broker has delivered.
@ReactorActor
final class DemoListener {
    enum Event: Sendable {
        case subscribed
        case delivered(PressTracker.Message, qos: Int)
        case failed(String)
    }

    /// Published after the subscription. The broker takes both in order, so when this message comes back, the
    /// subscription is complete.
    private static let echoTopic = "tryck-demo/listening"

    private var mqtt: MQTTEdge?
    private let handler: @ReactorActor (Event) -> Void

    /// - Parameter broker: `unix:PATH`.
    init(_ loop: EventLoop, broker: String, _ handler: @escaping @ReactorActor (Event) -> Void) {
        self.handler = handler
        guard broker.hasPrefix("unix:") else {
            handler(.failed("The daemon's broker is at \"\(broker)\", which is not a socket. Please report this."))
            return
        }
        let options = MQTTOptions(
            endpoint: .unix(path: String(broker.dropFirst(5))), clientIdentifier: "tryck-demo-\(getpid())")
        let mqtt = MQTTEdge(loop: loop, options: options, seed: UInt64(getpid())) { [weak self] event in
            self?.received(event)
        }
        self.mqtt = mqtt
        mqtt.connect()
    }

    func stop(_ done: @escaping @ReactorActor () -> Void) {
        guard let mqtt else { return done() }
        mqtt.disconnect(done)
    }

    private func received(_ event: MQTTEvent) {
        switch event {
        case .connected:
            mqtt?.subscribe([Subscription("#")])
            mqtt?.publish(id: 0, topicName: Self.echoTopic, payload: [], qos: 1, retain: false, expiry: nil)
        case .message(Self.echoTopic, _, _, _): handler(.subscribed)
        case .message(let topicName, let payload, let isRetained, let qos):
            // Retained messages were published before the subscription.
            guard !isRetained else { return }
            let text = String(decoding: payload, as: UTF8.self)
            handler(.delivered(.init(topicName: topicName, payload: text), qos: qos))
        case .subscribeFailed(_, let reason), .dropped(let reason): handler(.failed("The broker: \(reason)."))
        // `MQTTEdge` connects again by itself. `DemoRun` fails a press whose message does not arrive.
        case .disconnected, .published, .publishFailed, .subscribed, .expiringMessage: break
        }
    }
}
