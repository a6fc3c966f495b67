package import Diagnostics
package import Rules
package import Settings

/// A file as it was read from disk.
package struct SourceFile: Sendable {
    /// The path in messages, which the user recognises.
    package var name: String
    package var text: [UInt8]
    /// True if other users of the machine can read the file, which is a warning for `secrets.yaml` (W703).
    package var isReadableByOthers: Bool
    /// Equal for all names of one file, such as its path without links; `nil`: the name identifies the file.
    package var identity: String?

    package init(name: String, text: [UInt8], isReadableByOthers: Bool = false, identity: String? = nil) {
        self.name = name
        self.text = text
        self.isReadableByOthers = isReadableByOthers
        self.identity = identity
    }
}

/// The secrets, environment variables, time zones and other files that a rule set or configuration may use.
package struct LoadInputs: Sendable {
    /// The name of a time zone and its compiled rules (RFC 8536).
    package struct ZoneFile: Hashable, Sendable {
        package var name: String
        package var octets: [UInt8]

        package init(name: String, octets: [UInt8]) {
            self.name = name
            self.octets = octets
        }
    }

    /// `secrets.yaml` beside the entry file, if there is one.
    package var secrets: SourceFile?
    /// True if there is a `secrets.yaml`, and this user may not read it.
    package var areSecretsHidden = false
    /// Environment variables, for `!env_var`.
    package var variables: [String: String]
    /// The kinds of steps that are refused (E204).
    package var forbiddenSteps: Set<StepKind>
    /// Compiled time zones by name (RFC 8536), as far as they are available.
    package var timeZones: [String: [UInt8]]
    /// The time zone of a set without `timezone`; `nil`: UTC.
    package var systemTimeZone: ZoneFile?
    /// Files for `include` and `reload`, by the path that results from the entry file's name. They serve rule sets that
    /// are not on a disk.
    package var files: [String: SourceFile]
    /// True if `mqtt.broker` is `none`, so that a rule that publishes fails (W710).
    package var hasNoBroker: Bool
    /// True to read each `!secret name` and `!env_var name` as `***name***`, because the real values are not available.
    package var hasPlaceholders: Bool
    /// The real addresses, uuids and serial numbers of buttons, by the placeholders that stand for them.
    package var identities: [String: String]

    package init(
        secrets: SourceFile? = nil, variables: [String: String] = [:],
        forbiddenSteps: Set<StepKind> = [], timeZones: [String: [UInt8]] = [:], systemTimeZone: ZoneFile? = nil,
        files: [String: SourceFile] = [:], hasNoBroker: Bool = false, hasPlaceholders: Bool = false,
        identities: [String: String] = [:]
    ) {
        self.secrets = secrets
        self.variables = variables
        self.forbiddenSteps = forbiddenSteps
        self.timeZones = timeZones
        self.systemTimeZone = systemTimeZone
        self.files = files
        self.hasNoBroker = hasNoBroker
        self.hasPlaceholders = hasPlaceholders
        self.identities = identities
    }
}

/// The result of loading files: a value, and diagnostics.
package struct LoadResult<Value: Sendable>: Sendable {
    /// `nil` when a diagnostic is an error; warnings leave the value.
    package var value: Value?
    /// The part that could be read, even if there are errors.
    package let readable: Value
    /// False if a file of a rule set could not be read or is not valid YAML. What it declares is missing in `readable`.
    package let isComplete: Bool
    /// In source order.
    package var diagnostics: [Diagnostic]
    /// For each file, the programs it names without a slash, with the warning for the case that a program is not found.
    private var warnings: [[String: Diagnostic]]

    init(
        _ value: Value, _ diagnostics: [Diagnostic], programs: [[String: Diagnostic]] = [], isComplete: Bool = true
    ) {
        readable = value
        self.isComplete = isComplete
        self.value = diagnostics.contains { $0.severity == .error } ? nil : value
        self.diagnostics = diagnostics.inSourceOrder()
        warnings = programs
    }

    /// Programs that rules name without a slash, which must be in the fixed search path.
    package var programs: Set<String> { warnings.reduce(into: []) { $0.formUnion($1.keys) } }

    /// Adds the warnings about programs that were not found (W702).
    package mutating func report(missing programs: Set<String>) {
        guard !programs.isEmpty else { return }
        let found = warnings.flatMap { $0.filter { programs.contains($0.key) }.values }
        diagnostics = (diagnostics + found).inSourceOrder()
    }
}

extension LoadResult<RuleSet> {
    /// The values of `!secret` and `!env_var` in the part that could be read. If there are errors, also the values of all names that
    /// follow `!secret` in the texts, because the part that could not be read may use them.
    ///
    /// - Parameters:
    ///   - inputs: those with which the set was loaded.
    ///   - texts: the texts of its files.
    package func confidentialValues(in inputs: LoadInputs, of texts: some Sequence<[UInt8]>) -> ConfidentialValues {
        var found = readable.confidentialValues
        guard value == nil else { return found }
        let names = texts.reduce(into: Set<String>()) { $0.formUnion(Secrets.names(in: $1)) }
        let secrets = Secrets(in: inputs).placeholders(of: names)
        found.values.formUnion(secrets.keys)
        found.marks.merge(secrets, uniquingKeysWith: min)
        found.open.subtract(secrets.keys)
        return found
    }
}

/// Loads rule sets, `tryck.yaml` and simulator files from their text. It opens no files: `LoadInputs` holds
/// everything that they may refer to.
package enum FileLoader {
    /// Loads a rule set whose files are all in the environment.
    package static func rules(_ entry: SourceFile, in environment: LoadInputs) -> LoadResult<RuleSet> {
        var loader = RuleSetLoader(entry, in: environment)
        while let nextRequest = loader.nextRequest {
            loader.answer(environment.answer(to: nextRequest, relativeTo: entry))
        }
        return (consume loader).loaded()
    }

    /// Loads a rule set that was recorded, with the permissions and time zones of the recording in place of this
    /// machine's.
    ///
    /// - Parameters:
    ///   - files: the entry file first, and then the files that it includes.
    ///   - systemTimeZone: the name of the time zone in `timeZones` for a set without `timezone`.
    /// - Returns: `nil` if there is no file.
    package static func recordedRules(
        _ files: [SourceFile], timeZones: [String: [UInt8]], systemTimeZone: String?, forbiddenSteps: Set<StepKind>,
        in environment: LoadInputs
    ) -> LoadResult<RuleSet>? {
        guard let entry = files.first else { return nil }
        var environment = environment
        environment.forbiddenSteps = forbiddenSteps
        environment.timeZones = timeZones
        environment.systemTimeZone = systemTimeZone.flatMap { name in
            timeZones[name].map { LoadInputs.ZoneFile(name: name, octets: $0) }
        }
        for file in files.dropFirst() { environment.files[file.name] = file }
        return rules(entry, in: environment)
    }

    /// Loads `tryck.yaml`.
    package static func configuration(
        _ file: SourceFile, in environment: LoadInputs
    ) -> LoadResult<Configuration> {
        ConfigurationReader.load(file, in: environment)
    }

    /// Reads the `control_socket` of a `tryck.yaml`, even if the rest of the file has errors.
    package static func controlSocket(of file: SourceFile, in environment: LoadInputs) -> String? {
        ConfigurationReader.controlSocket(of: file, in: environment)
    }

    /// Loads the buttons of a simulator file.
    package static func simulator(_ file: SourceFile) -> LoadResult<[SimulatorButton]> {
        SimulatorReader.load(file)
    }
}

extension LoadInputs {
    fileprivate func answer(to request: RuleSetLoader.Request, relativeTo entry: SourceFile) -> RuleSetLoader.Answer {
        switch request {
        case .timeZone(let name): return .timeZone(timeZones[name])
        case .files(let pattern, let origin):
            let path = PathPattern.path(pattern.text, relativeTo: origin)
            let directory = PathPattern.path(".", relativeTo: entry.name)
            let isInside =
                directory.isEmpty ? !path.hasPrefix("../") && !path.hasPrefix("/") : path.hasPrefix(directory + "/")
            guard isInside else { return .isOutside }
            let files = files.merging([entry.name: entry]) { file, _ in file }
            guard !pattern.isLiteral else { return files[path].map { .files([$0]) } ?? .noSuchFile }
            let found = files.values.filter { PathPattern(path).matches($0.name) }
            return found.count > RuleSetLoader.maximumFiles ? .tooManyFiles : .files(found)
        }
    }
}
