import CMosquitto
import CommandSupport
import Glibc
import Platform

/// An MQTT publisher and subscriber that uses only libmosquitto and `poll`. The time of a message to the broker and back
/// is therefore the minimum for any client that uses the library.
final class BareMosquitto {
    private final class Notes {
        var isAnswered = false
        var published = 0
        var received = 0
    }

    private static let patienceMilliseconds: Int32 = 5000
    /// Longer than any measurement, so that no pings are sent.
    private static let keepAliveSeconds: Int32 = 3600

    private let publisher, subscriber: OpaquePointer
    private let notes = Notes()

    /// - Parameter topicFilter: the filter to subscribe to, with QoS 1.
    init(broker path: String, topicFilter: String) throws(Failure) {
        mosquitto_lib_init()
        guard let publisher = mosquitto_new("bench_bare_publisher", true, nil),
            let subscriber = mosquitto_new("bench_bare_subscriber", true, nil)
        else { throw Failure(.unavailable, "libmosquitto cannot be used: \(errorText(errno)).") }
        (self.publisher, self.subscriber) = (publisher, subscriber)
        setCallbacks()
        for handle in [publisher, subscriber] {
            mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)
            mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
            notes.isAnswered = false
            // Port 0 makes the host a path.
            try check(mosquitto_connect(handle, path, 0, Self.keepAliveSeconds))
            try wait { $0.isAnswered }
        }
        notes.isAnswered = false
        try check(mosquitto_subscribe(subscriber, nil, topicFilter, 1))
        try wait { $0.isAnswered }
    }

    deinit {
        mosquitto_destroy(publisher)
        mosquitto_destroy(subscriber)
    }

    /// - Returns: nanoseconds from the call to the arrival of the message.
    func publish(_ payload: [UInt8], to topicName: String, qos: Int32) throws(Failure) -> Double {
        let (published, received) = (notes.published, notes.received)
        let clock = ContinuousClock()
        let began = clock.now
        try check(mosquitto_publish(publisher, nil, topicName, Int32(payload.count), payload, qos, false))
        try wait { $0.received > received }
        let time = clock.now - began
        // The broker's acknowledgement may come after the message.
        try wait { $0.published > published }
        return Double(time.components.attoseconds / 1_000_000_000) + Double(time.components.seconds) * 1e9
    }

    private func wait(until isSo: (Notes) -> Bool) throws(Failure) {
        while !isSo(notes) {
            let handles = [subscriber, publisher].filter { mosquitto_socket($0) >= 0 }
            var sockets = handles.map { pollfd(fd: mosquitto_socket($0), events: Int16(POLLIN), revents: 0) }
            guard poll(&sockets, nfds_t(sockets.count), Self.patienceMilliseconds) > 0 else {
                throw Failure(.unavailable, "The broker has not answered within 5 s.")
            }
            for (socket, handle) in zip(sockets, handles) where socket.revents != 0 {
                try check(mosquitto_loop_read(handle, 1))
            }
        }
    }

    private func check(_ code: Int32) throws(Failure) {
        guard code != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw Failure(.unavailable, "libmosquitto: \(String(cString: mosquitto_strerror(code))).")
    }

    private func setCallbacks() {
        for handle in [publisher, subscriber] {
            mosquitto_user_data_set(handle, Unmanaged.passUnretained(notes).toOpaque())
            mosquitto_connect_callback_set(handle) { _, context, _ in BareMosquitto.note(context)?.isAnswered = true }
        }
        mosquitto_subscribe_callback_set(subscriber) { _, context, _, _, _ in
            BareMosquitto.note(context)?.isAnswered = true
        }
        mosquitto_publish_callback_set(publisher) { _, context, _ in BareMosquitto.note(context)?.published += 1 }
        mosquitto_message_callback_set(subscriber) { _, context, _ in BareMosquitto.note(context)?.received += 1 }
    }

    private static func note(_ context: UnsafeMutableRawPointer?) -> Notes? {
        context.map { Unmanaged<Notes>.fromOpaque($0).takeUnretainedValue() }
    }
}
