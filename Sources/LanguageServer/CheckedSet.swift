import ConfigurationLoader
import Diagnostics
import RuleLoader
import Rules
import YAMLFiles

/// A rule set that was checked: its texts, the diagnostics about them, and what could be read of it.
struct CheckedSet: Sendable {
    let entry: SourceFile
    /// The path of the entry file, or that of the configuration if the configuration was checked.
    private(set) var key: String
    private let inputs: LoadInputs
    /// The configuration of this set, with the inputs of its check; `nil` unless it was checked, too.
    private var configuration: (file: SourceFile, inputs: FileInputs)?
    /// The path of the `tryck.yaml` that names the entry file; `nil` if none does.
    var configurationPath: String?
    /// The answers to the loader's requests, so that the set can be loaded again with one changed text.
    private var answers: [RuleSetLoader.Request: RuleSetLoader.Answer] = [:]
    /// The files of the set, the entry file first.
    private(set) var files: [SourceFile] = []
    /// The names of the files for completions, by the names of the files.
    private(set) var names: [String: NamesOfFile] = [:]
    private(set) var diagnostics: [Diagnostic] = []
    /// The part of the set that could be read, even if there are errors.
    private(set) var readable: RuleSet?
    /// False if a file of the set could not be read or is not valid YAML. Names are missing in `readable` then.
    private(set) var isComplete = true
    /// The set, if it has no errors.
    private(set) var value: RuleSet?

    init(entry: SourceFile, inputs: LoadInputs) {
        self.entry = entry
        key = entry.name
        self.inputs = inputs
        files = [entry]
    }

    init(entry path: String) {
        entry = SourceFile(name: path, text: [])
        key = path
        inputs = LoadInputs()
    }

    /// The files of secrets of the rules and of the configuration, each once.
    var allSecrets: [SourceFile] {
        let files = [inputs.fileInputs.secrets, configuration?.inputs.secrets].compactMap(\.self)
        return files.count == 2 && files[0].name == files[1].name ? [files[0]] : files
    }

    func contains(_ path: String) -> Bool { file(path) != nil || inputs.fileInputs.secrets?.name == path }

    /// The secrets that a file of the set can use; `nil` if there is no file of secrets beside it.
    func secrets(for path: String) -> SourceFile? {
        isConfiguration(path) ? configuration?.inputs.secrets : inputs.fileInputs.secrets
    }

    /// The path of the file of secrets that a file of the set can use. The file may not exist.
    func secretsPath(for path: String) -> String {
        PathText.secrets(beside: isConfiguration(path) ? path : entry.name)
    }

    private func isConfiguration(_ path: String) -> Bool { configuration?.file.name == path }

    /// A file by its name in diagnostics, or by its path without symbolic links.
    func file(_ path: String) -> SourceFile? { files.first { $0.name == path || $0.identity == path } }

    mutating func add(_ answer: RuleSetLoader.Answer, to request: RuleSetLoader.Request) {
        answers[request] = answer
        guard case .files(let found) = answer else { return }
        for file in found
        where !files.contains(where: { $0.name == file.name }) && file.name != inputs.fileInputs.secrets?.name {
            files.append(file)
        }
    }

    /// The names of a file for completions; `nil` if it was never valid YAML.
    func names(of path: String) -> NamesOfFile? { file(path).flatMap { names[$0.name] } }

    /// - Parameter known: the names of files at the last check.
    mutating func take(_ loaded: LoadResult<RuleSet>, known: [String: NamesOfFile]) {
        names = NamesOfFile.names(of: files, known: known)
        diagnostics = loaded.diagnostics
        readable = loaded.readable
        isComplete = loaded.isComplete
        value = loaded.value
    }

    /// Adds a configuration to the files of its rules.
    mutating func add(_ configuration: SourceFile, _ inputs: FileInputs, _ diagnostics: [Diagnostic]) {
        key = configuration.name
        self.configuration = (configuration, inputs)
        if files.isEmpty { files = [configuration] } else { files.append(configuration) }
        self.diagnostics = diagnostics + self.diagnostics
    }

    /// The diagnostics after the text of a file and the secrets are replaced: those of the configuration if it is that
    /// file, else those of the set.
    ///
    /// - Parameter secrets: the secrets to use; `nil` for those with which the set was loaded.
    func diagnostics(
        replacing path: String, with text: [UInt8], secrets: SourceFile? = nil
    ) -> [Diagnostic] {
        guard let configuration, isConfiguration(path) else {
            return loaded(replacing: path, with: text, secrets: secrets).diagnostics
        }
        var (file, inputs) = configuration
        file.text = text
        if let secrets { inputs.secrets = secrets }
        return FileLoader.configuration(file, in: inputs).diagnostics
    }

    /// The set with another text of one file. Programs are not searched for.
    ///
    /// - Parameter secrets: the secrets to use; `nil` for those with which the set was loaded.
    func loaded(
        replacing path: String, with text: [UInt8], secrets: SourceFile? = nil
    ) -> LoadResult<RuleSet> {
        var inputs = inputs
        if let secrets { inputs.fileInputs.secrets = secrets }
        func replaced(_ file: SourceFile) -> SourceFile {
            guard file.name == path || file.identity == path else { return file }
            var file = file
            file.text = text
            return file
        }
        var loader = RuleSetLoader(replaced(entry), in: inputs)
        while let request = loader.nextRequest {
            switch answers[request] {
            case .files(let files)?: loader.answer(.files(files.map(replaced)))
            case let answer?: loader.answer(answer)
            case nil:
                // The other text needs something that was not needed before.
                if case .timeZone = request { loader.answer(.timeZone(nil)) } else { loader.answer(.noSuchFile) }
            }
        }
        return (consume loader).loaded()
    }
}
