package import ButtonModel
package import ESPHome
package import Rules

/// The settings of `tryck.yaml`. Paths are as written; a relative path starts at the directory of the file.
package struct Configuration: Hashable, Sendable {
    /// How the Bluetooth controller is reached.
    package enum Transport: Hashable, Sendable {
        /// An adapter shared with BlueZ where BlueZ has a powered one; else the first usable adapter.
        case auto
        case hciIndex(Int)
        case hciAddress(BluetoothAddress)
        /// The first powered adapter of BlueZ, shared with other programs.
        case bluez
        case bluezIndex(Int)
        case bluezAddress(BluetoothAddress)
        case h4TCP(host: String, port: Int)
        case h4Unix(path: String)
        /// A program that speaks HCI in H4 framing on its standard input and output. The first word is the program.
        case command([String])
        /// An ESPHome Bluetooth proxy. Without a key the connection is not encrypted.
        case esphome(host: String, port: Int, key: ESPHomeKey?)
        /// A simulator file.
        case simulated(path: String)
        case none
    }

    /// An entry of `radios:`.
    package struct Radio: Hashable, Sendable {
        package var transport: Transport
        /// A single word that no other radio has as its name.
        package var name: String
        /// The most connections at a time; `nil`: `Configuration.maximumConnections`.
        package var maximumConnections: Int?

        package init(_ transport: Transport, name: String, maximumConnections: Int? = nil) {
            self.transport = transport
            self.name = name
            self.maximumConnections = maximumConnections
        }
    }

    package static let maximumSources = 8
    package static let maximumRadios = 16

    /// The MQTT broker to connect to.
    package enum Broker: Hashable, Sendable {
        case tcp(host: String, port: Int, tls: Bool)
        case unix(path: String)
        /// The embedded broker, which starts and stops with the daemon.
        case embedded
        case none
    }

    package enum MQTTVersion: String, CaseIterable, Hashable, Sendable {
        case v5 = "5"
        case v311 = "3.1.1"
    }

    package struct TLS: Hashable, Sendable {
        /// A file with the certificate authorities to trust; `nil`: those of the system.
        package var authorityPath: String?
        package var certificatePath: String?
        package var keyPath: String?
        /// Accept any certificate of the broker.
        package var isInsecure = false

        package init(
            authorityPath: String? = nil, certificatePath: String? = nil, keyPath: String? = nil,
            isInsecure: Bool = false
        ) {
            self.authorityPath = authorityPath
            self.certificatePath = certificatePath
            self.keyPath = keyPath
            self.isInsecure = isInsecure
        }
    }

    /// Which requests over MQTT are allowed.
    package enum Control: String, CaseIterable, Hashable, Sendable {
        case none, settings, all
    }

    package enum LogFormat: String, CaseIterable, Hashable, Sendable {
        case text, json
    }

    package var transport = Transport.auto
    /// The entries of `radios:`; `nil`: one radio with `transport`.
    package var radios: [Radio]?
    /// Ed25519 public keys, 32 octets each.
    package var trustRoots: [[UInt8]] = []
    /// The most connections at a time; `nil`: as many as the controller supports.
    package var maximumConnections: Int?

    package var broker = Broker.tcp(host: "localhost", port: 1883, tls: false)
    package var mqttUsername: String?
    package var mqttPassword: Password?
    /// `nil`: derived from the installation's id.
    package var mqttClientIdentifier: String?
    package var mqttKeepAlive = Duration.seconds(60)
    package var mqttVersion = MQTTVersion.v5
    package var tls = TLS()
    package var baseTopic = "tryck"

    package var homeAssistantDiscovery = true
    package var homeAssistantPrefix = "homeassistant"
    package var homeAssistantStatusTopic = "homeassistant/status"

    /// `nil`: `rules/home.yaml`, if the file exists.
    package var rulesPath: String?
    package var stateDirectory: String?
    package var controlSocket: String?

    /// Where the flicd-compatible server listens; `nil`: it is off.
    package var flicdListen: HostAndPort?
    /// The flicd servers whose buttons are used: at most `maximumSources`, each once.
    package var sources: [HostAndPort] = []
    /// The base topics of the sites whose buttons are used, which may have the wildcard `+`: `tryck/+`.
    package var sites: [String] = []
    /// The part of the sites that this engine takes, such as 1 of 4; `nil`: all.
    package var share: Share?
    /// The name of this engine; not `nil` if there are sites.
    package var engineName: String?
    /// How long an engine may be silent before its stand-by leads.
    package var enginePatience = Duration.seconds(10)
    /// The broker of an engine, to which this site sends presses; `nil`: none.
    package var uplink: Uplink?
    /// The kinds of steps that rules may not use.
    package var forbiddenSteps: Set<StepKind> = []
    package var control = Control.settings
    package var logLevel = LogLevel.info
    package var logFormat = LogFormat.text
    package var metricsTextfile: String?
    /// The settings of tryck-web. The daemon only checks them.
    package var web = Web()

    /// How long the history is kept; `nil`: none is written.
    package var history: Duration? = .seconds(7 * 86_400)
    /// The maximum size of the history, in MiB.
    package var historySize = 64

    /// The defaults, which apply to a daemon without a configuration.
    package init() {}

    /// The radios to use: those of `radios:`, else the one of `transport:`, and none for `none`.
    package var usedRadios: [Radio] {
        (radios ?? [Radio(transport, name: transport.shortName)]).filter { $0.transport != .none }
    }
}
