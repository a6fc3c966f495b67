import ConfigurationLoader
package import RuleLoader
import Rules
import Settings
import YAMLFiles

/// A file or another fact that the language server needs from the machine.
package enum DiskRequest: Hashable, Sendable {
    /// A file by its absolute path.
    case file(String)
    /// Files or a time zone of the set with this entry file.
    case ofSet(RuleSetLoader.Request, entry: String)
    case systemTimeZone
    /// Which of these programs cannot be found.
    case missingPrograms(Set<String>)
    /// The names of the files and directories in a directory.
    case names(directory: String)
}

/// The answer to a `DiskRequest`.
package enum DiskAnswer: Sendable {
    /// For `file` and `ofSet`.
    case set(RuleSetLoader.Answer)
    case systemTimeZone(LoadInputs.ZoneFile?)
    case missingPrograms(Set<String>)
    /// The answer to `names`. The names of directories end with `/`. The number of names is limited.
    case names([String])
}

/// Checks the rule set that a file belongs to, with the texts in the editor in place of those on the disk.
///
/// The entry file of the set is, in this order: the one that the nearest `tryck.yaml` names under `rules`; that of a set of an
/// open document that includes the file, or did before a file of that set was half written; an entry file in the same directory,
/// or the one above, whose set includes the file; the file itself. The check is a value with the texts of the editor as they
/// were when it began.
package struct SetCheck: Sendable {
    /// How many directories are searched upwards for a `tryck.yaml`.
    private static let maximumDepth = 32
    /// How many files are tried as the entry file.
    private static let maximumCandidates = 8
    /// The octets of a file that is tried as the entry file. Longer files would make opening a file slow.
    private static let maximumCandidateLength = 1 << 20

    private enum Stage {
        /// Looking for `tryck.yaml` in these directories.
        case configuration(ArraySlice<String>)
        /// Reading the secrets of a configuration.
        case configurationSecrets(SourceFile)
        /// Looking in these directories for a file that includes this one.
        case siblings(ArraySlice<String>)
        /// Reading an entry file.
        case entry(String)
        case secrets(SourceFile)
        case systemTimeZone(SourceFile)
        case loading
        case programs(LoadResult<RuleSet>)
        case done
    }

    /// The file that was opened or changed.
    let path: String
    /// The texts in the editor, by path.
    private let open: [String: [UInt8]]
    /// The version of each open text.
    let versions: [String: Int64]
    private let variables: [String: String]
    /// The entry file of the set to which the file belonged before; `nil` if it belonged to none.
    private let lastEntry: String?
    /// The entry files of the sets that contain the file, as far as they were checked.
    private var knownEntries: ArraySlice<String>
    /// The entry files of the sets that contained the file when all of their files were valid YAML for the last time.
    private let completeEntries: Set<String>
    /// True while one of them is read.
    private var isReadingKnownEntry = false
    /// The names of the files of the set at its last check.
    private let knownNames: [String: NamesOfFile]
    private var stage: Stage
    private var candidates: ArraySlice<SourceFile> = []
    private var configuration: (file: SourceFile, inputs: FileInputs, loaded: LoadResult<Configuration>)?
    /// True while the set is tried that `tryck.yaml` names.
    private var isNamed = false
    private var inputs = LoadInputs()
    /// The loader of the set. It is an array of at most one, because a `RuleSetLoader` can only be consumed as a whole.
    private var loader: [RuleSetLoader] = []
    private var attempt = CheckedSet(entry: "")
    private(set) var result: CheckedSet?

    /// - Parameters:
    ///   - lastEntry: the entry file of the set to which the file belonged before.
    ///   - knownEntries: the entry files of the sets that contain the file, as far as they were checked.
    ///   - completeEntries: the entry files of the sets that contained the file when all of their files were valid YAML for the
    ///     last time.
    ///   - knownNames: the names of the files of the set at its last check.
    ///   - open: the texts in the editor. A file without one has the text on the disk.
    init(
        of path: String, lastEntry: String?, knownEntries: [String], completeEntries: Set<String>,
        knownNames: [String: NamesOfFile], open: [String: [UInt8]], versions: [String: Int64],
        variables: [String: String]
    ) {
        self.path = path
        self.lastEntry = lastEntry
        self.knownEntries = knownEntries[...]
        self.completeEntries = completeEntries
        self.knownNames = knownNames
        self.open = open
        self.versions = versions
        self.variables = variables
        if let text = open[path], FileKind(name: path, text: text) == .configuration {
            stage = .configurationSecrets(SourceFile(name: path, text: text))
        } else {
            stage = .configuration(SetCheck.directories(above: path)[...])
        }
    }

    /// Carries out the whole check, which takes most of a second for ten thousand rules. It needs nothing of the server, so it
    /// may be called on any thread.
    ///
    /// - Parameter answer: answers a request.
    package consuming func run(answering answer: (DiskRequest) -> DiskAnswer) -> SetCheck {
        while let request = nextRequest { self.answer(answer(request)) }
        return self
    }

    private var nextRequest: DiskRequest? {
        switch stage {
        case .configuration(let directories): directories.first.map { .file(PathText.join($0, "tryck.yaml")) }
        case .configurationSecrets(let file): .file(PathText.secrets(beside: file.name))
        case .siblings(let directories):
            directories.first.map { directory in
                let file = PathText.join(directory, "*.yaml")
                return .ofSet(.files(PathPattern("*.yaml"), from: file), entry: file)
            }
        case .entry(let path): .file(path)
        case .secrets(let entry): .file(PathText.secrets(beside: entry.name))
        case .systemTimeZone: .systemTimeZone
        case .loading: loader.first?.nextRequest.map { .ofSet($0, entry: attempt.entry.name) }
        case .programs(let loaded): .missingPrograms(loaded.programs)
        case .done: nil
        }
    }

    private mutating func answer(_ answer: DiskAnswer) {
        switch (stage, answer) {
        case (.configuration(let directories), .set(let answer)):
            guard let file = file(in: answer, named: PathText.join(directories.first ?? "", "tryck.yaml")) else {
                let rest = directories.dropFirst()
                return rest.isEmpty ? lookForSiblings() : (stage = .configuration(rest))
            }
            stage = .configurationSecrets(file)
        case (.configurationSecrets(let file), .set(let answer)):
            take(configuration: file, secrets: self.file(in: answer, named: PathText.secrets(beside: file.name)))
        case (.siblings(let directories), .set(let answer)):
            if case .files(let files) = answer { candidates = candidates(among: files) }
            stage = .siblings(directories.dropFirst())
            tryNextCandidate()
        case (.entry(let path), .set(let answer)):
            guard let file = file(in: answer, named: path) else {
                guard isReadingKnownEntry else { return failed() }
                stage = .siblings(siblingsLeft)
                return tryNextCandidate()
            }
            load(file)
        case (.secrets(let entry), .set(let answer)):
            inputs.fileInputs.secrets = file(in: answer, named: PathText.secrets(beside: entry.name))
            stage = .systemTimeZone(entry)
        case (.systemTimeZone(let entry), .systemTimeZone(let zone)):
            inputs.systemTimeZone = zone
            attempt = CheckedSet(entry: entry, inputs: inputs)
            loader = [RuleSetLoader(entry, in: inputs)]
            stage = .loading
            proceed()
        case (.loading, .set(let answer)):
            guard let request = loader.first?.nextRequest else { return finish() }
            let answer = overlaid(answer, to: request)
            attempt.add(answer, to: request)
            loader[0].answer(answer)
            proceed()
        case (.programs(var loaded), .missingPrograms(let programs)):
            loaded.report(missing: programs)
            complete(loaded)
        // The caller gave an answer of another kind; the check ends without a set.
        case (.configuration, _), (.configurationSecrets, _), (.siblings, _), (.entry, _), (.secrets, _),
            (.systemTimeZone, _), (.loading, _), (.programs, _), (.done, _):
            failed()
        }
    }

    // MARK: Finding the entry file

    private mutating func take(configuration file: SourceFile, secrets: SourceFile?) {
        let directory = PathText.directory(of: file.name)
        inputs = LoadInputs(secrets: secrets, variables: variables)
        let loaded = FileLoader.configuration(file, in: inputs.fileInputs)
        configuration = (file, inputs.fileInputs, loaded)
        guard let value = loaded.value else {
            return path == file.name ? finish() : lookForSiblings()
        }
        inputs.forbiddenSteps = value.forbiddenSteps
        inputs.hasNoBroker = value.broker == .none
        isNamed = true
        let rules = value.rulesPath ?? "rules/home.yaml"
        if rules.hasPrefix("~/"), let home = variables["HOME"] {
            stage = .entry(home + rules.dropFirst())
        } else {
            stage = .entry(PathPattern.path(rules, relativeTo: PathText.join(directory, "tryck.yaml")))
        }
        if case .entry(let entry) = stage, let text = open[entry] { load(SourceFile(name: entry, text: text)) }
    }

    private mutating func lookForSiblings() {
        isNamed = false
        guard path != configuration?.file.name else { return finish() }
        // The permissions of a configuration apply to its own rules only.
        inputs = LoadInputs(variables: variables)
        let directory = PathText.directory(of: path)
        let directories = [directory] + (directory == "/" ? [] : [PathText.directory(of: directory)])
        siblingsLeft = directories[...]
        stage = .siblings(siblingsLeft)
        if !knownEntries.isEmpty { tryNextCandidate() }
    }

    /// The entry files among others that include something, the one called `home.yaml` first.
    private func candidates(among files: [SourceFile]) -> ArraySlice<SourceFile> {
        let entries = files.compactMap { file -> SourceFile? in
            guard file.name != path, file.identity != path, file.text.count <= SetCheck.maximumCandidateLength else {
                return nil
            }
            let file = overlaid(file)
            guard let outline = FileOutline(file) else { return file.name == lastEntry ? file : nil }
            return outline.isEntry && !outline.inclusions.isEmpty ? file : nil
        }
        let sorted =
            entries.filter { $0.name.hasSuffix("/home.yaml") } + entries.filter { !$0.name.hasSuffix("/home.yaml") }
        return sorted.prefix(SetCheck.maximumCandidates)
    }

    private mutating func tryNextCandidate() {
        isReadingKnownEntry = false
        if let entry = knownEntries.popFirst() {
            if let text = open[entry] { return load(SourceFile(name: entry, text: text)) }
            isReadingKnownEntry = true
            return stage = .entry(entry)
        }
        if let candidate = candidates.popFirst() { return load(candidate) }
        if case .siblings(let directories) = stage, !directories.isEmpty { return }
        loadAlone()
    }

    private mutating func loadAlone() {
        guard PathText.name(of: path) != "secrets.yaml" else { return finish() }
        guard let text = open[path] else { return stage = .entry(path) }
        load(SourceFile(name: path, text: text))
    }

    private mutating func failed() {
        loader = []
        if isNamed { return lookForSiblings() }
        finish()
    }

    // MARK: Loading

    private mutating func load(_ entry: SourceFile) {
        siblingsLeft = if case .siblings(let directories) = stage { directories } else { siblingsLeft }
        stage = .secrets(entry)
    }

    /// The directories in which no file was tried yet.
    private var siblingsLeft: ArraySlice<String> = []

    private mutating func proceed() {
        guard let loader = loader.first, loader.nextRequest == nil else { return }
        self.loader = []
        let loaded = loader.loaded()
        if loaded.programs.isEmpty { complete(loaded) } else { stage = .programs(loaded) }
    }

    private mutating func complete(_ loaded: LoadResult<RuleSet>) {
        attempt.take(loaded, known: knownNames)
        if attempt.contains(path) || path == configuration?.file.name || mayBelong {
            attempt.configurationPath = isNamed ? configuration?.file.name : nil
            result = attempt
            return finish()
        }
        if isNamed { return lookForSiblings() }
        stage = .siblings(siblingsLeft)
        tryNextCandidate()
    }

    /// True if the file is taken for a part of the set although no file is known to include it. Either a file of the set is missing
    /// or not valid YAML, and the set contained the file when none was. Or the entry file is not valid YAML, and the file belonged
    /// to its set before, or `tryck.yaml` names the entry file and the file lies below it. As a set of its own, the file would
    /// have mistakes that it has not, and a rename would miss the other files.
    private var mayBelong: Bool {
        let entry = attempt.entry.name
        if !attempt.isComplete, completeEntries.contains(entry) { return true }
        guard FileOutline(attempt.entry) == nil else { return false }
        if entry == lastEntry { return true }
        guard isNamed, path.hasPrefix(PathText.join(PathText.directory(of: entry), "")), let text = open[path] else {
            return false
        }
        return FileOutline(SourceFile(name: path, text: text))?.isEntry != true
    }

    /// Ends the check, with the diagnostics of the configuration if the configuration was the file to check.
    private mutating func finish() {
        stage = .done
        loader = []
        guard let configuration, path == configuration.file.name else { return }
        var set = result ?? CheckedSet(entry: path)
        set.add(configuration.file, configuration.inputs, configuration.loaded.diagnostics)
        result = set
    }

    // MARK: Texts in the editor

    private func file(in answer: RuleSetLoader.Answer, named path: String) -> SourceFile? {
        if case .files(let files) = answer, let file = files.first { return overlaid(file) }
        return open[path].map { SourceFile(name: path, text: $0) }
    }

    private func overlaid(_ file: SourceFile) -> SourceFile {
        guard let text = open[file.name] ?? file.identity.flatMap({ open[$0] }) else { return file }
        var file = file
        file.text = text
        return file
    }

    private func overlaid(_ answer: RuleSetLoader.Answer, to request: RuleSetLoader.Request) -> RuleSetLoader.Answer {
        switch (answer, request) {
        case (.files(let files), .files(let pattern, let origin)) where !pattern.isLiteral:
            let matching = PathPattern(PathPattern.path(pattern.text, relativeTo: origin))
            let names = Set(files.flatMap { [$0.name, $0.identity ?? $0.name] })
            let new = open.keys.filter { !names.contains($0) && matching.matches($0) }.sorted()
            return .files(files.map(overlaid) + new.map { SourceFile(name: $0, text: open[$0] ?? []) })
        case (.files(let files), _): return .files(files.map(overlaid))
        case (.noSuchFile, .files(let pattern, let origin)):
            let path = PathPattern.path(pattern.text, relativeTo: origin)
            // A new file that is not saved yet.
            guard pattern.isLiteral, let text = open[path],
                path.hasPrefix(PathText.join(PathText.directory(of: attempt.entry.name), ""))
            else { return answer }
            return .files([SourceFile(name: path, text: text)])
        case (.noSuchFile, .timeZone), (.isOutside, _), (.tooManyFiles, _), (.cannotBeRead, _), (.timeZone, _):
            return answer
        }
    }

    private static func directories(above path: String) -> [String] {
        var directories: [String] = []
        var directory = PathText.directory(of: path)
        while directories.count < maximumDepth {
            directories.append(directory)
            guard directory != "/" else { break }
            directory = PathText.directory(of: directory)
        }
        return directories
    }
}

/// Absolute paths as text.
enum PathText {
    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    static func join(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    /// The path of the file of secrets that belongs to a file of rules or settings.
    static func secrets(beside path: String) -> String { join(directory(of: path), "secrets.yaml") }

    static func name(of path: String) -> Substring {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    }
}
