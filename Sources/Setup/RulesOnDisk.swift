import Hub
package import Platform
package import RuleLoader
import RuleTesting
package import Rules
package import Settings
package import YAMLFiles

/// The rule set on the disk: its entry file, and with which permissions it is loaded. Can be used again, on any thread.
///
/// A rule set passes through these stages on its way to the rule engine:
///
/// | stage    | what it is                                                       | type                   |
/// |----------|------------------------------------------------------------------|------------------------|
/// | on disk  | the path of the entry file                                       | `RulesOnDisk`          |
/// | recorded | the texts of the files that `RuleFiles` read, and the time zones | `RecordedRules`        |
/// | loaded   | the diagnostics of `RuleSetLoader`, and the set without errors   | `LoadResult<RuleSet>`  |
/// | prepared | the set with the tables that the rule engine derives from it     | `PreparedRules`        |
/// | adopted  | the set that runs, from `RuleHost.took` on                       | `RuleEngine.prepared`  |
///
/// `load` returns `LoadedRules`, which has the recorded and the loaded set, and the results of its tests. Their `report` is
/// the hub's input, a `RuleLoadReport` with the prepared set. The recorded set of the latest load without errors is kept as
/// `LastGoodRules`. `InitialRules` are those with which the daemon starts.
package struct RulesOnDisk: Sendable {
    /// The entry file, as named in messages.
    package var path: String
    /// The text of the entry file, if it is not read from the disk.
    package var text: [UInt8]?
    /// True if the path is configured; then the file has to exist.
    package var isNamed: Bool
    package var files: ConfigurationFiles
    package var forbiddenSteps: Set<StepKind> = []
    /// True if the configuration says that there is no broker.
    package var hasNoBroker = false

    package init(_ configuration: Configuration, in directory: String, files: ConfigurationFiles) {
        (path, isNamed) = files.rulesPath(configuration, in: directory)
        self.files = files
        forbiddenSteps = configuration.forbiddenSteps
        hasNoBroker = configuration.broker == .none
    }

    /// A rules file given as an argument, without a configuration.
    package init(path: String, files: ConfigurationFiles) {
        self.path = path
        self.files = files
        isNamed = true
    }

    /// - Throws: if the entry file cannot be read.
    package func load(withTests: Bool = false) throws(FileText.Failure) -> LoadedRules {
        let entry = try entry()
        let directory = SystemEnvironment.directory(of: path)
        var inputs = LoadInputs(
            files.fileInputs(in: directory), forbiddenSteps: forbiddenSteps, hasNoBroker: hasNoBroker)
        let zones = ZoneFiles()
        inputs.systemTimeZone = zones.system(files.environment["TZ"]).map {
            LoadInputs.ZoneFile(name: $0.name, octets: $0.octets)
        }
        var recorded = RecordedRules(
            files: [.init(name: entry.name, text: entry.text)], forbiddenSteps: forbiddenSteps,
            systemTimeZone: inputs.systemTimeZone?.name)
        if let zone = inputs.systemTimeZone { recorded.timeZones[zone.name] = zone.octets }
        var searched: Set<String> = []
        var loader = RuleSetLoader(entry, in: inputs)
        while let nextRequest = loader.nextRequest {
            let answer: RuleSetLoader.Answer
            switch nextRequest {
            case .timeZone(let name): answer = .timeZone(zones.zone(name))
            case .files(let pattern, let origin):
                if !pattern.isLiteral { searched.insert(pattern.directory(relativeTo: origin)) }
                answer = RuleSetLoader.Answer(
                    RuleFiles.files(matching: pattern.text, relativeTo: origin, entry: path) {
                        PathPattern.matches(name: $0, pattern: $1)
                    })
            }
            recorded.add(answer, to: nextRequest)
            loader.answer(answer)
        }
        var result = loader.loaded()
        result.report(missing: result.programs.filter { !RuleFiles.isProgram($0) })
        var sources = Dictionary(recorded.files.map { ($0.name, $0.text) }) { first, _ in first }
        if let secrets = inputs.fileInputs.secrets { sources[secrets.name] = secrets.text }
        return LoadedRules(
            result: result, sources: sources, recorded: recorded, secrets: inputs.fileInputs.secrets,
            confidentialValues: result.confidentialValues(in: inputs, of: recorded.files.map(\.text)),
            tests: withTests ? result.value.map { RuleTestRunner.run($0) } : nil, searched: searched)
    }

    private func entry() throws(FileText.Failure) -> SourceFile {
        if let text { return SourceFile(name: path, text: text) }
        switch RuleFiles.file(path) {
        case .files(let files):
            guard let file = files.first else { throw .notFound(path) }
            return SourceFile(file)
        case .noSuchFile: throw .notFound(path)
        case .cannotBeRead(let cause): throw .unreadable(path, cause: cause)
        case .isOutside, .tooManyFiles: throw .notFound(path)
        }
    }

    /// Loads kept rules with the current secrets, or if these lead to errors, with the secrets kept with the rules.
    ///
    /// - Returns: `nil` if nothing is kept.
    package func load(_ kept: LastGoodRules) -> LoadResult<RuleSet>? {
        let current = load(kept.rules, files.fileInputs(in: SystemEnvironment.directory(of: path)))
        guard current?.value == nil, let secrets = kept.secrets else { return current }
        return load(kept.rules, FileInputs(secrets: secrets, variables: files.environment))
    }

    private func load(_ recorded: RecordedRules, _ inputs: FileInputs) -> LoadResult<RuleSet>? {
        FileLoader.recordedRules(
            recorded.files.map { SourceFile(name: $0.name, text: $0.text) }, timeZones: recorded.timeZones,
            systemTimeZone: recorded.systemTimeZone, forbiddenSteps: recorded.forbiddenSteps, in: inputs)
    }
}

extension SourceFile {
    package init(_ file: RuleFiles.File) {
        self.init(
            name: file.name, text: file.octets, isReadableByOthers: file.isReadableByOthers, identity: file.path)
    }
}

extension RuleSetLoader.Answer {
    package init(_ answer: RuleFiles.FileResult) {
        self =
            switch answer {
            case .files(let files): .files(files.map { SourceFile($0) })
            case .noSuchFile: .noSuchFile
            case .isOutside: .isOutside
            case .tooManyFiles: .tooManyFiles
            case .cannotBeRead(let reason): .cannotBeRead(reason)
            }
    }
}

extension PathPattern {
    /// The directory that a pattern searches: the components before the first with a wildcard.
    fileprivate func directory(relativeTo file: String) -> String {
        let path = resolve(PathPattern.path(text, relativeTo: file), in: SystemEnvironment.workingDirectory)
        let plain = path.split(separator: "/").prefix { PathPattern(String($0)).isLiteral }
        return "/" + plain.joined(separator: "/")
    }
}

extension RecordedRules {
    fileprivate mutating func add(_ answer: RuleSetLoader.Answer, to request: RuleSetLoader.Request) {
        switch (request, answer) {
        case (.timeZone(let name), .timeZone(let octets?)): timeZones[name] = octets
        case (_, .files(let read)):
            for file in read where !files.contains(where: { $0.name == file.name }) {
                files.append(File(name: file.name, text: file.text))
            }
        case (.timeZone, _), (.files, _): break
        }
    }
}

/// The files and directories that are watched for changes, as absolute paths.
package struct WatchedFiles: Sendable {
    package var files: Set<String> = []
    /// The directories in which all YAML files are of interest.
    package var directories: Set<String> = []

    package init(_ rules: RulesOnDisk) {
        let directory = SystemEnvironment.directory(of: rules.path)
        files = [resolve(rules.path, in: SystemEnvironment.workingDirectory), directory + "/secrets.yaml"]
    }

    package mutating func add(_ loaded: LoadedRules) {
        files.formUnion(loaded.sources.keys.map { resolve($0, in: SystemEnvironment.workingDirectory) })
        directories.formUnion(loaded.searched)
    }
}
