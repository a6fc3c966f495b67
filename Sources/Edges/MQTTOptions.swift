package import MQTTTopics

/// The broker's address, the credentials, and the parameters of the connection.
package struct MQTTOptions: Hashable, Sendable {
    package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
        case tcp(host: String, port: UInt16)
        case tls(host: String, port: UInt16, MQTTTransportSecurity)
        case unix(path: String)

        package var description: String {
            switch self {
            case .tcp(let host, let port), .tls(let host, let port, _):
                host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unix(let path): path
            }
        }
    }

    package var endpoint: Endpoint
    package var username: String?
    package var password: MQTTPassword?
    /// If this is empty, the broker chooses an identifier.
    package var clientIdentifier: String
    /// Used in whole seconds, and clamped to 5…65535.
    package var keepAlive: Duration
    /// `.v5` falls back to `.v311` when the broker refuses it.
    package var protocolVersion: MQTTProtocolVersion
    /// The message that the broker publishes when the connection ends without DISCONNECT.
    package var will: MQTTMessage?
    /// The time limit from the start of the connection to the broker's CONNACK.
    package var connectTimeout: Duration
    /// The time limit without an acknowledgement while messages are in flight, after which the connection is closed.
    package var progressTimeout: Duration
    /// The Receive Maximum of MQTT 5: the number of unacknowledged messages with QoS 1 and 2 that the broker may send.
    package var receiveMaximum: UInt16 = 20
    /// True if messages with an expiry interval, which only MQTT 5 has, are reported as `MQTTEvent.expiringMessage`.
    package var reportsExpiry = false
    /// True if `cmosquitto_reader` checks properties. Tests of the library's assertions turn it off.
    var checksProperties = true

    package init(
        endpoint: Endpoint, username: String? = nil, password: MQTTPassword? = nil, clientIdentifier: String = "",
        keepAlive: Duration = .seconds(60), protocolVersion: MQTTProtocolVersion = .v5, will: MQTTMessage? = nil,
        connectTimeout: Duration = .seconds(10), progressTimeout: Duration = .seconds(60)
    ) {
        self.endpoint = endpoint
        self.username = username
        self.password = password
        self.clientIdentifier = clientIdentifier
        self.keepAlive = keepAlive
        self.protocolVersion = protocolVersion
        self.will = will
        self.connectTimeout = connectTimeout
        self.progressTimeout = progressTimeout
    }
}

package enum MQTTProtocolVersion: String, Hashable, Sendable {
    case v5 = "5"
    case v311 = "3.1.1"
}

/// The files and rules of a TLS connection. All files are PEM.
package struct MQTTTransportSecurity: Hashable, Sendable {
    /// `nil` for the authorities of the system.
    package var certificateAuthorityPath: String?
    package var certificatePath: String?
    /// The key must not be encrypted, because a daemon cannot ask for a passphrase.
    package var keyPath: String?
    /// True if any certificate is accepted for any name.
    package var isInsecure: Bool

    package init(
        certificateAuthorityPath: String? = nil, certificatePath: String? = nil, keyPath: String? = nil,
        isInsecure: Bool = false
    ) {
        self.certificateAuthorityPath = certificateAuthorityPath
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.isInsecure = isInsecure
    }
}

/// A password, which is not part of any description.
package struct MQTTPassword: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
