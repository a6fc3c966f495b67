import ButtonModel
import CMosquitto
import Glibc
import Hub
import MQTTTopics

/// A libmosquitto handle for one connection. Each connection gets a new one.
///
/// A handle that is used again would send old messages after a reconnect: those that it was given without a connection,
/// and those that were not acknowledged when the connection was lost.
///
/// A handle may be used by one thread at a time. While a `Dial` runs on a helper thread, the owner must not call it.
///
/// The library's callbacks only collect events. `outcome` returns them after the call, because inside a callback the
/// handle must not be destroyed.
///
/// - Source: mosquitto.h of libmosquitto 2.0; MQTT 5.0.
final class MQTTClient {
    /// The maximum length of a payload in octets; a message with a longer payload is discarded.
    static let maximumPayload = 256 * 1024
    /// The maximum length of a packet in octets. The connection is closed as soon as the length of a longer packet is
    /// known. With MQTT 5, CONNECT contains this limit.
    static let maximumPacketSize: UInt32 = 1024 * 1024
    /// The octets and packets that are read in one turn of the loop, so that a flood does not delay the radio.
    static let octetsPerTurn = 64 * 1024
    /// With TLS: the octets that are read from the socket in one turn. They can be 600 requests for new keys, which have no
    /// content and take some milliseconds.
    static let encryptedOctetsPerTurn = 16 * 1024
    static let packetsPerTurn: UInt32 = 64
    /// The octets that the kernel buffers for a broker that does not read.
    private static let sendBuffer: Int32 = 128 * 1024
    /// The maximum length in octets of packets other than PUBLISH. Usual ones have some dozens.
    static let maximumOtherPacket: UInt32 = 16 * 1024

    /// The number of unfinished messages with QoS 2 from the broker.
    static let maximumHeld = Int(CMOSQUITTO_MAXIMUM_HELD)

    enum Refusal {
        case tooLong(octets: Int, isMessage: Bool)
        case tooMuchHeld
        case malformed(String)
    }

    /// The results of the library's callbacks.
    private final class Reports {
        static let maximumLogLines = 8

        let version: MQTTProtocolVersion
        let options: MQTTOptions
        /// Limited by the number of packets that one turn reads.
        var events: [MQTTSession.LibraryEvent] = []
        /// The last errors that the library logged.
        var logLines: [String] = []
        /// True if CONNACK accepted the connection.
        var wasConnected = false
        /// The argument of `on_disconnect`.
        var disconnection: Int32 = 0

        init(_ options: MQTTOptions, _ version: MQTTProtocolVersion) {
            self.options = options
            self.version = version
        }
    }

    private let version: MQTTProtocolVersion
    private let handle: OpaquePointer
    private let reports: Reports
    /// The socket's descriptor since the dial succeeded.
    private(set) var descriptor: Int32 = -1
    /// The state of `cmosquitto_loop_read`, which keeps this address while it reads.
    private let reader = UnsafeMutablePointer<cmosquitto_reader>.allocate(capacity: 1)
    /// True if an assertion of the library has failed, after which the handle must not be used.
    private var isAbandoned = false

    private static let isLibraryReady = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

    init(_ options: MQTTOptions, version: MQTTProtocolVersion) throws(MQTTFailure) {
        try Self.checkTexts(of: options)
        let identifier = options.clientIdentifier
        guard Self.isLibraryReady, let handle = mosquitto_new(identifier.isEmpty ? nil : identifier, true, nil) else {
            throw .unusableOption("libmosquitto cannot be used: \(String(cString: strerror(errno)))")
        }
        self.handle = handle
        self.version = version
        reports = Reports(options, version)
        reader.initialize(to: cmosquitto_reader())
        reader.pointee.maximum_publish = Self.maximumPacketSize
        reader.pointee.maximum_other = Self.maximumOtherPacket
        reader.pointee.has_properties = version == .v5 ? 1 : 0
        reader.pointee.checks_properties = options.checksProperties ? 1 : 0
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(reports).toOpaque())
        Self.setCallbacks
        cmosquitto_use_callbacks(handle)
        mosquitto_int_option(
            handle, MOSQ_OPT_PROTOCOL_VERSION, version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311)
        if let username = options.username {
            try check(mosquitto_username_pw_set(handle, username, options.password?.text), "mqtt.username")
        }
        if let will = options.will {
            try check(
                mosquitto_will_set(
                    handle, will.topicName, Int32(clamping: will.payload.count), will.payload,
                    Int32(clamping: will.qos),
                    will.retain), "the will's topic")
        }
        switch options.endpoint {
        case .tcp: mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        case .unix: break
        case .tls(_, _, let security):
            mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
            try set(security, endpoint: options.endpoint.description)
        }
        if version == .v5 {
            mosquitto_int_option(handle, MOSQ_OPT_RECEIVE_MAXIMUM, Int32(options.receiveMaximum))
            limitPacketSize()
        }
    }

    deinit {
        if !isAbandoned { mosquitto_destroy(handle) }
        reader.deallocate()
    }

    // MARK: Connecting

    /// Resolves the broker's name and begins to connect. Blocks, so it must be called on a helper thread.
    struct Dial: Sendable {
        struct Result: Sendable {
            var code: Int32
            var systemError: Int32
        }

        /// The address of the handle, which the owner does not use while the dial runs.
        fileprivate let handle: UInt
        fileprivate let host: String
        fileprivate let port: Int32
        fileprivate let keepAlive: Int32

        func callAsFunction() -> Result {
            errno = 0
            let code = mosquitto_connect_async(OpaquePointer(bitPattern: handle), host, port, keepAlive)
            return Result(code: code, systemError: errno)
        }
    }

    func dial(_ options: MQTTOptions) -> Dial {
        let (host, port): (String, Int32) =
            switch options.endpoint {
            case .tcp(let host, let port), .tls(let host, let port, _): (host, Int32(port))
            // With port 0, the library interprets the host as the path of a socket.
            case .unix(let path): (path, 0)
            }
        return Dial(
            handle: UInt(bitPattern: handle), host: host, port: port, keepAlive: Int32(options.keepAliveSeconds))
    }

    /// Configures the socket after a dial. From then on, the owner may use the handle again.
    ///
    /// - Returns: the reason why there is no socket; `nil` if there is one.
    func dialled(_ result: Dial.Result) -> MQTTFailure? {
        let socket = mosquitto_socket(handle)
        guard result.code == MOSQ_ERR_SUCCESS.rawValue, socket >= 0 else {
            return MQTTFailure(
                code: result.code, systemError: result.systemError, logLines: reports.logLines,
                options: reports.options,
                wasConnected: false)
        }
        descriptor = socket
        // The library does not set this flag. Without it, a restart by execve would leave the old connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Without a limit, the kernel would buffer megabytes for a broker that does not read.
        var sendBuffer = Self.sendBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &sendBuffer, socklen_t(MemoryLayout<Int32>.size))
        return nil
    }

    // MARK: The loop

    /// True if the socket of the dial is still open. Once it is closed, its number may belong to another file.
    var isOpen: Bool { mosquitto_socket(handle) == descriptor }
    /// True if TLS has decrypted octets that the library has not read. epoll does not report them.
    var hasPendingInput: Bool { isOpen && cmosquitto_pending(handle) > 0 }

    /// Reads until the limits of one turn are reached. Like all functions of this class that return a code, it returns the code of
    /// libmosquitto, or `CMOSQUITTO_ASSERTED` if an assertion in libmosquitto failed. Then only `outcome` may be called.
    func read() -> Int32 {
        reader.pointee.octets_left = Self.octetsPerTurn
        reader.pointee.encrypted_octets_left = Self.encryptedOctetsPerTurn
        reader.pointee.packets_left = Self.packetsPerTurn
        var code: Int32
        repeat {
            code = cmosquitto_loop_read(handle, reader)
        } while code == 0 && hasPendingInput && reader.pointee.octets_left > 0 && reader.pointee.packets_left > 0
        return code
    }

    func write() -> Int32 { cmosquitto_loop_write(handle) }
    /// Sends PINGREQ when that is due.
    func performUpkeep() -> Int32 { cmosquitto_loop_misc(handle) }
    func disconnect() -> Int32 { mosquitto_disconnect_v5(handle, 0, nil) }

    /// The results of the calls since the last `outcome`.
    ///
    /// - Parameters:
    ///   - code: the result of the last call.
    ///   - systemError: `errno` after it.
    func outcome(_ code: Int32, systemError: Int32) -> MQTTSession.Outcome {
        var outcome = MQTTSession.Outcome(events: reports.events)
        reports.events = []
        if code == CMOSQUITTO_ASSERTED {
            outcome.failure = .malformedPacket(endpoint: reports.options.endpoint.description, cause: abandon())
        } else if isOpen {
            outcome.hasOutput = mosquitto_want_write(handle)
            if !outcome.hasOutput { reader.pointee.answered = 0 }
            outcome.unwrittenAnswers = Int(reader.pointee.answered)
            outcome.hasPendingInput = hasPendingInput
        } else if let refusal {
            outcome.failure = MQTTFailure(refusal, options: reports.options)
        } else {
            // A reason code from the broker is more specific than the result of the call.
            let disconnection = reports.disconnection
            outcome.failure = MQTTFailure(
                code: disconnection >= 0x80 || code == 0 ? disconnection : code, systemError: systemError,
                logLines: reports.logLines, options: reports.options, wasConnected: reports.wasConnected)
        }
        return outcome
    }

    /// Why `cmosquitto_reader` ended the connection.
    private var refusal: Refusal? {
        switch reader.pointee.refusal {
        case Int32(CMOSQUITTO_NOTHING_REFUSED.rawValue): nil
        case Int32(CMOSQUITTO_MALFORMED.rawValue): .malformed("a property that MQTT 5 does not have")
        case Int32(CMOSQUITTO_TOO_MUCH_HELD.rawValue): .tooMuchHeld
        default: .tooLong(octets: Int(reader.pointee.length), isMessage: reader.pointee.command >> 4 == 3)
        }
    }

    /// Discards the handle after a failed assertion. If the library may hold a lock at this point, only the socket is
    /// closed, and the handle's memory leaks.
    ///
    /// - Returns: the text of the assertion.
    private func abandon() -> String {
        isAbandoned = true
        if cmosquitto_may_destroy() != 0 { mosquitto_destroy(handle) } else { close(descriptor) }
        return String(cString: cmosquitto_assertion())
    }

    // MARK: Messages

    /// Makes the kernel hold packets back, or send those that it holds (TCP_CORK). Has no effect on other sockets than TCP.
    func holdPackets(_ isHolding: Bool) {
        // A helper thread uses the handle until the dial has ended.
        guard descriptor >= 0, isOpen else { return }
        var value: Int32 = isHolding ? 1 : 0
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    func publish(_ message: MQTTSession.Publish) -> (MQTTSession.Call, code: Int32) {
        var messageID: Int32 = 0
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if let expiry = message.expiry, version == .v5 {
            // Seconds are rounded up, because mosquitto treats 0 as no expiry.
            let seconds = UInt32(clamping: max(1, (expiry.milliseconds.addingSaturating(999)) / 1000))
            mosquitto_property_add_int32(&properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.identifier, seconds)
        }
        let code = cmosquitto_publish(
            handle, &messageID, message.topicName, Int32(clamping: message.payload.count), message.payload,
            Int32(clamping: message.qos), message.retain, properties)
        return (.publish(message, acceptance(code, messageID)), code)
    }

    func subscribe(_ subscription: Subscription) -> (MQTTSession.Call, code: Int32) {
        var messageID: Int32 = 0
        // No Local is a reserved bit in MQTT 3.1.1.
        let options = version == .v5 && subscription.isWithoutOurs ? Int32(MQTT_SUB_OPT_NO_LOCAL.rawValue) : 0
        let code = mosquitto_subscribe_v5(
            handle, &messageID, subscription.topicFilter, Int32(clamping: subscription.qos), options, nil)
        return (.subscribe(topicFilter: subscription.topicFilter, acceptance(code, messageID)), code)
    }

    func unsubscribe(_ topicFilter: String) -> Int32 { mosquitto_unsubscribe_v5(handle, nil, topicFilter, nil) }

    private func acceptance(_ code: Int32, _ messageID: Int32) -> MQTTSession.Acceptance {
        code == MOSQ_ERR_SUCCESS.rawValue
            ? .accepted(messageID: messageID) : .refused(String(cString: mosquitto_strerror(code)))
    }

    // MARK: Setting up

    /// Rejects texts with a NUL character, at which a C string would end.
    private static func checkTexts(of options: MQTTOptions) throws(MQTTFailure) {
        let texts = [
            ("mqtt.broker", options.endpoint.host), ("mqtt.username", options.username),
            ("mqtt.password", options.password?.text), ("mqtt.client_id", options.clientIdentifier),
            ("mqtt.base_topic", options.will?.topicName),
        ]
        for (option, text) in texts where text?.utf8.contains(0) == true {
            throw .unusableOption("\(option) contains a NUL character")
        }
    }

    private func check(_ code: Int32, _ what: String) throws(MQTTFailure) {
        guard code != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw .unusableOption("\(what) cannot be used: \(String(cString: mosquitto_strerror(code)))")
    }

    private func set(_ security: MQTTTransportSecurity, endpoint: String) throws(MQTTFailure) {
        let files = [
            ("mqtt.tls.ca", security.certificateAuthorityPath), ("mqtt.tls.certificate", security.certificatePath),
            ("mqtt.tls.key", security.keyPath),
        ]
        for (option, path) in files {
            guard let path else { continue }
            guard access(path, R_OK) == 0 else {
                throw .security(endpoint: endpoint, .unusableFile(option: option, path: path))
            }
        }
        if (security.certificatePath == nil) != (security.keyPath == nil) {
            throw .unusableOption("mqtt.tls.certificate and mqtt.tls.key must be set together")
        }
        if security.certificateAuthorityPath == nil {
            mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1)
        }
        // Without the callback, OpenSSL would ask for the passphrase on the terminal.
        let code = mosquitto_tls_set(
            handle, security.certificateAuthorityPath,
            security.certificateAuthorityPath == nil ? "/etc/ssl/certs" : nil,
            security.certificatePath, security.keyPath, { _, _, _, _ in 0 })
        try check(code, "mqtt.tls")
        if security.isInsecure {
            mosquitto_tls_opts_set(handle, 0, nil, nil)
            mosquitto_tls_insecure_set(handle, true)
        }
    }

    /// Stores the CONNECT property Maximum Packet Size in the handle.
    ///
    /// Only the library's blocking connect accepts CONNECT properties. With an invalid port, it stores them and fails
    /// before it connects, and the later connect of the same handle sends them.
    private func limitPacketSize() {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        mosquitto_property_add_int32(&properties, MQTT_PROP_MAXIMUM_PACKET_SIZE.identifier, Self.maximumPacketSize)
        mosquitto_connect_bind_v5(handle, "localhost", -1, 60, nil, properties)
    }

    private static let setCallbacks: Void = {
        var callbacks = cmosquitto_callbacks()
        callbacks.connected = { context, reasonCode, properties in
            guard let reports = MQTTClient.reports(context) else { return }
            var keepAlive: UInt16 = 0
            let hasKeepAlive =
                mosquitto_property_read_int16(
                    properties, MQTT_PROP_SERVER_KEEP_ALIVE.identifier, &keepAlive, false) != nil
            if reasonCode == 0 {
                reports.wasConnected = true
                reports.events.append(.connectAccepted(keepAlive: hasKeepAlive ? keepAlive : nil))
            } else {
                let failure = MQTTFailure(
                    connectReasonCode: reasonCode, version: reports.version, options: reports.options)
                reports.events.append(.connectRefused(reasonCode: reasonCode, failure))
            }
        }
        callbacks.disconnected = { context, code in MQTTClient.reports(context)?.disconnection = code }
        callbacks.published = { context, messageID, reasonCode in
            MQTTClient.reports(context)?.events.append(
                .published(messageID: messageID, refusal: MQTTClient.refusal(reasonCode)))
        }
        callbacks.subscribed = { context, messageID, count, granted in
            let codes = UnsafeBufferPointer(start: granted, count: Int(max(0, count)))
            MQTTClient.reports(context)?.events.append(
                .subscribed(messageID: messageID, refusals: codes.compactMap(MQTTClient.refusal)))
        }
        callbacks.message = { context, message, properties in
            guard let message, let reports = MQTTClient.reports(context) else { return }
            let event = MQTTClient.event(of: message.pointee)
            reports.events.append(
                reports.options.reportsExpiry ? MQTTClient.expiring(event, properties) ?? event : event)
        }
        callbacks.logged = { context, text in
            guard let reports = MQTTClient.reports(context), let text else { return }
            if reports.logLines.count == Reports.maximumLogLines { reports.logLines.removeFirst() }
            reports.logLines.append(String(String(cString: text).prefix(200)))
        }
        cmosquitto_set_callbacks(&callbacks)
    }()

    private static func reports(_ context: UnsafeMutableRawPointer?) -> Reports? {
        context.map { Unmanaged<Reports>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The text of a reason code from 0x80 on, which are refusals; `nil` for others.
    private static func refusal(_ reasonCode: Int32) -> String? {
        reasonCode < 0x80 ? nil : String(cString: mosquitto_reason_string(reasonCode))
    }

    /// The event of a message with the rest of its expiry interval; `nil` if the message has no such property.
    private static func expiring(
        _ event: MQTTSession.LibraryEvent, _ properties: OpaquePointer?
    ) -> MQTTSession.LibraryEvent? {
        var seconds: UInt32 = 0
        guard case .message(let topicName, let payload, let retained, _) = event,
            mosquitto_property_read_int32(properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.identifier, &seconds, false)
                != nil
        else { return nil }
        return .expiringMessage(
            topicName: topicName, payload: payload, retained: retained, remaining: .seconds(Int64(seconds)))
    }

    private static func event(of message: mosquitto_message) -> MQTTSession.LibraryEvent {
        guard let topic = message.topic, let topicName = String(validatingCString: topic) else {
            return .dropped("a message on a topic that is not UTF-8 was dropped")
        }
        let count = Int(max(0, message.payloadlen))
        guard count <= maximumPayload else {
            return .dropped(
                "a message of \(count) octets on \(topicName) was dropped: \(maximumPayload) is the limit")
        }
        let payload = Array(UnsafeRawBufferPointer(start: message.payload, count: message.payload == nil ? 0 : count))
        return .message(topicName: topicName, payload: payload, retained: message.retain, qos: Int(message.qos))
    }
}

extension mqtt5_property {
    fileprivate var identifier: Int32 { Int32(rawValue) }
}

extension MQTTOptions {
    /// The keep-alive within the range that libmosquitto accepts.
    package var keepAliveSeconds: Int64 { min(max(keepAlive.milliseconds / 1000, 5), 65535) }
}
