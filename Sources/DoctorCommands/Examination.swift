import CommandSupport
import ConfigurationLoader
import ControlClient
import Diagnostics
import Glibc
import JSON
import MQTTTopics
import Platform
import RuleCommands
import RuleLoader
import RuleTesting
import Rules
import Settings
import Setup
import YAMLFiles

/// Looks at everything that the daemon needs, as the daemon would find it, and changes no file.
struct Examination {
    var options = DaemonOptions()
    var environment = SystemEnvironment.environmentVariables
    /// The control sockets to try, besides the one that the configuration names.
    var candidates: [String] = []
    /// False for a program that may not use the adapter and the broker itself.
    var mayConnect = true

    /// Returns the observations, and the secrets that a report must not show.
    func run() -> (Observations, Redaction) {
        let files = ConfigurationFiles(environment: environment)
        let path = ConfigurationPath.find(options.configuration, environment: environment)
        let setup = Result { () throws(Setup.Failure) in try Setup(options, environment: environment) }
        var seen = Observations(
            now: SystemEnvironment.wallClock, user: user, hasService: getpwnam("tryck") != nil,
            stateDirectory: StateDirectoryReport(examining: stateDirectory(setup)))
        if let path {
            seen.configurationPath = path
        }
        var secrets: Set<String> = []
        seen.configuration = configuration(at: path, files, setup)
        switch setup {
        case .success(let setup):
            seen.rulesPath = setup.rulesOnDisk.path
            seen.isSite = setup.configuration.uplink != nil
            if let path, let password = setup.configuration.mqttPassword?.value, let file = try? FileText(reading: path)
            {
                seen.hasSecretPassword = !String(decoding: file.octets, as: UTF8.self).contains(password)
            }
            secrets = loadRules(setup.rulesOnDisk, &seen)
            secrets.formUnion(setup.configuration.mqttPassword.map { [$0.value] } ?? [])
            secrets.formUnion(setup.configuration.uplink?.password.map { [$0.value] } ?? [])
            (seen.daemon, seen.buttons) = ask(
                options.controlSocket == nil ? [setup.controlSocket] + candidates : candidates)
            seen.usesAdapter = setup.configuration.usedRadios.contains { $0.transport.isAdapterHere }
            seen.adapters = SystemEnvironment.names(in: "/sys/class/bluetooth").filter { !$0.contains(":") }.sorted()
            seen.isBlueZRunning = SystemEnvironment.isRunning("bluetoothd")
            if mayConnect { ConnectionAttempt.run(setup, &seen) }
        case .failure:
            seen.rules = .unknown
            (seen.daemon, seen.buttons) = ask(candidates)
        }
        return (seen, Redaction(secrets))
    }

    private func stateDirectory(_ setup: Result<Setup, Setup.Failure>) -> String {
        if case .success(let setup) = setup { return setup.stateDirectory }
        return options.stateDirectory.map { resolve($0, in: SystemEnvironment.workingDirectory) }
            ?? Locations(environment: environment, isRoot: SystemEnvironment.isRoot).stateDirectory
    }

    private func configuration(
        at path: String?, _ files: ConfigurationFiles, _ setup: Result<Setup, Setup.Failure>
    ) -> Observations.File {
        guard let path else { return .absent }
        let text: FileText
        do throws(FileText.Failure) {
            text = try FileText(reading: path)
        } catch {
            return .unusable("\(error)")
        }
        let loaded = FileLoader.configuration(
            SourceFile(name: path, text: text.octets, isReadableByOthers: text.isReadableByOthers),
            in: files.fileInputs(in: SystemEnvironment.directory(of: path)))
        let file = Observations.File(path, loaded.diagnostics, content: "without errors")
        if case .failure(let failure) = setup, case .good = file { return .unusable(failure.text) }
        return file
    }

    /// - Returns: the values that are secret.
    private func loadRules(_ rules: RulesOnDisk, _ seen: inout Observations) -> Set<String> {
        do throws(FileText.Failure) {
            let loaded = try rules.load(withTests: true)
            let checked = CheckedFile(loaded, named: rules.path)
            seen.rules = Observations.File(rules.path, loaded.result.diagnostics, content: checked.content ?? "")
            seen.failingTests = loaded.tests?.failures.count ?? 0
            return loaded.confidentialValues.values
        } catch .notFound where !rules.isNamed {
            return []
        } catch {
            seen.rules = .unusable("\(error)")
            return []
        }
    }

    private func ask(_ paths: [String]) -> (Observations.DaemonAnswer, buttons: [JSONValue]?) {
        var refusal: ControlClientFailure?
        for path in paths {
            do throws(ControlClientFailure) {
                let client = try ControlClient(path: path)
                let answer = try client.ask(
                    .request(ControlRequestName.status, .object([])), within: .seconds(10))
                guard case .success(let status)? = answer?.requestOutcome else {
                    throw .system(operation: "understanding its answer", reason: "it is not a status")
                }
                let buttons = try client.ask(
                    .request(ControlRequestName.buttons, .object([])), within: .seconds(10))
                guard case .success(let list)? = buttons?.requestOutcome else { return (.status(status), nil) }
                return (.status(status), list.arrayValue)
            } catch .notRunning {
                continue
            } catch {
                refusal = refusal ?? error
            }
        }
        return (.silent(refusal ?? .notRunning(path: paths.first ?? "")), nil)
    }

    private var user: String { getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())" }
}

extension Configuration.Transport {
    /// True if the radio is an adapter of this machine, whether Tryck has it alone or shares it with BlueZ.
    fileprivate var isAdapterHere: Bool {
        switch self {
        case .auto, .hciIndex, .hciAddress, .bluez, .bluezIndex, .bluezAddress: true
        case .h4TCP, .h4Unix, .command, .esphome, .simulated, .none: false
        }
    }
}

extension Observations.File {
    init(_ name: String, _ diagnostics: [Diagnostic], content: String) {
        let errors = diagnostics.inSourceOrder().filter { $0.severity == .error }
        guard let first = errors.first else {
            self = .good(name: name, content: content, warnings: diagnostics.count)
            return
        }
        self = .bad(
            name: first.file, errors: errors.count, position: "\(first.start.line):\(first.start.column)",
            code: first.code)
    }
}
