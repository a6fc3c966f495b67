/// How to reach the broker, and as whom.
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
    /// Empty: the broker chooses one.
    package var clientIdentifier: String
    /// Whole seconds from 5 to 65535; what lies outside is moved to the nearest bound.
    package var keepAlive: Duration
    /// `.v5` falls back to `.v311` when the broker refuses it.
    package var protocolVersion: MQTTProtocolVersion
    package var will: MQTTWill?
    /// From the start of the connection to the broker's CONNACK.
    package var connectTimeout: Duration
    /// Something is on its way to the broker, and for so long it has taken and acknowledged nothing: it is given up.
    package var progressTimeout: Duration
    /// Whether what a broker sends is checked before libmosquitto sees it. Tests of the library's assertions turn it off.
    var checksProperties = true

    package init(
        endpoint: Endpoint, username: String? = nil, password: MQTTPassword? = nil, clientIdentifier: String = "",
        keepAlive: Duration = .seconds(60), protocolVersion: MQTTProtocolVersion = .v5, will: MQTTWill? = nil,
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

/// Paths of PEM files, and whom to trust.
package struct MQTTTransportSecurity: Hashable, Sendable {
    /// `nil`: the system's roots.
    package var certificateAuthorityPath: String?
    package var certificatePath: String?
    /// Not encrypted: nobody is there to type a passphrase.
    package var keyPath: String?
    /// Accept any certificate for any name.
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

/// What the broker publishes for us when we are gone without a word.
package struct MQTTWill: Hashable, Sendable {
    package var topicName: String
    package var payload: [UInt8]
    /// 0…2.
    package var qos: Int
    package var retain: Bool

    package init(topicName: String, payload: [UInt8], qos: Int = 1, retain: Bool = true) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
    }
}

/// A password that never prints itself.
package struct MQTTPassword: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
