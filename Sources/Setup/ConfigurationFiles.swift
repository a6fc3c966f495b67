import ButtonModel
import Diagnostics
import Hub
import JSON
import Platform
package import RuleLoader
import Rules
package import Simulator

/// The rules that are to run when the daemon starts.
struct StartingRules: Sendable {
    var set = RuleSet()
    /// Why they are not the ones on disk.
    var fault: String?
    /// What is wrong with those, as `RulesLoaded` has it.
    var problems: [JSONValue] = []
    /// Warnings and errors as rendered text.
    var notices: [String] = []
    /// What runs, as it was written.
    var recorded: RecordedRules?
    /// What is looked at for changes.
    var watched: WatchedFiles
    /// To be kept for a day when they are bad; `nil` where they are not those on disk.
    var good: LastGoodRules?
}

/// Finds and reads the files a user wrote, and hands their texts to the loader.
package struct ConfigurationFiles: Sendable {
    package let environment: [String: String]

    package init(environment: [String: String]) { self.environment = environment }

    /// The configuration and where it was.
    package struct Found: Sendable {
        package var configuration = Configuration()
        /// `nil`: there is none, and the defaults hold.
        package var path: String?
        /// That its paths count from.
        package var directory = "/etc/tryck"
        /// Warnings as rendered text.
        package var notices: [String] = []
    }

    package func configuration(at named: String?) throws(Setup.Failure) -> Found {
        guard let path = ConfigurationPath.find(named, environment: environment) else { return Found() }
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

    /// The one that the configuration names.
    package func stateDirectory(_ configuration: Configuration, in directory: String) -> String? {
        configuration.stateDirectory.map { resolve($0, in: directory, home: environment["HOME"]) }
    }

    /// Where the last set without errors is kept.
    package static func lastGoodRules(in stateDirectory: String) -> String { stateDirectory + "/last-good-rules.json" }
    /// Where the secrets are that it was read with.
    static func lastGoodSecrets(in stateDirectory: String) -> String { stateDirectory + "/last-good-secrets.yaml" }

    /// Where the rules are, and whether the configuration names the place.
    package func rulesPath(_ configuration: Configuration, in directory: String) -> (path: String, isNamed: Bool) {
        (
            resolve(configuration.rulesPath ?? "rules/home.yaml", in: directory, home: environment["HOME"]),
            configuration.rulesPath != nil
        )
    }

    /// The set that is to run: the one on disk, or the last good one, or none.
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
            starting.fault = "\(reason): no rule runs. Mend it; tryck check shows the places."
            return starting
        }
        starting.set = set
        starting.recorded = kept.rules
        starting.fault =
            "\(reason): the last good rules, of \(kept.keptAt), run instead. Mend it; tryck check shows the places."
        return starting
    }

    /// The buttons of `simulated:FILE`; none for other transports.
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

    /// What files in this directory may refer to.
    package func loadEnvironment(in directory: String) -> LoadEnvironment {
        let secretsPath = directory + "/secrets.yaml"
        // Nothing but a file: a pipe would make the daemon wait.
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
            throw .init(text: "\(path) does not exist. Write it, or name another.", status: .configuration)
        } catch {
            throw .init(text: "\(error)", status: .configuration)
        }
    }
}
