import Daemon
import Diagnostics
import RuleLoader

/// Reads the files that a daemon would read, and has them checked.
struct FileChecker {
    private let files: ConfigurationFiles
    private let workingDirectory: String

    init(environment: [String: String], workingDirectory: String) {
        files = ConfigurationFiles(environment: environment)
        self.workingDirectory = workingDirectory
    }

    /// One file: rules, or a configuration and its rules.
    func check(_ path: String) throws(Failure) -> [CheckedFile] {
        let text = try read(path)
        switch CheckedFile.kind(name: path, text: text.octets) {
        case .rules: return [checkRules(text, path, configuration: nil)]
        case .configuration: return try checkConfiguration(text, path)
        }
    }

    /// What a daemon started here would use.
    func checkDefault() throws(Failure) -> [CheckedFile] {
        guard let path = files.configurationPath(nil) else {
            throw Failure(
                .configuration,
                "There is no tryck.yaml here or in /etc/tryck. Say what to check: tryck check rules/home.yaml")
        }
        return try checkConfiguration(read(path), path)
    }

    private func checkConfiguration(_ text: FileText, _ path: String) throws(Failure) -> [CheckedFile] {
        let directory = ConfigurationFiles.directory(of: path)
        let loaded = RuleLoader.configuration(source(text, path), in: files.loadEnvironment(in: directory))
        let checked = CheckedFile(configuration: text, named: path, loaded)
        // Without it nobody knows where the rules are.
        guard let configuration = loaded.value else { return [checked] }
        let rules = files.rulesPath(configuration, in: directory)
        do throws(FileText.Failure) {
            let text = try FileText(reading: rules.path)
            return [checked, checkRules(text, relative(rules.path), configuration: configuration)]
        } catch .notFound where !rules.isNamed {
            return [checked]
        } catch {
            throw Failure(.configuration, "\(error). \(path) names it under rules:; create it, or change the name.")
        }
    }

    private func checkRules(_ text: FileText, _ path: String, configuration: Configuration?) -> CheckedFile {
        let environment = files.loadEnvironment(in: ConfigurationFiles.directory(of: path), configuration)
        return CheckedFile(rules: text, named: path, RuleLoader.rules(source(text, path), in: environment))
    }

    private func read(_ path: String) throws(Failure) -> FileText {
        do throws(FileText.Failure) {
            return try FileText(reading: path)
        } catch {
            throw Failure(.configuration, "\(error). Give the path of a rules file or of a tryck.yaml.")
        }
    }

    private func source(_ text: FileText, _ name: String) -> SourceFile {
        SourceFile(name: name, text: text.octets, isReadableByOthers: text.isReadableByOthers)
    }

    private func relative(_ path: String) -> String {
        path.hasPrefix(workingDirectory + "/") ? String(path.dropFirst(workingDirectory.utf8.count + 1)) : path
    }
}
