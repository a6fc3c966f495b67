import ButtonModel
import Diagnostics
import Hub
import JSON
import Platform
package import RuleLoader
import Rules
package import Simulator

/// The rules to run when the daemon starts, and how they were found.
struct StartingRules: Sendable {
    var set = RuleSet()
    /// Why `set` is not the rule set on disk; `nil` if it is.
    var fault: String?
    /// The errors and warnings of the rule set on disk, in the JSON form of `RulesLoaded`.
    var problems: [JSONValue] = []
    /// The same as rendered text, for the log.
    var notices: [String] = []
    /// The texts from which `set` was read.
    var recorded: RecordedRules?
    /// The files to watch for changes.
    var watched: WatchedFiles
    /// The rules on disk, to be kept as the last good ones; `nil` if they have errors.
    var good: LastGoodRules?
}

/// Finds and reads the configuration, the secrets and the simulator file, and gives their texts to `RuleLoader`.
package struct ConfigurationFiles: Sendable {
    package let environment: [String: String]

    package init(environment: [String: String]) { self.environment = environment }

    /// The path of `tryck.yaml`: `named`, or `$TRYCK_CONFIG`, or the first that exists of `./tryck.yaml` and
    /// `/etc/tryck/tryck.yaml`; otherwise `nil`.
    package func configurationPath(_ named: String?) -> String? {
        if let named = named ?? environment["TRYCK_CONFIG"] { return named }
        return ["tryck.yaml", "/etc/tryck/tryck.yaml"].first { path in
            do throws(FileText.Failure) {
                _ = try FileText(reading: path)
                return true
            } catch {
                // A file that exists but cannot be read is chosen, so that `configuration` reports the failure.
                return error != .notFound(path)
            }
        }
    }

    /// A configuration and its location.
    package struct Found: Sendable {
        package var configuration = Configuration()
        /// `nil` if there is no file and the defaults apply.
        package var path: String?
        /// The base of relative paths in the configuration.
        package var directory = "/etc/tryck"
        /// Warnings as rendered text.
        package var notices: [String] = []
    }

    package func configuration(at named: String?) throws(Setup.Failure) -> Found {
        guard let path = configurationPath(named) else { return Found() }
        let text = try read(path)
        let directory = SystemEnvironment.directory(of: path)
        let loaded = RuleLoader.configuration(
            SourceFile(name: path, text: text.octets, isReadableByOthers: text.isReadableByOthers),
            in: loadEnvironment(in: directory))
        guard let configuration = loaded.value else {
            throw .init(text: ConfigurationFiles.report(loaded.diagnostics, on: text), status: .configuration)
        }
        return Found(
            configuration: configuration, path: path, directory: directory,
            notices: loaded.diagnostics.isEmpty ? [] : [ConfigurationFiles.report(loaded.diagnostics, on: text)])
    }

    /// The `control_socket` of the configuration; `nil` if it has none or cannot be read. Works without the secrets,
    /// because members of the group `tryck` may not read them.
    package func controlSocket(at named: String? = nil) -> String? {
        guard let path = configurationPath(named), let text = try? FileText(reading: path) else { return nil }
        let file = SourceFile(name: path, text: text.octets)
        return RuleLoader.controlSocket(of: file, in: LoadEnvironment(variables: environment)).map {
            resolve($0, in: SystemEnvironment.directory(of: path), home: environment["HOME"])
        }
    }

    /// The configured state directory; `nil` if there is none.
    package func stateDirectory(_ configuration: Configuration, in directory: String) -> String? {
        configuration.stateDirectory.map { resolve($0, in: directory, home: environment["HOME"]) }
    }

    /// The file of the last rule set without errors.
    package static func lastGoodRules(in stateDirectory: String) -> String { stateDirectory + "/last-good-rules.json" }
    /// The file of the secrets with which that set was read.
    static func lastGoodSecrets(in stateDirectory: String) -> String { stateDirectory + "/last-good-secrets.yaml" }

    /// The path of the entry rule file, and whether the configuration names it.
    package func rulesPath(_ configuration: Configuration, in directory: String) -> (path: String, isNamed: Bool) {
        (
            resolve(configuration.rulesPath ?? "rules/home.yaml", in: directory, home: environment["HOME"]),
            configuration.rulesPath != nil
        )
    }

    /// The rule set on disk, or the last good rules if it has errors, or an empty set.
    func startingRules(_ source: RuleSource, stateDirectory: String) -> StartingRules {
        let reading: RuleSource.Reading
        do throws(FileText.Failure) {
            reading = try source.read()
        } catch {
            var nothing = StartingRules(watched: WatchedFiles(source))
            if !source.isNamed, error == .notFound(source.path) { return nothing }
            nothing.problems = [error.problem]
            return fallBack(in: stateDirectory, source, because: "\(error)", nothing)
        }
        let report = DiagnosticReport(reading.loaded.diagnostics, sources: reading.sources).text()
        var starting = StartingRules(
            problems: reading.loaded.diagnostics.map(\.json), notices: report.isEmpty ? [] : [report],
            watched: WatchedFiles(source))
        starting.watched.add(reading)
        guard let set = reading.loaded.value else {
            let count = reading.loaded.diagnostics.count { $0.severity == .error }
            return fallBack(
                in: stateDirectory, source, because: "\(source.path) has \(count) error\(count == 1 ? "" : "s")",
                starting)
        }
        starting.set = set
        starting.recorded = reading.recorded
        starting.good = LastGoodRules(rules: reading.recorded, secrets: reading.secrets)
        return starting
    }

    private func fallBack(
        in stateDirectory: String, _ source: RuleSource, because reason: String, _ starting: StartingRules
    ) -> StartingRules {
        var starting = starting
        guard let kept = LastGoodRules(in: stateDirectory), let set = source.read(kept)?.value else {
            starting.fault = "\(reason): no rules run. Fix the errors that tryck check shows."
            return starting
        }
        starting.set = set
        starting.recorded = kept.rules
        starting.fault =
            "\(reason): the last good rules, of \(kept.keptAt), run instead. Fix the errors that tryck check shows."
        return starting
    }

    /// The buttons of the transport `simulated:FILE`; none for other transports.
    package func simulator(
        _ configuration: Configuration, in directory: String
    ) throws(Setup.Failure) -> [SimulatedButtonDescription] {
        guard case .simulated(let path) = configuration.transport else { return [] }
        return try simulator(at: resolve(path, in: directory, home: environment["HOME"]))
    }

    /// The buttons of a simulator file.
    package func simulator(at path: String) throws(Setup.Failure) -> [SimulatedButtonDescription] {
        let text = try read(path)
        let loaded = RuleLoader.simulator(SourceFile(name: path, text: text.octets))
        guard let buttons = loaded.value else {
            throw .init(
                text: ConfigurationFiles.report(loaded.diagnostics, on: text), status: .configuration)
        }
        return buttons.map {
            SimulatedButtonDescription(
                name: $0.name, address: $0.address, serial: $0.serial, nickname: $0.nickname,
                firmwareVersion: $0.firmware, batteryMillivolts: $0.batteryMillivolts, isPublic: $0.isPublic ?? true,
                model: $0.model ?? .flic2)
        }
    }

    /// The secrets and environment variables that files in this directory may refer to.
    package func loadEnvironment(in directory: String) -> LoadEnvironment {
        let secretsPath = directory + "/secrets.yaml"
        // `RuleFiles` reads regular files only, so that a FIFO cannot block the daemon.
        var secrets: SourceFile?
        if case .files(let files) = RuleFiles.file(secretsPath) { secrets = files.first.map { SourceFile($0) } }
        return LoadEnvironment(secrets: secrets, variables: environment)
    }

    private static func report(_ diagnostics: [Diagnostic], on text: FileText) -> String {
        DiagnosticReport(diagnostics, sources: [text.path: text.octets]).text()
    }

    private func read(_ path: String) throws(Setup.Failure) -> FileText {
        do {
            return try FileText(reading: path)
        } catch .notFound {
            throw .init(text: "\(path) does not exist. Create it, or specify another path.", status: .configuration)
        } catch {
            throw .init(text: "\(error)", status: .configuration)
        }
    }
}
