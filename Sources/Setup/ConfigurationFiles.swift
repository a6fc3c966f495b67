import ButtonModel
import ConfigurationLoader
import Diagnostics
import Glibc
import Hub
import JSON
import Platform
import Rules
package import Settings
package import YAMLFiles

/// The rules with which the daemon starts.
struct InitialRules: Sendable {
    var set = RuleSet()
    /// Why these are not the rules on the disk, as a sentence; `nil` if they are.
    var fault: String?
    /// The warnings and errors of the rules on the disk, in the form of `RuleLoadReport.problems`.
    var problems: [JSONValue] = []
    /// The same warnings and errors, each as a line of the log.
    var notices: [String] = []
    /// The values of `!secret` and `!env_var` in the rules on the disk if these do not run.
    var refusedValues = ConfidentialValues()
    /// The source text of the rules that run.
    var recorded: RecordedRules?
    /// The files that are watched for changes.
    var watched: WatchedFiles
    /// The rules, to be kept as the last good ones; `nil` if they are not those on the disk.
    var rulesToKeep: LastGoodRules?
}

/// Finds and reads the files that a user wrote, and gives their texts to `FileLoader`.
package struct ConfigurationFiles: Sendable {
    package let environment: [String: String]

    package init(environment: [String: String]) { self.environment = environment }

    /// A configuration and its path.
    package struct LoadedConfiguration: Sendable {
        package var configuration = Configuration()
        /// `nil` if there is no file; the configuration then has the defaults.
        package var path: String?
        /// The base of relative paths in the configuration.
        package var directory = "/etc/tryck"
        /// Warnings, each as a line of the log.
        package var notices: [String] = []
    }

    package func configuration(at named: String?) throws(Setup.Failure) -> LoadedConfiguration {
        guard let path = ConfigurationPath.find(named, environment: environment) else { return LoadedConfiguration() }
        let text = try read(path)
        let directory = SystemEnvironment.directory(of: path)
        let loaded = FileLoader.configuration(
            SourceFile(name: path, text: text.octets, isReadableByOthers: text.isReadableByOthers),
            in: fileInputs(in: directory))
        guard let configuration = loaded.value else {
            throw .init(text: ConfigurationFiles.report(loaded.diagnostics, on: text), status: .configuration)
        }
        return LoadedConfiguration(
            configuration: configuration, path: path, directory: directory,
            notices: DiagnosticReport(loaded.diagnostics, sources: [:]).logLines)
    }

    /// The `state_directory` of the configuration; `nil` if it does not set one.
    package func stateDirectory(_ configuration: Configuration, in directory: String) -> String? {
        configuration.stateDirectory.map { resolve($0, in: directory, home: environment["HOME"]) }
    }

    /// The path of the last rule set without errors.
    package static func lastGoodRules(in stateDirectory: String) -> String { stateDirectory + "/last-good-rules.json" }
    /// The path of the secrets with which that rule set was read.
    static func lastGoodSecrets(in stateDirectory: String) -> String { stateDirectory + "/last-good-secrets.yaml" }

    /// The path of the rules, and whether the configuration sets it.
    package func rulesPath(_ configuration: Configuration, in directory: String) -> (path: String, isNamed: Bool) {
        (
            resolve(configuration.rulesPath ?? "rules/home.yaml", in: directory, home: environment["HOME"]),
            configuration.rulesPath != nil
        )
    }

    /// The rules on the disk if they have no errors, or else the last good rules, or else none.
    func initialRules(_ rulesOnDisk: RulesOnDisk, stateDirectory: String) -> InitialRules {
        let loaded: LoadedRules
        do throws(FileText.Failure) {
            loaded = try rulesOnDisk.load()
        } catch {
            var nothing = InitialRules(watched: WatchedFiles(rulesOnDisk))
            if !rulesOnDisk.isNamed, error == .notFound(rulesOnDisk.path) { return nothing }
            nothing.problems = [error.problem]
            return fallBack(in: stateDirectory, rulesOnDisk, because: "\(error)", nothing)
        }
        let report = DiagnosticReport(loaded.result.diagnostics, sources: loaded.sources)
        var initial = InitialRules(
            problems: loaded.result.diagnostics.problemList, notices: report.logLines,
            watched: WatchedFiles(rulesOnDisk))
        initial.watched.add(loaded)
        guard let set = loaded.result.value else {
            initial.refusedValues = loaded.confidentialValues
            let count = loaded.result.diagnostics.count { $0.severity == .error }
            return fallBack(
                in: stateDirectory, rulesOnDisk,
                because: "\(rulesOnDisk.path) has \(count) error\(count == 1 ? "" : "s")", initial)
        }
        initial.set = set
        initial.recorded = loaded.recorded
        initial.rulesToKeep = LastGoodRules(rules: loaded.recorded, secrets: loaded.secrets)
        return initial
    }

    private func fallBack(
        in stateDirectory: String, _ rulesOnDisk: RulesOnDisk, because reason: String, _ initial: InitialRules
    ) -> InitialRules {
        var initial = initial
        guard let kept = LastGoodRules(in: stateDirectory), let set = rulesOnDisk.load(kept)?.value else {
            initial.fault = "\(reason): no rules run. Fix the errors that tryck check shows."
            return initial
        }
        initial.set = set
        initial.recorded = kept.rules
        initial.fault =
            "\(reason): the last good rules, of \(kept.keptAt), run instead. Fix the errors that tryck check shows."
        return initial
    }

    /// The buttons of `simulated:FILE`; empty for other transports.
    package func simulator(
        _ configuration: Configuration, in directory: String
    ) throws(Setup.Failure) -> [SimulatorButton] {
        let paths = configuration.usedRadios.compactMap {
            if case .simulated(let path) = $0.transport { path } else { nil }
        }
        guard let path = paths.first else { return [] }
        return try simulator(at: resolve(path, in: directory, home: environment["HOME"]))
    }

    /// The buttons of a simulator file.
    package func simulator(at path: String) throws(Setup.Failure) -> [SimulatorButton] {
        let text = try read(path)
        let loaded = FileLoader.simulator(SourceFile(name: path, text: text.octets))
        guard let buttons = loaded.value else {
            throw .init(
                text: ConfigurationFiles.report(loaded.diagnostics, on: text), status: .configuration)
        }
        return buttons
    }

    /// The secrets and variables that files in this directory may refer to.
    package func fileInputs(in directory: String) -> FileInputs {
        let secretsPath = directory + "/secrets.yaml"
        // Only a regular file is read, because the daemon would wait for the other end of a pipe.
        var inputs = FileInputs(variables: environment)
        switch RuleFiles.file(secretsPath) {
        case .files(let files): inputs.secrets = files.first.map { SourceFile($0) }
        case .cannotBeRead: inputs.areSecretsHidden = access(secretsPath, R_OK) != 0 && errno == EACCES
        case .noSuchFile, .isOutside, .tooManyFiles: break
        }
        return inputs
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
