import ButtonModel
package import Hub
package import Platform
package import RuleLoader
package import Rules
package import Simulator

/// Everything that is settled before the loop begins: the configuration, the rules, and where things are.
package struct Setup: Sendable {
    package var configuration: Configuration
    /// Where the configuration was found, if anywhere.
    package var configurationPath: String?
    /// By the command line, which has the last word.
    package var isLogLevelFixed: Bool
    /// Where relative paths of the configuration count from.
    package var directory: String
    package var stateDirectory: String
    package var controlSocket: String
    /// Where all HCI traffic is written to.
    package var capture: String?
    /// The file for Prometheus.
    package var metricsFile: String?
    package var ruleSource: RuleSource
    package var rules: RuleSet
    /// The rules, when they are those on disk, without errors.
    package var goodRules: LastGoodRules?
    package var watched: WatchedFiles
    /// Where a recording is to be written, and what it says of the rules.
    package var recordingPath: String?
    package var recordedRules: RecordedRules?
    package var simulator: [SimulatedButtonDescription]
    package var hub: HubConfiguration
    /// Lines for the log once there is one.
    package var warnings: [String] = []

    /// Why the daemon cannot start, as text for people, and its exit status.
    package struct Failure: Error, Sendable {
        package var text: String
        package var status: ExitStatus
    }

    /// - Throws: `Failure` when a file that was named is missing, or the configuration has an error.
    package init(_ options: DaemonOptions, environment: [String: String]) throws(Failure) {
        let files = ConfigurationFiles(environment: environment)
        let found = try files.configuration(at: options.configuration)
        let (configuration, directory) = (found.configuration, found.directory)
        self.configuration = configuration
        self.directory = directory
        configurationPath = found.path
        isLogLevelFixed = options.logLevel != nil
        warnings = found.notices

        let locations = Locations(environment: environment, isRoot: SystemEnvironment.isRoot)
        let base = SystemEnvironment.workingDirectory
        stateDirectory =
            options.stateDirectory.map { resolve($0, in: base) }
            ?? files.stateDirectory(configuration, in: directory) ?? locations.stateDirectory
        controlSocket =
            options.controlSocket.map { resolve($0, in: base) }
            ?? configuration.controlSocket.map { resolve($0, in: directory, home: environment["HOME"]) }
            ?? locations.controlSocket

        capture = options.capture.map { resolve($0, in: base) }
        metricsFile = configuration.metricsTextfile.map { resolve($0, in: directory, home: environment["HOME"]) }

        ruleSource = RuleSource(configuration, in: directory, files: files)
        let loaded = files.startingRules(ruleSource, stateDirectory: stateDirectory)
        rules = loaded.set
        goodRules = loaded.good
        recordingPath = options.record.map { resolve($0, in: base) }
        recordedRules = loaded.recorded
        watched = loaded.watched
        warnings += loaded.notices
        if let fault = loaded.fault { warnings.append(fault) }
        simulator = try files.simulator(configuration, in: directory)

        var names = ["PATH=/usr/local/bin:/usr/bin:/bin"]
        for name in ["HOME", "LANG", "TZ", "USER"] {
            if let value = environment[name] { names.append("\(name)=\(value)") }
        }
        let isSimulated = if case .simulated = configuration.transport { true } else { false }
        hub = HubConfiguration(
            version: Version.string, baseTopic: configuration.baseTopic,
            discoveryPrefix: configuration.homeAssistantDiscovery ? configuration.homeAssistantPrefix : nil,
            homeAssistantStatusTopic: configuration.homeAssistantStatusTopic,
            extraTrustRoots: configuration.trustRoots + (isSimulated ? [SimulatorRoot.publicKey] : []),
            trustRootNames: configuration.trustRoots.map(Setup.fingerprint),
            transport: "\(configuration.transport.word)", hasTransport: configuration.transport != .none,
            maximumConnections: configuration.maximumConnections,
            sources: configuration.sources.map(\.sourceWord),
            broker: configuration.broker.word, hasBroker: configuration.broker != .none,
            control: MQTTControl(configuration.control), logLevel: try Setup.logLevel(options, configuration),
            processEnvironment: names,
            stateDirectory: stateDirectory, builtAt: Version.builtAt, ruleFault: loaded.fault,
            ruleProblems: loaded.problems, capture: capture, hasMetrics: metricsFile != nil,
            simulatedButtons: simulator.map(\.name), flicdListen: configuration.flicdListen.map { "\($0)" })
    }

    /// Where a daemon with these options would keep what it keeps. The configuration is read only where it matters.
    package static func stateDirectory(
        _ options: DaemonOptions, environment: [String: String]
    ) throws(Failure) -> String {
        if let named = options.stateDirectory { return resolve(named, in: SystemEnvironment.workingDirectory) }
        let files = ConfigurationFiles(environment: environment)
        let found = try files.configuration(at: options.configuration)
        return files.stateDirectory(found.configuration, in: found.directory)
            ?? Locations(environment: environment, isRoot: SystemEnvironment.isRoot).stateDirectory
    }

    /// The command line has the last word.
    private static func logLevel(
        _ options: DaemonOptions, _ configuration: Configuration
    ) throws(Failure) -> LogLevel {
        guard let word = options.logLevel else { return configuration.logLevel }
        guard let level = LogLevel(rawValue: word) else {
            throw .init(
                text: "--log-level takes error, warning, info or debug, not \"\(word)\"", status: .usage)
        }
        return level
    }

    /// The first octets of a key, enough to recognise it by.
    private static func fingerprint(_ key: [UInt8]) -> String {
        key.prefix(8).map { octet in
            let digits = String(octet, radix: 16)
            return (digits.count < 2 ? "0" : "") + digits
        }.joined() + "…"
    }
}

/// The usual places, as systemd and the XDG base directory specification have them.
package struct Locations: Sendable {
    package var stateDirectory: String
    package var controlSocket: String

    package init(environment: [String: String], isRoot: Bool) {
        let home = environment["HOME"] ?? "/"
        // systemd lists several with colons; the first is ours.
        func first(_ name: String) -> String? {
            environment[name].flatMap { $0.split(separator: ":").first.map(String.init) }
        }
        let ownState = (environment["XDG_STATE_HOME"] ?? home + "/.local/state") + "/tryck"
        stateDirectory = first("STATE_DIRECTORY") ?? (isRoot ? "/var/lib/tryck" : ownState)
        let ownRuntime = environment["XDG_RUNTIME_DIR"].map { $0 + "/tryck" } ?? ownState
        controlSocket = (first("RUNTIME_DIRECTORY") ?? (isRoot ? "/run/tryck" : ownRuntime)) + "/control.sock"
    }
}

extension MQTTControl {
    fileprivate init(_ control: Configuration.Control) {
        self =
            switch control {
            case .none: .none
            case .settings: .settings
            case .all: .all
            }
    }
}

extension Configuration.Transport {
    /// As the configuration spells it.
    package var word: String {
        switch self {
        case .auto: "auto"
        case .hciIndex(let index): "hci:\(index)"
        case .hciAddress(let address): "hci:\(address)"
        case .h4TCP(let host, let port): "h4:tcp:\(host):\(port)"
        case .h4Unix(let path): "h4:unix:\(path)"
        case .simulated(let path): "simulated:\(path)"
        case .none: "none"
        }
    }
}

extension Configuration.Broker {
    /// As the configuration spells it.
    package var word: String {
        switch self {
        case .tcp(let host, let port, let tls): "\(tls ? "mqtts" : "mqtt")://\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .embedded: "embedded"
        case .none: "none"
        }
    }
}
