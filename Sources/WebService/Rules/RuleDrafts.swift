import Platform
import RuleLoader
package import Rules
package import Setup
package import YAMLFiles

/// Texts of rule files that are not on the disk, by the names of the files in their set.
package typealias RuleDrafts = [String: [UInt8]]

/// A rule set that was loaded with drafts in place of some of its files. Files are named as on the page: relative to the folder
/// of the entry file.
package struct DraftedRules: Sendable {
    package var result: LoadResult<RuleSet>
    /// The names of the files, the entry file first.
    package var names: [String]
}

/// Loads a rule set with drafts. Only files that the daemon would read are read, too.
package struct DraftLoader: Sendable {
    /// Which passwords and secrets are loaded.
    package enum View: Hashable, Sendable {
        /// The files are loaded as they are.
        case asWritten
        /// Words stand in place of the passwords that files have in clear, unless a file is a draft. Values of `!secret` are
        /// loaded, and diagnostics mask them.
        case withoutPasswords
        /// The same as `withoutPasswords`, and also with placeholders for values of `!secret` and `!env_var`. This is for results that rules
        /// compute, from which the values could be concluded.
        case withoutSecrets
    }

    package let rules: RulesOnDisk
    private let key: [UInt8]
    /// The folder of the entry file.
    package let folder: String
    /// The name of the entry file in `folder`.
    package let entry: String

    /// - Parameter key: as in `PasswordMask`.
    package init(_ rules: RulesOnDisk, key: [UInt8]) {
        self.key = key
        self.rules = rules
        folder = SystemEnvironment.directory(of: rules.path)
        entry = rules.path.split(separator: "/").last.map(String.init) ?? rules.path
    }

    /// - Returns: `nil` if there is no entry file.
    package func load(_ drafts: RuleDrafts, _ view: View) -> DraftedRules? {
        guard case .files(let found) = RuleFiles.file("\(folder)/\(entry)"), let file = found.first else { return nil }
        var inputs = LoadInputs(
            rules.files.fileInputs(in: folder), forbiddenSteps: rules.forbiddenSteps,
            hasNoBroker: rules.hasNoBroker)
        inputs.fileInputs.secrets?.name = "secrets.yaml"
        inputs.fileInputs.hasPlaceholders = view == .withoutSecrets
        let zones = ZoneFiles()
        inputs.systemTimeZone = zones.system(rules.files.environment["TZ"]).map {
            LoadInputs.ZoneFile(name: $0.name, octets: $0.octets)
        }
        var names = [entry]
        var loader = RuleSetLoader(named(SourceFile(file), drafts, view), in: inputs)
        while let request = loader.nextRequest {
            switch request {
            case .timeZone(let name): loader.answer(.timeZone(zones.zone(name)))
            case .files(let pattern, let origin):
                var answer = RuleSetLoader.Answer(
                    RuleFiles.files(matching: pattern.text, relativeTo: "\(folder)/\(origin)", entry: rules.path) {
                        PathPattern.matches(name: $0, pattern: $1)
                    })
                if case .files(let files) = answer {
                    let files = files.map { named($0, drafts, view) }
                    for file in files where file.name != "secrets.yaml" && !names.contains(file.name) {
                        names.append(file.name)
                    }
                    answer = .files(files)
                }
                loader.answer(answer)
            }
        }
        var result = (consume loader).loaded()
        result.report(missing: result.programs.filter { !RuleFiles.isProgram($0) })
        return DraftedRules(result: result, names: names)
    }

    private func named(_ file: SourceFile, _ drafts: RuleDrafts, _ view: View) -> SourceFile {
        var file = file
        if file.name.hasPrefix(folder + "/") { file.name = String(file.name.dropFirst(folder.utf8.count + 1)) }
        if let text = drafts[file.name] {
            file.text = text
        } else if view != .asWritten, file.name != "secrets.yaml" {
            let mask = PasswordMask(file.text, key: key)
            file.text = mask.neutral(mask.masked)
        }
        return file
    }
}
