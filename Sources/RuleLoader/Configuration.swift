package import ButtonModel

/// A text that never prints itself: a password.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let value: String

    package init(_ value: String) { self.value = value }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What `tryck.yaml` says. Paths stand as written: a relative one counts from the file's own directory.
package struct Configuration: Hashable, Sendable {
    /// Where the controller is.
    package enum Transport: Hashable, Sendable {
        /// The first usable adapter.
        case auto
        case hciIndex(Int)
        case hciAddress(BluetoothAddress)
        case h4TCP(host: String, port: Int)
        case h4Unix(path: String)
        /// A simulator file.
        case simulated(path: String)
        case none
    }

    package static let maximumSources = 8

    /// Where messages go.
    package enum Broker: Hashable, Sendable {
        case tcp(host: String, port: Int, tls: Bool)
        case unix(path: String)
        /// A private broker, started and stopped with the daemon.
        case embedded
        case none
    }

    package enum MQTTVersion: String, CaseIterable, Hashable, Sendable {
        case v5 = "5"
        case v311 = "3.1.1"
    }

    package struct TLS: Hashable, Sendable {
        /// `nil`: the system's roots.
        package var authorityPath: String?
        package var certificatePath: String?
        package var keyPath: String?
        /// Certificates are not checked.
        package var isInsecure = false
    }

    /// What requests over MQTT may do.
    package enum Control: String, CaseIterable, Hashable, Sendable {
        case none, settings, all
    }

    package enum LogLevel: String, CaseIterable, Hashable, Sendable {
        case debug, info, warning, error
    }

    package enum LogFormat: String, CaseIterable, Hashable, Sendable {
        case text, json
    }

    package var transport = Transport.auto
    /// Ed25519 public keys, 32 octets each.
    package var trustRoots: [[UInt8]] = []
    /// `nil`: what the controller can do.
    package var maximumConnections: Int?

    package var broker = Broker.tcp(host: "localhost", port: 1883, tls: false)
    package var mqttUsername: String?
    package var mqttPassword: Secret?
    /// `nil`: made from the installation's id.
    package var mqttClientIdentifier: String?
    package var mqttKeepAlive = Duration.seconds(60)
    package var mqttVersion = MQTTVersion.v5
    package var tls = TLS()
    package var baseTopic = "tryck"

    package var homeAssistantDiscovery = true
    package var homeAssistantPrefix = "homeassistant"
    package var homeAssistantStatusTopic = "homeassistant/status"

    /// `nil`: `rules/home.yaml`, if there is one.
    package var rulesPath: String?
    package var stateDirectory: String?
    package var controlSocket: String?

    /// Where clients of flicd are served; `nil`: nowhere.
    package var flicdListen: Endpoint?
    /// The flicds that buttons come from: at most `maximumSources`, no two the same.
    package var sources: [Endpoint] = []
    package var allowsShell = true
    package var allowsRun = true
    package var allowsHTTP = true
    package var control = Control.settings
    package var logLevel = LogLevel.info
    package var logFormat = LogFormat.text
    package var metricsTextfile: String?

    /// What a daemon without a configuration does.
    package init() {}
}
