package import Diagnostics
package import Hub
import JSON
package import Platform
package import RuleLoader
package import RuleTesting
package import Rules

/// Reads a rule set from its files, with the permissions of the configuration. Can be used again, on any thread.
package struct RuleSource: Sendable {
    /// The entry file, as named in messages.
    package var path: String
    /// Whether the path is configured; then the file has to exist.
    package var isNamed: Bool
    package var files: ConfigurationFiles
    package var forbiddenSteps: Set<StepKind> = []

    /// The result of reading a rule set.
    package struct ReadResult: Sendable {
        package var loaded: LoadResult<RuleSet>
        /// The text of each file, secrets included, by name, for reports.
        package var sources: [String: [UInt8]]
        /// The rule files, for a recording and for `LastGoodRules`.
        package var recorded: RecordedRules
        package var secrets: SourceFile?
        /// The results of the tests, if they were requested and the set could be loaded.
        package var tests: RuleTestReport?

        /// The directories that were searched for patterns.
        var searched: Set<String> = []
    }

    package init(_ configuration: Configuration, in directory: String, files: ConfigurationFiles) {
        (path, isNamed) = files.rulesPath(configuration, in: directory)
        self.files = files
        forbiddenSteps = configuration.forbiddenSteps
    }

    /// A rules file given as an argument, without a configuration.
    package init(path: String, files: ConfigurationFiles) {
        self.path = path
        self.files = files
        isNamed = true
    }

    /// - Throws: if the entry file cannot be read.
    package func read(withTests: Bool = false) throws(FileText.Failure) -> ReadResult {
        let entry = try entry()
        let directory = SystemEnvironment.directory(of: path)
        var environment = files.loadEnvironment(in: directory)
        environment.forbiddenSteps = forbiddenSteps
        let zones = ZoneFiles()
        environment.systemTimeZone = zones.system(files.environment["TZ"]).map {
            LoadInputs.ZoneFile(name: $0.name, octets: $0.octets)
        }
        var recorded = RecordedRules(
            files: [.init(name: entry.name, text: entry.text)], forbiddenSteps: forbiddenSteps,
            systemTimeZone: environment.systemTimeZone?.name)
        if let zone = environment.systemTimeZone { recorded.timeZones[zone.name] = zone.octets }
        var searched: Set<String> = []
        var loader = RuleSetLoader(entry, in: environment)
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
        var loaded = loader.loaded()
        loaded.report(missing: loaded.programs.filter { !RuleFiles.isProgram($0) })
        var sources = Dictionary(recorded.files.map { ($0.name, $0.text) }) { first, _ in first }
        if let secrets = environment.secrets { sources[secrets.name] = secrets.text }
        return ReadResult(
            loaded: loaded, sources: sources, recorded: recorded, secrets: environment.secrets,
            tests: withTests ? loaded.value.map { RuleTestRunner.run($0) } : nil, searched: searched)
    }

    private func entry() throws(FileText.Failure) -> SourceFile {
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
    package func read(_ kept: LastGoodRules) -> LoadResult<RuleSet>? {
        let today = read(kept.rules, files.loadEnvironment(in: SystemEnvironment.directory(of: path)))
        guard today?.value == nil, let secrets = kept.secrets else { return today }
        return read(kept.rules, LoadInputs(secrets: secrets, variables: files.environment))
    }

    private func read(_ recorded: RecordedRules, _ environment: LoadInputs) -> LoadResult<RuleSet>? {
        guard let entry = recorded.files.first else { return nil }
        var environment = environment
        environment.useRecorded(recorded)
        return FileLoader.rules(SourceFile(name: entry.name, text: entry.text), in: environment)
    }
}

extension SourceFile {
    package init(_ file: RuleFiles.File) {
        self.init(
            name: file.name, text: file.octets, isReadableByOthers: file.isReadableByOthers, identity: file.path)
    }
}

extension RuleSetLoader.Answer {
    fileprivate init(_ answer: RuleFiles.FileResult) {
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
    fileprivate mutating func add(_ answer: RuleSetLoader.Answer, to want: RuleSetLoader.Request) {
        switch (want, answer) {
        case (.timeZone(let name), .timeZone(let octets?)): timeZones[name] = octets
        case (_, .files(let read)):
            for file in read where !files.contains(where: { $0.name == file.name }) {
                files.append(File(name: file.name, text: file.text))
            }
        default: break
        }
    }
}

extension LoadInputs {
    /// Takes over recorded files, permissions and time zones in place of this machine's.
    package mutating func useRecorded(_ recorded: RecordedRules) {
        forbiddenSteps = recorded.forbiddenSteps
        timeZones = recorded.timeZones
        systemTimeZone = recorded.systemTimeZone.flatMap { name in
            recorded.timeZones[name].map { ZoneFile(name: name, octets: $0) }
        }
        for file in recorded.files.dropFirst() { files[file.name] = SourceFile(name: file.name, text: file.text) }
    }
}

extension RuleSource.ReadResult {
    /// The result for the hub: the rule set, unless there are errors or failed tests.
    package var result: RulesLoaded {
        var problems = loaded.diagnostics.map(\.json)
        var summary = loaded.diagnostics.first { $0.severity == .error }?.line
        for result in tests?.failures ?? [] {
            problems.append(result.problem)
            if summary == nil { summary = "\(result.location): test failed: \(result.name)" }
        }
        let isGood = summary == nil
        return RulesLoaded(
            set: isGood ? loaded.value : nil, source: isGood ? recorded : nil, problems: problems,
            summary: summary ?? "", failing: isGood ? nil : loaded.value?.fingerprint)
    }
}

extension RuleTestResult {
    fileprivate var problem: JSONValue {
        let location = failure?.location ?? location
        return [
            "code": "test", "severity": "error", "file": .string(location.file), "line": .integer(Int64(location.line)),
            "column": .integer(Int64(location.column)), "message": .string("test failed: \(name)"),
            "hint": failure.map { .string($0.text(of: name)) } ?? .null,
        ]
    }
}

extension Diagnostic {
    /// `rules/home.yaml:14:15: unknown button "kitchn"; did you mean "kitchen"?`
    package var line: String {
        "\(file):\(start.line):\(start.column): \(message)" + (hint.map { "; \($0)" } ?? "")
    }
}

/// The files and directories that are watched for changes, as absolute paths.
package struct WatchedFiles: Sendable {
    package var files: Set<String> = []
    /// The directories in which all YAML files are of interest.
    package var directories: Set<String> = []

    package init(_ source: RuleSource) {
        let directory = SystemEnvironment.directory(of: source.path)
        files = [resolve(source.path, in: SystemEnvironment.workingDirectory), directory + "/secrets.yaml"]
    }

    package mutating func add(_ reading: RuleSource.ReadResult) {
        files.formUnion(reading.sources.keys.map { resolve($0, in: SystemEnvironment.workingDirectory) })
        directories.formUnion(reading.searched)
    }
}
