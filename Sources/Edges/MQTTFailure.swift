import Platform

/// The reason why there is no connection to the broker. The description advises the user and contains no password.
package enum MQTTFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case connectionRefused(endpoint: String)
    case hostNotFound(host: String)
    /// `cause` is the system's error text.
    case unreachable(endpoint: String, cause: String)
    /// CONNACK did not arrive in time.
    case noAnswer(endpoint: String)
    case notAuthorized(endpoint: String, hasUsername: Bool)
    case clientIdentifierRejected(endpoint: String, clientIdentifier: String)
    case protocolVersionRefused(endpoint: String, MQTTProtocolVersion)
    /// CONNACK refused the connection for another reason.
    case refused(endpoint: String, reasonCode: Int, reasonText: String)
    case security(endpoint: String, SecurityFault)
    /// The connection ended after it was established, or during the handshake.
    case connectionLost(endpoint: String, cause: String)
    /// The broker sent DISCONNECT. Reason code 0x8E means that another client took the session over.
    case disconnectedByBroker(endpoint: String, reasonCode: Int, reasonText: String)
    /// The broker began to send a packet of this length, and the connection was closed before it arrived.
    case packetTooLong(endpoint: String, octets: Int, isMessage: Bool)
    /// The broker does not finish messages with QoS 2, which the library keeps until their PUBREL.
    case tooMuchHeld(endpoint: String)
    /// The broker sent a packet that breaks the protocol. `cause` describes the fault.
    case malformedPacket(endpoint: String, cause: String)
    /// An option cannot be used, and nothing was sent.
    case unusableOption(String)

    package enum SecurityFault: Hashable, Sendable {
        /// The certificate is not signed by a trusted authority, or not valid now.
        case untrustedCertificate
        case wrongHostName
        /// `mqtt.tls.ca`, `.certificate` or `.key` cannot be read or used.
        case unusableFile(option: String, path: String)
        /// The error text of OpenSSL.
        case handshake(String)
    }

    package var description: String {
        switch self {
        case .connectionRefused(let endpoint):
            "the connection to \(endpoint) was refused: is mosquitto running there, and listening on that port?"
        case .hostNotFound(let host):
            Unresolved.advice(on: host, of: "the broker", example: "mqtt://192.168.1.10:1883")
                ?? "the name \(host) cannot be resolved: check mqtt.broker and the network"
        case .unreachable(let endpoint, let cause):
            "\(endpoint) cannot be reached: \(cause)"
        case .noAnswer(let endpoint):
            "\(endpoint) does not answer: is it an MQTT broker, and is mqtts:// needed?"
        case .notAuthorized(let endpoint, let hasUsername):
            hasUsername
                ? "the broker at \(endpoint) refuses this user name or password: check mqtt.username and mqtt.password"
                : "the broker at \(endpoint) requires a user name and a password: set mqtt.username and mqtt.password"
        case .clientIdentifierRejected(let endpoint, let clientIdentifier):
            "the broker at \(endpoint) refuses the client identifier \"\(clientIdentifier)\": set another mqtt.client_id"
        case .protocolVersionRefused(let endpoint, let version):
            "the broker at \(endpoint) does not speak MQTT \(version.rawValue): set mqtt.protocol"
        case .refused(let endpoint, let reasonCode, let reasonText):
            "the broker at \(endpoint) refuses the connection: \(reasonText) (reason code \(reasonCode))"
                + MQTTFailure.advice(onRefusal: reasonCode)
        case .security(let endpoint, .untrustedCertificate):
            "the certificate of \(endpoint) is not signed by a trusted authority, or not valid now: "
                + "set mqtt.tls.ca to the file of its authority, and check the clock"
        case .security(let endpoint, .wrongHostName):
            "the certificate of \(endpoint) is for another host name: set mqtt.broker to a name in the certificate"
        case .security(_, .unusableFile(let option, let path)):
            "\(option): \(path) cannot be read, or is not a PEM file without a passphrase"
        case .security(let endpoint, .handshake(let words)):
            "the TLS handshake with \(endpoint) failed: \(words)"
        case .connectionLost(let endpoint, let cause):
            "the connection to \(endpoint) was lost: \(cause)"
        case .disconnectedByBroker(let endpoint, 0x8E, _):
            "the broker at \(endpoint) ended the connection because another client connected with the same client identifier: "
                + "give one of them another mqtt.client_id"
        case .disconnectedByBroker(let endpoint, let reasonCode, let reasonText):
            "the broker at \(endpoint) ended the connection: \(reasonText) (reason code \(reasonCode))"
        case .packetTooLong(let endpoint, let octets, let isMessage):
            "the connection to \(endpoint) was ended: the broker sends "
                + (isMessage
                    ? "a message of \(octets) octets, and the limit is \(MQTTClient.maximumPacketSize): "
                        + "clear the retained message, or subscribe to less"
                    : "a packet of \(octets) octets that is not PUBLISH: is it an MQTT broker?")
        case .tooMuchHeld(let endpoint):
            "the connection to \(endpoint) was ended: the broker leaves messages with QoS 2 unfinished, and "
                + "\(MQTTClient.maximumPacketSize) octets or \(MQTTClient.maximumHeld) messages is the limit"
        case .malformedPacket(let endpoint, let cause):
            "the broker at \(endpoint) sent a packet that breaks the protocol (\(cause)): MQTT 3.1.1 is used until the "
                + "next reload; update the broker, or set mqtt.protocol to 3.1.1"
        case .unusableOption(let sentence):
            sentence
        }
    }

    package var isMalformedPacket: Bool {
        if case .malformedPacket = self { true } else { false }
    }
}

extension MQTTFailure {
    /// The advice for a CONNACK that refuses the connection; empty if there is none.
    ///
    /// - Source: MQTT 5.0, 3.2.2.2; MQTT 3.1.1, 3.2.2.3 for the 3.
    private static func advice(onRefusal reasonCode: Int) -> String {
        switch reasonCode {
        case 3, 0x88, 0x89, 0x97, 0x9F: "; the connection is retried"
        case 0x8A: ": its administrator has to lift the ban"
        case 0x8C: ": it requires an authentication method that Tryck does not support"
        case 0x90: ": set another mqtt.base_topic"
        case 0x9A, 0x9B: ": Tryck needs retained messages and QoS 1; use another broker"
        case 0x9C, 0x9D: ": set mqtt.broker to the server that it names"
        default: ""
        }
    }
}

extension MQTTOptions.Endpoint {
    package var host: String {
        switch self {
        case .tcp(let host, _), .tls(let host, _, _): host
        case .unix(let path): path
        }
    }
}
