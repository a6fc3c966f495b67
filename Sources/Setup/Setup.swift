import ButtonModel
import Bytes
import ESPHome
import Edges
import Glibc
package import Hub
package import Platform
import Radios
package import Rules
package import Settings

/// The settings of the daemon that are known before the event loop starts: the configuration, the rules, and the paths.
package struct Setup: Sendable {
    package var configuration: Configuration
    /// The path of the configuration; `nil` if there is none.
    package var configurationPath: String?
    /// True if the command line sets the log level, which then overrides the configuration.
    package var isLogLevelFromCommandLine: Bool
    /// The base of relative paths in the configuration.
    package var directory: String
    package var stateDirectory: String
    package var controlSocket: String
    /// The file to which all HCI traffic is written.
    package var capture: String?
    /// The metrics file for Prometheus.
    package var metricsFile: String?
    package var rulesOnDisk: RulesOnDisk
    package var rules: RuleSet
    /// The rules, to be kept as the last good ones; `nil` if those on the disk have errors.
    package var rulesToKeep: LastGoodRules?
    package var watched: WatchedFiles
    /// The file to which a recording is written, and the rules that it contains.
    package var recordingPath: String?
    package var recordedRules: RecordedRules?
    /// The limits of the history; `nil` if none is kept.
    package var history: HistoryLimits?
    /// The buttons of `simulated:FILE`; empty for other transports.
    package var simulator: [SimulatorButton]
    package var hub: HubConfiguration
    /// Lines to be logged once the log is open.
    package var warnings: [String] = []

    /// Why the daemon cannot start, as text for people, and its exit status.
    package struct Failure: Error, Sendable {
        package var text: String
        package var status: ExitStatus
    }

    /// - Parameter examine: called with the configuration before any other file is read.
    /// - Throws: `Failure` if a named file is missing, or the configuration has an error.
    package init(
        _ options: DaemonOptions, environment: [String: String],
        examine: (Configuration) -> Void = { _ in }
    ) throws(Failure) {
        let files = ConfigurationFiles(environment: environment)
        let found = try files.configuration(at: options.configuration)
        examine(found.configuration)
        let (configuration, directory) = (found.configuration, found.directory)
        self.configuration = configuration
        self.directory = directory
        configurationPath = found.path
        isLogLevelFromCommandLine = options.logLevel != nil
        warnings = found.notices

        let paths = DaemonPaths(
            options, configuration, in: directory, DaemonPaths.ProcessEnvironment(variables: environment))
        stateDirectory = paths.stateDirectory
        controlSocket = paths.controlSocket
        capture = paths.capture
        metricsFile = paths.metricsFile
        recordingPath = paths.recording

        rulesOnDisk = RulesOnDisk(configuration, in: directory, files: files)
        let initial = files.initialRules(rulesOnDisk, stateDirectory: stateDirectory)
        rules = initial.set
        rulesToKeep = initial.rulesToKeep
        recordedRules = initial.recorded
        history = configuration.history.map { HistoryLimits(age: $0, length: configuration.historySize << 20) }
        watched = initial.watched
        warnings += initial.notices
        if let fault = initial.fault { warnings.append(fault) }
        simulator = try files.simulator(configuration, in: directory)

        var names = ["PATH=\(ProcessAction.searchPath)"]
        for name in ["HOME", "LANG", "TZ", "USER"] {
            if let value = environment[name] { names.append("\(name)=\(value)") }
        }
        hub = HubConfiguration(
            version: Version.string, baseTopic: configuration.baseTopic,
            discoveryPrefix: configuration.homeAssistantDiscovery ? configuration.homeAssistantPrefix : nil,
            homeAssistantStatusTopic: configuration.homeAssistantStatusTopic, pageURL: configuration.web.url,
            extraTrustRoots: configuration.trustRoots,
            trustRootNames: configuration.trustRoots.map(Setup.fingerprint),
            radios: configuration.usedRadios.map { $0.configured(configuration) },
            sources: configuration.sources.map(\.sourceURL),
            broker: configuration.broker.configurationText, hasBroker: configuration.broker != .none,
            control: MQTTControl(configuration.control), logLevel: try Setup.logLevel(options, configuration),
            processEnvironment: names,
            stateDirectory: stateDirectory, builtAt: Version.builtAt, ruleFault: initial.fault,
            ruleProblems: initial.problems, refusedValues: initial.refusedValues,
            missingRulesPath: access(rulesOnDisk.path, F_OK) == 0 ? nil : rulesOnDisk.path,
            capture: capture, hasMetrics: metricsFile != nil,
            flicdListen: configuration.flicdListen.map { "\($0)" },
            engine: EngineConfiguration(configuration), uplink: UplinkConfiguration(configuration))
    }

    /// The state directory of a daemon with these options. The configuration is read only if the options do not name it.
    package static func stateDirectory(
        _ options: DaemonOptions, environment: [String: String]
    ) throws(Failure) -> String {
        if let named = options.stateDirectory { return resolve(named, in: SystemEnvironment.workingDirectory) }
        let files = ConfigurationFiles(environment: environment)
        let found = try files.configuration(at: options.configuration)
        return DaemonPaths(
            options, found.configuration, in: found.directory, DaemonPaths.ProcessEnvironment(variables: environment)
        ).stateDirectory
    }

    /// The directory of the history in a state directory.
    package static func historyDirectory(in stateDirectory: String) -> String {
        "\(stateDirectory)/\(HistoryEdge.directoryName)"
    }

    /// The directories in which a daemon may have its control socket, and a reserve in memory.
    ///
    /// - Parameter configured: the control socket of its configuration; `nil` if that does not set one.
    package static func runtimeDirectories(configured: String?, environment: [String: String]) -> [String] {
        let usual = Locations(environment: environment, isRoot: SystemEnvironment.isRoot).controlSocket
        return [configured, usual].compactMap(\.self).map { SystemEnvironment.directory(of: $0) }
    }

    /// The level from the command line, otherwise from the configuration.
    private static func logLevel(
        _ options: DaemonOptions, _ configuration: Configuration
    ) throws(Failure) -> LogLevel {
        guard let name = options.logLevel else { return configuration.logLevel }
        guard let level = LogLevel(rawValue: name) else {
            throw .init(
                text: "--log-level takes error, warning, info or debug, not \"\(name)\"", status: .usage)
        }
        return level
    }

    /// The first octets of a key, which are enough to recognise it.
    private static func fingerprint(_ key: [UInt8]) -> String { Array(key.prefix(8)).hex + "…" }
}

/// The default paths, as systemd and the XDG base directory specification define them.
package struct Locations: Sendable {
    package var stateDirectory: String
    package var controlSocket: String

    package init(environment: [String: String], isRoot: Bool) {
        let home = environment["HOME"] ?? "/"
        // systemd separates several directories with colons; the first is used.
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

extension Configuration.Radio {
    /// The radio as the hub needs it.
    fileprivate func configured(_ configuration: Configuration) -> ConfiguredRadio {
        let maximumLinks = maximumConnections ?? configuration.maximumConnections
        let kind: RadioKind =
            switch transport {
            case .esphome(_, _, let key): .esphome(key: key, maximumLinks: maximumLinks)
            case .command: .local(maximumLinks: maximumLinks, isBehindProgram: true)
            case .auto, .hciIndex, .hciAddress, .bluez, .bluezIndex, .bluezAddress, .h4TCP, .h4Unix, .simulated, .none:
                .local(maximumLinks: maximumLinks)
            }
        return ConfiguredRadio(transport.configurationText, name: name, kind: kind)
    }
}

extension Configuration.Transport {
    /// The transport in the notation of the configuration.
    package var configurationText: String {
        switch self {
        case .auto: "auto"
        case .hciIndex(let index): "hci:\(index)"
        case .hciAddress(let address): "hci:\(address)"
        case .bluez: "bluez"
        case .bluezIndex(let index): "bluez:\(index)"
        case .bluezAddress(let address): "bluez:\(address)"
        case .h4TCP(let host, let port): "h4:tcp:\(host):\(port)"
        case .h4Unix(let path): "h4:unix:\(path)"
        case .command(let words): "command:\(words.first ?? "")"
        case .esphome(let host, let port, _): "esphome:" + (port == 6053 ? host : "\(host):\(port)")
        case .simulated(let path): "simulated:\(path)"
        case .none: "none"
        }
    }
}

extension Configuration.Broker {
    /// The broker in the notation of the configuration.
    package var configurationText: String {
        switch self {
        case .tcp(let host, let port, let tls): "\(tls ? "mqtts" : "mqtt")://\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .embedded: "embedded"
        case .none: "none"
        }
    }
}
