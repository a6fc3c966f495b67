package import ButtonModel
package import JSON
package import Rules

/// What the hub has to know of the configuration and of the world it runs in.
package struct HubConfiguration: Hashable, Sendable {
    package var version: String
    /// Of the sources; empty where nobody knows.
    package var commit: String
    package var baseTopic: String
    /// `homeassistant`; `nil`: nothing is announced.
    package var discoveryPrefix: String?
    /// Where Home Assistant says `online` when it has started.
    package var homeAssistantStatusTopic: String
    /// Keys that may have signed a button's certificate, besides Flic's own.
    package var extraTrustRoots: [[UInt8]]
    /// Those the configuration added, in hexadecimal; each is named in the log.
    package var trustRootNames: [String]
    /// As the configuration says it: `hci:0`, `none`.
    package var transport: String
    package var hasTransport: Bool
    /// Links at once; `nil`: as many as the adapter has.
    package var maximumConnections: Int?
    /// The flicds that buttons come from, as the configuration says them: `flicd://host:5551`.
    package var sources: [String]
    /// As the configuration says it, without credentials.
    package var broker: String
    package var hasBroker: Bool
    /// What requests over MQTT may do.
    package var control: MQTTControl
    package var logLevel: LogLevel
    /// The environment programs start with, `NAME=value`; the event's own variables are added.
    package var processEnvironment: [String]
    /// Where programs run that name no directory.
    package var stateDirectory: String
    /// An earlier wall clock is not to be believed.
    package var builtAt: UTCTime
    /// Why the rules on disk are not the ones that run; `nil` when they are.
    package var ruleFault: String?
    /// All that is wrong with those on disk, as `RulesLoaded` has it.
    package var ruleProblems: [JSONValue]
    /// What became of pairings that were kept and could not be used; a sentence for people.
    package var lostState: String?
    /// Where all HCI traffic is written to, when it is.
    package var capture: String?
    /// A file for Prometheus is wanted.
    package var hasMetrics: Bool
    /// Names of the simulator's buttons; empty without a simulator.
    package var simulatedButtons: [String]
    /// Where flicd's clients are served; `nil`: nowhere.
    package var flicdListen: String?

    package init(
        version: String, commit: String = "", baseTopic: String = "tryck", discoveryPrefix: String? = nil,
        homeAssistantStatusTopic: String = "homeassistant/status", extraTrustRoots: [[UInt8]] = [],
        trustRootNames: [String] = [],
        transport: String = "none", hasTransport: Bool = true, maximumConnections: Int? = nil,
        sources: [String] = [], broker: String = "none", hasBroker: Bool = true,
        control: MQTTControl = .settings, logLevel: LogLevel = .info, processEnvironment: [String] = [],
        stateDirectory: String = "/",
        builtAt: UTCTime = UTCTime(milliseconds: 0), ruleFault: String? = nil, ruleProblems: [JSONValue] = [],
        lostState: String? = nil, capture: String? = nil, hasMetrics: Bool = false, simulatedButtons: [String] = [],
        flicdListen: String? = nil
    ) {
        self.version = version
        self.commit = commit
        self.baseTopic = baseTopic
        self.discoveryPrefix = discoveryPrefix
        self.homeAssistantStatusTopic = homeAssistantStatusTopic
        self.extraTrustRoots = extraTrustRoots
        self.trustRootNames = trustRootNames
        self.transport = transport
        self.hasTransport = hasTransport
        self.maximumConnections = maximumConnections
        self.sources = sources
        self.broker = broker
        self.hasBroker = hasBroker
        self.control = control
        self.logLevel = logLevel
        self.processEnvironment = processEnvironment
        self.stateDirectory = stateDirectory
        self.builtAt = builtAt
        self.ruleFault = ruleFault
        self.ruleProblems = ruleProblems
        self.lostState = lostState
        self.capture = capture
        self.hasMetrics = hasMetrics
        self.simulatedButtons = simulatedButtons
        self.flicdListen = flicdListen
    }
}

/// `control.mqtt`. The raw value is the word of the configuration.
package enum MQTTControl: String, CaseIterable, Hashable, Sendable {
    case none
    /// Pairing, modes, names, reload.
    case settings
    /// Rules and variables, too.
    case all
}

enum BrokerState: Hashable, Sendable {
    case connected
    case disconnected(String)
}
