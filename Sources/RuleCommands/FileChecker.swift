package import CommandSupport
import ConfigurationLoader
import Diagnostics
import Platform
import RuleLoader
package import Rules
import Setup
import YAMLFiles

/// Reads and checks the files that a daemon would read.
package struct FileChecker {
    private let files: ConfigurationFiles
    private let workingDirectory: String
    /// True to check a rules file that is given alone with the configuration that is found here, if that names the file.
    private let heedsConfiguration: Bool

    package init(environment: [String: String], workingDirectory: String, heedsConfiguration: Bool) {
        files = ConfigurationFiles(environment: environment)
        self.workingDirectory = workingDirectory
        self.heedsConfiguration = heedsConfiguration
    }

    static var here: FileChecker {
        FileChecker(
            environment: SystemEnvironment.environmentVariables, workingDirectory: SystemEnvironment.workingDirectory,
            heedsConfiguration: true)
    }

    /// Checks rules, or a configuration and its rules. Without a source, it checks what a daemon started here would use.
    ///
    /// - Parameter option: with which the command takes a file, such as `--rules `; empty if the file is an argument.
    package func check(_ source: RuleSource?, option: String = "") throws(Failure) -> [CheckedFile] {
        switch source {
        case nil: return try checkDefault(option)
        case .file(let path)?: return try check(read(path), isOnDisk: true)
        case .standardInput(let name)?: return try check(readStandardInput(name), isOnDisk: false)
        }
    }

    private func check(_ text: FileText, isOnDisk: Bool) throws(Failure) -> [CheckedFile] {
        switch FileKind(name: text.path, text: text.octets) {
        case .rules:
            var rules = configuredRules(text.path) ?? RulesOnDisk(path: text.path, files: files)
            rules.path = text.path
            if !isOnDisk { rules.text = text.octets }
            return [try checkRules(rules, text.path)]
        case .configuration: return try checkConfiguration(text, text.path)
        }
    }

    /// The rules of the configuration that is found here, if it is valid and names this file. It may forbid steps, or have no
    /// broker.
    private func configuredRules(_ path: String) -> RulesOnDisk? {
        guard heedsConfiguration, let found = ConfigurationPath.find(environment: files.environment),
            let text = try? FileText(reading: found)
        else { return nil }
        let directory = SystemEnvironment.directory(of: found)
        let file = SourceFile(name: found, text: text.octets, isReadableByOthers: text.isReadableByOthers)
        guard let configuration = FileLoader.configuration(file, in: files.fileInputs(in: directory)).value else {
            return nil
        }
        let rules = RulesOnDisk(configuration, in: directory, files: files)
        return relative(rules.path) == relative(path) ? rules : nil
    }

    /// The rules among files that were checked, for a command that needs rules.
    ///
    /// - Throws: `Failure` with status 1 when there are errors, whose report is written to standard error.
    package static func rules(in checked: [CheckedFile]) throws(Failure) -> RuleSet {
        if let set = checked.compactMap(\.set).last { return set }
        let diagnostics = checked.flatMap(\.diagnostics)
        guard !diagnostics.isEmpty else {
            throw Failure(.configuration, "There are no rules here. Name a rules file, such as rules/home.yaml")
        }
        throw Failure(
            .negativeResult, "The rules have errors.", problems: diagnostics.problemList,
            report: CheckedFile.report(checked, style: Output.standardError.style))
    }

    /// The part that can be read of the rules that `check` finds. If there are errors, their report is written to
    /// standard error.
    func readableRules(_ path: String) throws(Failure) -> (set: RuleSet, hasErrors: Bool) {
        let checked = try check(.file(path))
        if let set = checked.compactMap(\.set).last { return (set, false) }
        guard let set = checked.compactMap(\.readable).last else { return (try Self.rules(in: checked), false) }
        Output.standardError.write(text: CheckedFile.report(checked, style: Output.standardError.style))
        return (set, true)
    }

    private func checkDefault(_ option: String) throws(Failure) -> [CheckedFile] {
        guard let path = ConfigurationPath.find(environment: files.environment) else {
            throw Failure(
                .configuration,
                "There is no tryck.yaml here or in /etc/tryck. Name one, or a file of rules, as in \(option)rules/home.yaml."
            )
        }
        return try checkConfiguration(read(path), path)
    }

    private func checkConfiguration(_ text: FileText, _ path: String) throws(Failure) -> [CheckedFile] {
        let directory = SystemEnvironment.directory(of: path)
        let loaded = FileLoader.configuration(
            SourceFile(name: path, text: text.octets, isReadableByOthers: text.isReadableByOthers),
            in: files.fileInputs(in: directory))
        let checked = CheckedFile(configuration: text, named: path, loaded)
        // Only a valid configuration tells where the rules are.
        guard let configuration = loaded.value else { return [checked] }
        var rules = RulesOnDisk(configuration, in: directory, files: files)
        rules.path = relative(rules.path)
        do throws(FileText.Failure) {
            return [checked, CheckedFile(try rules.load(), named: rules.path)]
        } catch .notFound where !rules.isNamed {
            return [checked]
        } catch {
            throw Failure(.configuration, "\(error). \(path) names it under rules:; create it, or change the name.")
        }
    }

    private func checkRules(_ rules: RulesOnDisk, _ path: String) throws(Failure) -> CheckedFile {
        do throws(FileText.Failure) {
            return CheckedFile(try rules.load(), named: path)
        } catch {
            throw Failure(.configuration, "\(error). Give the path of a rules file or of a tryck.yaml.")
        }
    }

    private func read(_ path: String) throws(Failure) -> FileText {
        do throws(FileText.Failure) {
            return try FileText(reading: path)
        } catch {
            throw Failure(.configuration, "\(error). Give the path of a rules file or of a tryck.yaml.")
        }
    }

    private func readStandardInput(_ name: String) throws(Failure) -> FileText {
        do throws(FileText.Failure) {
            return try FileText(readingStandardInputAs: name)
        } catch {
            throw Failure(.configuration, "\(error).")
        }
    }

    private func relative(_ path: String) -> String {
        path.hasPrefix(workingDirectory + "/") ? String(path.dropFirst(workingDirectory.utf8.count + 1)) : path
    }
}
