import Diagnostics
import Hub
package import RuleLoader
import Rules
package import Simulator

/// The rules that are to run.
struct LoadedRules: Sendable {
    var rules = RuleSet()
    /// Why they are not the ones on disk.
    var fault: String?
    /// Warnings and errors as rendered text.
    var notices: [String] = []
    /// The text of a set without errors, to be kept for a day when there is none.
    var goodText: [UInt8]?
    /// What runs, as it was written.
    var recorded: RecordedRules?
}

/// Finds and reads the files a user wrote, and hands their texts to the loader.
package struct ConfigurationFiles: Sendable {
    let environment: [String: String]

    package init(environment: [String: String]) { self.environment = environment }

    /// Where `tryck.yaml` is: named, in `$TRYCK_CONFIG`, here, or in `/etc`. `nil`: nowhere.
    package func configurationPath(_ named: String?) -> String? {
        if let named = named ?? environment["TRYCK_CONFIG"] { return named }
        return ["tryck.yaml", "/etc/tryck/tryck.yaml"].first { path in
            do throws(FileText.Failure) {
                _ = try FileText(reading: path)
                return true
            } catch {
                // One that cannot be read is reported when it is.
                return error != .notFound(path)
            }
        }
    }

    /// The configuration, the directory its paths count from, and warnings as rendered text.
    func configuration(at named: String?) throws(Setup.Failure) -> (Configuration, String, [String]) {
        guard let path = configurationPath(named) else { return (Configuration(), "/etc/tryck", []) }
        let text = try read(path)
        let directory = ConfigurationFiles.directory(of: path)
        let loaded = RuleLoader.configuration(
            SourceFile(name: path, text: text.octets, isReadableByOthers: text.isReadableByOthers),
            in: loadEnvironment(in: directory))
        guard let configuration = loaded.value else {
            throw .init(text: ConfigurationFiles.report(loaded.diagnostics, on: text), status: .configuration)
        }
        return (
            configuration, directory,
            loaded.diagnostics.isEmpty ? [] : [ConfigurationFiles.report(loaded.diagnostics, on: text)]
        )
    }

    /// Where the last set without errors is kept.
    package static func lastGoodRules(in stateDirectory: String) -> String { stateDirectory + "/last-good-rules.yaml" }

    /// Where the rules are, and whether the configuration names the place.
    package func rulesPath(_ configuration: Configuration, in directory: String) -> (path: String, isNamed: Bool) {
        (
            resolve(configuration.rulesPath ?? "rules/home.yaml", in: directory, home: environment["HOME"]),
            configuration.rulesPath != nil
        )
    }

    /// The set that is to run: the one on disk, or the last good one, or none.
    func rules(
        _ configuration: Configuration, in directory: String, stateDirectory: String
    ) -> LoadedRules {
        let (path, isNamed) = rulesPath(configuration, in: directory)
        let lastGood = ConfigurationFiles.lastGoodRules(in: stateDirectory)
        let text: FileText
        do throws(FileText.Failure) {
            text = try FileText(reading: path)
        } catch {
            if !isNamed, error == .notFound(path) { return LoadedRules() }
            return fallBack(to: lastGood, configuration, because: "\(error)", [], of: path)
        }
        let loaded = load(text, as: path, configuration)
        let notices = loaded.diagnostics.isEmpty ? [] : [ConfigurationFiles.report(loaded.diagnostics, on: text)]
        guard let rules = loaded.value else {
            let count = loaded.diagnostics.count { $0.severity == .error }
            return fallBack(
                to: lastGood, configuration, because: "\(path) has \(count) error\(count == 1 ? "" : "s")", notices,
                of: path)
        }
        return LoadedRules(
            rules: rules, notices: notices, goodText: text.octets, recorded: recorded(text, as: path, configuration))
    }

    private func recorded(_ text: FileText, as path: String, _ configuration: Configuration) -> RecordedRules {
        RecordedRules(
            name: path, text: text.octets, allowsRun: configuration.allowsRun, allowsShell: configuration.allowsShell)
    }

    private func fallBack(
        to lastGood: String, _ configuration: Configuration, because reason: String, _ notices: [String],
        of path: String
    ) -> LoadedRules {
        // Secrets belong to the place of the original.
        guard let text = try? FileText(reading: lastGood), let rules = load(text, as: path, configuration).value else {
            return LoadedRules(
                fault: "\(reason): no rule runs. Mend it; tryck check shows the places.", notices: notices)
        }
        return LoadedRules(
            rules: rules, fault: "\(reason): the last good rules run instead. Mend it; tryck check shows the places.",
            notices: notices, recorded: recorded(text, as: path, configuration))
    }

    private func load(_ text: FileText, as path: String, _ configuration: Configuration) -> Loaded<RuleSet> {
        RuleLoader.rules(
            SourceFile(name: path, text: text.octets, isReadableByOthers: text.isReadableByOthers),
            in: loadEnvironment(in: ConfigurationFiles.directory(of: path), configuration))
    }

    /// The buttons of `simulated:FILE`; none for other transports.
    func simulator(
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
                firmwareVersion: $0.firmware, batteryMillivolts: $0.batteryMillivolts, isPublic: $0.isPublic ?? true)
        }
    }

    /// What files in this directory may refer to.
    package func loadEnvironment(in directory: String, _ configuration: Configuration? = nil) -> LoadEnvironment {
        let secretsPath = directory + "/secrets.yaml"
        let secrets = (try? FileText(reading: secretsPath)).map {
            SourceFile(name: secretsPath, text: $0.octets, isReadableByOthers: $0.isReadableByOthers)
        }
        return LoadEnvironment(
            secrets: secrets, variables: environment, allowsRun: configuration?.allowsRun ?? true,
            allowsShell: configuration?.allowsShell ?? true)
    }

    private static func report(_ diagnostics: [Diagnostic], on text: FileText) -> String {
        DiagnosticReport(diagnostics, sources: [text.path: text.octets]).text()
    }

    private func read(_ path: String) throws(Setup.Failure) -> FileText {
        do {
            return try FileText(reading: path)
        } catch {
            throw .init(text: "\(error)", status: .configuration)
        }
    }

    package static func directory(of path: String) -> String {
        let absolute = resolve(path, in: Surroundings.workingDirectory)
        guard let slash = absolute.lastIndex(of: "/"), slash != absolute.startIndex else { return "/" }
        return String(absolute[..<slash])
    }
}
