package import Diagnostics
package import Hub
import JSON
package import RuleLoader
package import RuleTesting
package import Rules

/// Where the rules are, and what they may use. It reads them as often as asked, on any thread.
package struct RuleSource: Sendable {
    /// The entry file, as messages call it.
    package var path: String
    /// The configuration names it: then it has to be there.
    package var isNamed: Bool
    var files: ConfigurationFiles
    var allowsRun = true, allowsShell = true, allowsHTTP = true

    /// What was read.
    package struct Reading: Sendable {
        package var loaded: Loaded<RuleSet>
        /// By name; for reports.
        package var sources: [String: [UInt8]]
        /// The same, for a recording and for a day when they are bad.
        package var recorded: RecordedRules
        var secrets: SourceFile?
        /// When the tests were asked for, and could be run.
        package var tests: RuleTestReport?

        /// Where a glob looked for files.
        var searched: Set<String> = []
    }

    package init(_ configuration: Configuration, in directory: String, files: ConfigurationFiles) {
        (path, isNamed) = files.rulesPath(configuration, in: directory)
        self.files = files
        allowsRun = configuration.allowsRun
        allowsShell = configuration.allowsShell
        allowsHTTP = configuration.allowsHTTP
    }

    /// A file that somebody names, without a configuration.
    package init(path: String, files: ConfigurationFiles) {
        self.path = path
        self.files = files
        isNamed = true
    }

    /// - Throws: what is wrong with the entry file itself.
    package func read(withTests: Bool = false) throws(FileText.Failure) -> Reading {
        let entry = try entry()
        let directory = ConfigurationFiles.directory(of: path)
        var environment = files.loadEnvironment(in: directory)
        environment.allowsRun = allowsRun
        environment.allowsShell = allowsShell
        environment.allowsHTTP = allowsHTTP
        let zones = ZoneFiles()
        environment.systemTimeZone = zones.system(files.environment["TZ"]).map {
            LoadEnvironment.ZoneFile(name: $0.name, octets: $0.octets)
        }
        var recorded = RecordedRules(
            files: [.init(name: entry.name, text: entry.text)], allowsRun: allowsRun, allowsShell: allowsShell,
            allowsHTTP: allowsHTTP, systemTimeZone: environment.systemTimeZone?.name)
        if let zone = environment.systemTimeZone { recorded.timeZones[zone.name] = zone.octets }
        var searched: Set<String> = []
        var loader = RuleSetLoader(entry, in: environment)
        while let want = loader.want {
            let answer: RuleSetLoader.Answer
            switch want {
            case .timeZone(let name): answer = .timeZone(zones.zone(name))
            case .files(let pattern, let origin):
                if !pattern.isLiteral { searched.insert(pattern.directory(besides: origin)) }
                answer = RuleSetLoader.Answer(
                    RuleFiles.files(matching: pattern.text, besides: origin, entry: path) {
                        PathPattern.matches(name: $0, pattern: $1)
                    })
            }
            recorded.add(answer, to: want)
            loader.answer(answer)
        }
        var loaded = loader.loaded()
        loaded.report(missing: loaded.programs.filter { !RuleFiles.isProgram($0) })
        var sources = Dictionary(recorded.files.map { ($0.name, $0.text) }) { first, _ in first }
        if let secrets = environment.secrets { sources[secrets.name] = secrets.text }
        return Reading(
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

    /// The same rules once more, from what was kept of them: with the secrets of today, or, where those are bad, too, with
    /// those of then.
    func read(_ kept: KeptRules) -> Loaded<RuleSet>? {
        let today = read(kept.rules, files.loadEnvironment(in: ConfigurationFiles.directory(of: path)))
        guard today?.value == nil, let secrets = kept.secrets else { return today }
        return read(kept.rules, LoadEnvironment(secrets: secrets, variables: files.environment))
    }

    private func read(_ recorded: RecordedRules, _ environment: LoadEnvironment) -> Loaded<RuleSet>? {
        guard let entry = recorded.files.first else { return nil }
        var environment = environment
        environment.take(recorded)
        return RuleLoader.rules(SourceFile(name: entry.name, text: entry.text), in: environment)
    }
}

extension SourceFile {
    init(_ file: RuleFiles.File) {
        self.init(
            name: file.name, text: file.octets, isReadableByOthers: file.isReadableByOthers, identity: file.path)
    }
}

extension RuleSetLoader.Answer {
    fileprivate init(_ answer: RuleFiles.Answer) {
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
    /// The directory of its first step that is no plain name.
    fileprivate func directory(besides file: String) -> String {
        let path = resolve(PathPattern.path(text, besides: file), in: Surroundings.workingDirectory)
        let plain = path.split(separator: "/").prefix { PathPattern(String($0)).isLiteral }
        return "/" + plain.joined(separator: "/")
    }
}

extension RecordedRules {
    fileprivate mutating func add(_ answer: RuleSetLoader.Answer, to want: RuleSetLoader.Want) {
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

extension LoadEnvironment {
    /// The files, and what of the machine they were read with.
    package mutating func take(_ recorded: RecordedRules) {
        allowsRun = recorded.allowsRun
        allowsShell = recorded.allowsShell
        allowsHTTP = recorded.allowsHTTP
        timeZones = recorded.timeZones
        systemTimeZone = recorded.systemTimeZone.flatMap { name in
            recorded.timeZones[name].map { ZoneFile(name: name, octets: $0) }
        }
        for file in recorded.files.dropFirst() { files[file.name] = SourceFile(name: file.name, text: file.text) }
    }
}

extension RuleSource.Reading {
    /// For the hub: the set, unless something is wrong with it.
    package var result: RulesLoaded {
        var problems = loaded.diagnostics.map(\.json)
        var summary = loaded.diagnostics.first { $0.severity == .error }?.line
        for result in tests?.failures ?? [] {
            problems.append(result.problem)
            if summary == nil { summary = "\(result.place): test failed: \(result.name)" }
        }
        let isGood = summary == nil
        return RulesLoaded(
            set: isGood ? loaded.value : nil, source: isGood ? recorded : nil, problems: problems,
            summary: summary ?? "", failing: isGood ? nil : loaded.value?.fingerprint)
    }
}

extension RuleTestResult {
    fileprivate var problem: JSONValue {
        let place = failure?.place ?? place
        return [
            "code": "test", "severity": "error", "file": .string(place.file), "line": .integer(Int64(place.line)),
            "column": .integer(Int64(place.column)), "message": .string("test failed: \(name)"),
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

/// What is looked at for changes: absolute paths.
package struct WatchedFiles: Sendable {
    package var files: Set<String> = []
    /// Any YAML file in them matters.
    package var directories: Set<String> = []

    init(_ source: RuleSource) {
        let directory = ConfigurationFiles.directory(of: source.path)
        files = [resolve(source.path, in: Surroundings.workingDirectory), directory + "/secrets.yaml"]
    }

    mutating func add(_ reading: RuleSource.Reading) {
        files.formUnion(reading.sources.keys.map { resolve($0, in: Surroundings.workingDirectory) })
        directories.formUnion(reading.searched)
    }
}
