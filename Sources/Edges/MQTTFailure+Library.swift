import CMosquitto
import Glibc

// Maps the codes of libmosquitto to `MQTTFailure`.
extension MQTTFailure {
    /// The failure for a CONNACK that refuses the connection. The two versions of MQTT have different reason codes.
    ///
    /// - Source: MQTT 5.0, 3.2.2.2; MQTT 3.1.1, 3.2.2.3.
    init(connectReasonCode code: Int32, version: MQTTProtocolVersion, options: MQTTOptions) {
        let endpoint = options.endpoint.description
        switch (version, code) {
        case (.v5, 0x84), (.v311, 1): self = .protocolVersionRefused(endpoint: endpoint, version)
        case (.v5, 0x85), (.v311, 2):
            self = .clientIdentifierRejected(endpoint: endpoint, clientIdentifier: options.clientIdentifier)
        case (.v5, 0x86), (.v5, 0x87), (.v311, 4), (.v311, 5):
            self = .notAuthorized(endpoint: endpoint, hasUsername: options.username != nil)
        case (.v5, _):
            self = .refused(
                endpoint: endpoint, reasonCode: Int(code), reasonText: String(cString: mosquitto_reason_string(code)))
        case (.v311, _):
            self = .refused(
                endpoint: endpoint, reasonCode: Int(code), reasonText: String(cString: mosquitto_connack_string(code)))
        }
    }

    init(_ refusal: MQTTClient.Refusal, options: MQTTOptions) {
        let endpoint = options.endpoint.description
        switch refusal {
        case .tooLong(let octets, let isMessage):
            self = .packetTooLong(endpoint: endpoint, octets: octets, isMessage: isMessage)
        case .tooMuchHeld: self = .tooMuchHeld(endpoint: endpoint)
        case .malformed(let cause): self = .malformedPacket(endpoint: endpoint, cause: cause)
        }
    }

    /// The failure for the result of a call, or for the code that the disconnect callback received.
    ///
    /// - Parameters:
    ///   - code: an MQTT reason code if it is 0x80 or higher, otherwise a code of the library.
    ///   - systemError: `errno` after the call.
    ///   - logLines: the lines that the library has logged.
    init(code: Int32, systemError: Int32, logLines: [String], options: MQTTOptions, wasConnected: Bool) {
        let endpoint = options.endpoint.description
        if let fault = SecurityFault(logLines: logLines, options: options) {
            self = .security(endpoint: endpoint, fault)
        } else if code == MOSQ_ERR_TLS.rawValue {
            self = .security(
                endpoint: endpoint, .handshake(logLines.last ?? "the broker does not use TLS on this port"))
        } else if code == MOSQ_ERR_EAI.rawValue {
            self = .hostNotFound(host: options.endpoint.host)
        } else if code >= 0x80 {
            self = .disconnectedByBroker(
                endpoint: endpoint, reasonCode: Int(code), reasonText: String(cString: mosquitto_reason_string(code)))
        } else if systemError == ECONNREFUSED, !wasConnected {
            self = .connectionRefused(endpoint: endpoint)
        } else if code == MOSQ_ERR_ERRNO.rawValue, systemError != 0 {
            let cause = String(cString: strerror(systemError))
            self =
                wasConnected
                ? .connectionLost(endpoint: endpoint, cause: cause) : .unreachable(endpoint: endpoint, cause: cause)
        } else if code == MOSQ_ERR_KEEPALIVE.rawValue {
            self = .connectionLost(endpoint: endpoint, cause: "it no longer answers")
        } else {
            self = .connectionLost(endpoint: endpoint, cause: String(cString: mosquitto_strerror(code)))
        }
    }
}

extension MQTTFailure.SecurityFault {
    /// The fault in the library's log. The library reports faults of certificates only there.
    fileprivate init?(logLines: [String], options: MQTTOptions) {
        guard case .tls(_, _, let security) = options.endpoint else { return nil }
        func says(_ text: String) -> Bool { logLines.contains { $0.contains(text) } }
        if says("host name verification failed") {
            self = .wrongHostName
        } else if says("certificate verify failed") {
            self = .untrustedCertificate
        } else if says("Unable to load CA") {
            self = .unusableFile(option: "mqtt.tls.ca", path: security.certificateAuthorityPath ?? "the system's roots")
        } else if says("Unable to load client certificate") {
            self = .unusableFile(option: "mqtt.tls.certificate", path: security.certificatePath ?? "")
        } else if says("Unable to load client key") || says("key file are inconsistent") {
            self = .unusableFile(option: "mqtt.tls.key", path: security.keyPath ?? "")
        } else {
            return nil
        }
    }
}
