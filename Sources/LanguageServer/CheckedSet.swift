import Diagnostics
import RuleLoader
import Rules

/// A rule set that was checked: its texts, the diagnostics about them, and what could be read of it.
struct CheckedSet: Sendable {
    let entry: SourceFile
    /// The path of the entry file, or that of the configuration if the configuration was checked.
    private(set) var key: String
    private let inputs: LoadInputs
    /// What the loader was told, so that the set can be loaded again with one other text.
    private var answers: [RuleSetLoader.Request: RuleSetLoader.Answer] = [:]
    /// The files of the set, the entry file first.
    private(set) var files: [SourceFile] = []
    private(set) var diagnostics: [Diagnostic] = []
    /// What could be read, even if there are errors.
    private(set) var readable: RuleSet?
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

    var secrets: SourceFile? { inputs.secrets }

    func contains(_ path: String) -> Bool { file(path) != nil || secrets?.name == path }

    /// A file by its name in diagnostics, or by its path without symbolic links.
    func file(_ path: String) -> SourceFile? { files.first { $0.name == path || $0.identity == path } }

    mutating func add(_ answer: RuleSetLoader.Answer, to request: RuleSetLoader.Request) {
        answers[request] = answer
        guard case .files(let found) = answer else { return }
        for file in found where !files.contains(where: { $0.name == file.name }) && file.name != secrets?.name {
            files.append(file)
        }
    }

    mutating func take(_ loaded: LoadResult<RuleSet>) {
        diagnostics = loaded.diagnostics
        readable = loaded.readable
        value = loaded.value
    }

    /// Adds a configuration to the files of its rules.
    mutating func add(_ configuration: SourceFile, _ diagnostics: [Diagnostic]) {
        key = configuration.name
        if files.isEmpty { files = [configuration] } else { files.append(configuration) }
        self.diagnostics = diagnostics + self.diagnostics
    }

    /// The set with another text of one file. Programs are not searched for.
    func loaded(replacing path: String, with text: [UInt8]) -> LoadResult<RuleSet> {
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
