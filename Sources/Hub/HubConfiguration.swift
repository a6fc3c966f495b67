import ButtonModel

/// What the hub has to know of the configuration and of the world it runs in.
package struct HubConfiguration: Hashable, Sendable {
    package var version: String
    package var baseTopic: String
    /// Keys that may have signed a button's certificate, besides Flic's own.
    package var extraTrustRoots: [[UInt8]]
    /// Those the configuration added, in hexadecimal; each is named in the log.
    package var trustRootNames: [String]
    /// As the configuration says it: `hci:0`, `none`.
    package var transport: String
    package var hasTransport: Bool
    /// Links at once; `nil`: as many as the adapter has.
    package var maximumConnections: Int?
    /// As the configuration says it, without credentials.
    package var broker: String
    package var hasBroker: Bool
    /// `control.mqtt` is not `none`.
    package var allowsRequestsOverMQTT: Bool
    /// The environment programs start with, `NAME=value`; the event's own variables are added.
    package var processEnvironment: [String]
    /// Where programs run that name no directory.
    package var stateDirectory: String
    package var ruleCount: Int
    /// Why the rules on disk are not the ones that run; `nil` when they are.
    package var ruleFault: String?
    /// Names of the simulator's buttons; empty without a simulator.
    package var simulatedButtons: [String]

    package init(
        version: String, baseTopic: String = "tryck", extraTrustRoots: [[UInt8]] = [],
        trustRootNames: [String] = [],
        transport: String = "none", hasTransport: Bool = true, maximumConnections: Int? = nil,
        broker: String = "none", hasBroker: Bool = true,
        allowsRequestsOverMQTT: Bool = true, processEnvironment: [String] = [], stateDirectory: String = "/",
        ruleCount: Int = 0, ruleFault: String? = nil, simulatedButtons: [String] = []
    ) {
        self.version = version
        self.baseTopic = baseTopic
        self.extraTrustRoots = extraTrustRoots
        self.trustRootNames = trustRootNames
        self.transport = transport
        self.hasTransport = hasTransport
        self.maximumConnections = maximumConnections
        self.broker = broker
        self.hasBroker = hasBroker
        self.allowsRequestsOverMQTT = allowsRequestsOverMQTT
        self.processEnvironment = processEnvironment
        self.stateDirectory = stateDirectory
        self.ruleCount = ruleCount
        self.ruleFault = ruleFault
        self.simulatedButtons = simulatedButtons
    }
}

/// What is known of the adapter; `word` is the controller state of `status` and MQTT.
enum AdapterState: Hashable, Sendable {
    case closed
    case starting
    case ready(BluetoothAddress)
    case failed(String)

    var word: String {
        switch self {
        case .closed: "unknown"
        case .starting: "resetting"
        case .ready: "powered_on"
        case .failed: "powered_off"
        }
    }
}

enum BrokerState: Hashable, Sendable {
    case connected
    case disconnected(String)
}
