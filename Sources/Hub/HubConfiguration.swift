package import ButtonModel
package import JSON
import Radios
package import Rules

/// The part of the configuration and of the environment that the hub needs.
package struct HubConfiguration: Hashable, Sendable {
    package var version: String
    /// The commit of the sources; empty if unknown.
    package var commit: String
    package var baseTopic: String
    /// The prefix of Home Assistant's discovery topics, such as `homeassistant`; `nil`: nothing is announced.
    package var discoveryPrefix: String?
    /// The topic on which Home Assistant publishes `online` after starting.
    package var homeAssistantStatusTopic: String
    /// The address of the page, to which Home Assistant links from each device; `nil` if it is not known.
    package var pageURL: String?
    /// The public address of the project, for announcements to Home Assistant; `nil` if it has none.
    package var homepage: String?
    /// Public keys that may have signed a button's certificate, besides Flic's own.
    package var extraTrustRoots: [[UInt8]]
    /// The keys that the configuration adds, in hexadecimal, for the log.
    package var trustRootNames: [String]
    /// The radios, at most 16; empty without Bluetooth.
    package var radios: [ConfiguredRadio]
    /// The flicds from which buttons come, as in the configuration: `flicd://host:5551`.
    package var sources: [String]
    /// The broker in the notation of the configuration, without credentials.
    package var broker: String
    package var hasBroker: Bool
    /// The requests that are permitted over MQTT.
    package var control: MQTTControl
    package var logLevel: LogLevel
    /// The environment of programs, `NAME=value`; the variables of the event are added.
    package var processEnvironment: [String]
    /// The working directory of programs whose step names none.
    package var stateDirectory: String
    /// The time of the build. A wall clock that is earlier is considered wrong.
    package var builtAt: UTCTime
    /// Why the rules on disk are not the rules in use; `nil` if they are.
    package var ruleFault: String?
    /// All errors and warnings of the rules on disk, in the form of `RuleLoadReport`.
    package var ruleProblems: [JSONValue]
    /// The values of `!secret` and `!env_var` in the rules on disk if they are not in use. They are hidden, and not recorded.
    package var refusedValues: ConfidentialValues
    /// The entry file of the rules if it did not exist at the start; `nil` if it did, also without rules in it.
    package var missingRulesPath: String?
    /// Why stored pairings could not be read and what became of them, a sentence for users; `nil` if they were read.
    package var lostState: String?
    /// A sentence for users about the place of the record ring; `nil` if the ring is on a tmpfs.
    package var ringWarning: String?
    /// The file to which HCI packets are captured, if any.
    package var capture: String?
    /// True to write a metrics file for Prometheus.
    package var hasMetrics: Bool
    /// The names of the simulated buttons; empty without a simulator.
    package var simulatedButtons: [String]
    /// The identities of the simulated buttons, by name, so that requests may also call them as rules do. They are not
    /// recorded, because a replay presses no button.
    package var simulatedIdentities: [String: ButtonIdentity]
    /// The address on which flicd clients are served; `nil`: none.
    package var flicdListen: String?
    /// The engine that this hub is, and the sites whose buttons it uses; `nil` if it uses none.
    package var engine: EngineConfiguration?
    /// The engine to which this hub sends the presses of buttons that no rule names; `nil`: none.
    package var uplink: UplinkConfiguration?

    package init(
        version: String, commit: String = "", baseTopic: String = "tryck", discoveryPrefix: String? = nil,
        homeAssistantStatusTopic: String = "homeassistant/status", pageURL: String? = nil,
        homepage: String? = nil, extraTrustRoots: [[UInt8]] = [],
        trustRootNames: [String] = [],
        radios: [ConfiguredRadio] = [ConfiguredRadio("hci:0")],
        sources: [String] = [], broker: String = "none", hasBroker: Bool = true,
        control: MQTTControl = .settings, logLevel: LogLevel = .info, processEnvironment: [String] = [],
        stateDirectory: String = "/",
        builtAt: UTCTime = UTCTime(milliseconds: 0), ruleFault: String? = nil, ruleProblems: [JSONValue] = [],
        refusedValues: ConfidentialValues = ConfidentialValues(),
        missingRulesPath: String? = nil, lostState: String? = nil, ringWarning: String? = nil, capture: String? = nil,
        hasMetrics: Bool = false,
        simulatedButtons: [String] = [], simulatedIdentities: [String: ButtonIdentity] = [:],
        flicdListen: String? = nil, engine: EngineConfiguration? = nil,
        uplink: UplinkConfiguration? = nil
    ) {
        self.version = version
        self.commit = commit
        self.baseTopic = baseTopic
        self.discoveryPrefix = discoveryPrefix
        self.homeAssistantStatusTopic = homeAssistantStatusTopic
        self.pageURL = pageURL
        self.homepage = homepage
        self.extraTrustRoots = extraTrustRoots
        self.trustRootNames = trustRootNames
        self.radios = radios
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
        self.refusedValues = refusedValues
        self.missingRulesPath = missingRulesPath
        self.lostState = lostState
        self.ringWarning = ringWarning
        self.capture = capture
        self.hasMetrics = hasMetrics
        self.simulatedButtons = simulatedButtons
        self.simulatedIdentities = simulatedIdentities
        self.flicdListen = flicdListen
        self.engine = engine
        self.uplink = uplink
    }
}

extension HubConfiguration {
    var hasRadio: Bool { !radios.isEmpty }

    /// The maximum number of links of all radios together; `nil` if that of one radio is not limited.
    var maximumConnections: Int? {
        let limits = radios.compactMap(\.kind.maximumLinks)
        return limits.count < radios.count || radios.isEmpty ? nil : limits.reduce(0, +)
    }
}

/// `control.mqtt`, the requests that are permitted over MQTT. The raw value is the name in the configuration.
package enum MQTTControl: String, CaseIterable, Hashable, Sendable {
    case none
    /// Pairing, trigger modes, names and reload.
    case settings
    /// Rules and variables, too.
    case all
}

enum BrokerState: Hashable, Sendable {
    case connected
    case disconnected(String)
}
