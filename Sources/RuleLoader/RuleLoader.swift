package import Diagnostics
package import Rules

/// A file as it was read from disk.
package struct SourceFile: Sendable {
    /// As messages call it: a path the user recognises.
    package var name: String
    package var text: [UInt8]
    /// Other users of the machine can read it; matters for `secrets.yaml`.
    package var isReadableByOthers: Bool
    /// What tells whether two names mean one file, such as its path without links; `nil`: the name does.
    package var identity: String?

    package init(name: String, text: [UInt8], isReadableByOthers: Bool = false, identity: String? = nil) {
        self.name = name
        self.text = text
        self.isReadableByOthers = isReadableByOthers
        self.identity = identity
    }
}

/// What a file may refer to besides itself.
package struct LoadEnvironment: Sendable {
    /// The compiled rules of a time zone (RFC 8536), and what it is called.
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
    /// For `!env_var`.
    package var variables: [String: String]
    /// Whether rules may start programs, use the shell, and call web hooks. A rule that does what is forbidden is an
    /// error.
    package var allowsRun, allowsShell, allowsHTTP: Bool
    /// Compiled time zones by name (RFC 8536), as far as they are at hand.
    package var timeZones: [String: [UInt8]]
    /// What holds where no `timezone` is written; `nil`: UTC.
    package var systemTimeZone: ZoneFile?
    /// Files that `include` and `reload` find, by the name the entry file's name leads to. For rule sets that are not on
    /// a disk.
    package var files: [String: SourceFile]
    /// Each `!secret` and `!env_var` stands for a value nobody knows here: `***name***` is taken instead.
    package var hasPlaceholders: Bool

    package init(
        secrets: SourceFile? = nil, variables: [String: String] = [:], allowsRun: Bool = true,
        allowsShell: Bool = true, allowsHTTP: Bool = true,
        timeZones: [String: [UInt8]] = [:], systemTimeZone: ZoneFile? = nil, files: [String: SourceFile] = [:],
        hasPlaceholders: Bool = false
    ) {
        self.secrets = secrets
        self.variables = variables
        self.allowsRun = allowsRun
        self.allowsShell = allowsShell
        self.allowsHTTP = allowsHTTP
        self.timeZones = timeZones
        self.systemTimeZone = systemTimeZone
        self.files = files
        self.hasPlaceholders = hasPlaceholders
    }
}

/// What a file says, and what is wrong with it.
package struct Loaded<Value: Sendable>: Sendable {
    /// `nil` when there is an error; warnings leave it.
    package var value: Value?
    /// In source order.
    package var diagnostics: [Diagnostic]
    /// The programs named without a slash, and what is to be said of each that is not there: a table for each file.
    private var warnings: [[String: Diagnostic]]

    init(_ value: Value, _ diagnostics: [Diagnostic], programs: [[String: Diagnostic]] = []) {
        self.value = diagnostics.contains { $0.severity == .error } ? nil : value
        self.diagnostics = diagnostics.inSourceOrder()
        warnings = programs
    }

    /// Names of the fixed search path that rules count on.
    package var programs: Set<String> { warnings.reduce(into: []) { $0.formUnion($1.keys) } }

    /// Warns of the programs that somebody looked for and did not find.
    package mutating func report(missing programs: Set<String>) {
        guard !programs.isEmpty else { return }
        let found = warnings.flatMap { $0.filter { programs.contains($0.key) }.values }
        diagnostics = (diagnostics + found).inSourceOrder()
    }
}

/// Texts to values, or to diagnostics that point at the line. It opens nothing: what it may look at comes in.
package enum RuleLoader {
    /// A set of rules all of whose files are in the environment.
    package static func rules(_ entry: SourceFile, in environment: LoadEnvironment) -> Loaded<RuleSet> {
        var loader = RuleSetLoader(entry, in: environment)
        while let want = loader.want { loader.answer(environment.answer(to: want, besides: entry)) }
        return (consume loader).loaded()
    }

    /// `tryck.yaml`.
    package static func configuration(
        _ file: SourceFile, in environment: LoadEnvironment
    ) -> Loaded<Configuration> {
        ConfigurationReader.load(file, in: environment)
    }

    /// The `control_socket` of a `tryck.yaml`, whatever is wrong with the rest of the file.
    package static func controlSocket(of file: SourceFile, in environment: LoadEnvironment) -> String? {
        ConfigurationReader.controlSocket(of: file, in: environment)
    }

    /// The buttons of a simulator file.
    package static func simulator(_ file: SourceFile) -> Loaded<[SimulatorButton]> {
        SimulatorReader.load(file)
    }
}

extension LoadEnvironment {
    fileprivate func answer(to want: RuleSetLoader.Want, besides entry: SourceFile) -> RuleSetLoader.Answer {
        switch want {
        case .timeZone(let name): return .timeZone(timeZones[name])
        case .files(let pattern, let origin):
            let path = PathPattern.path(pattern.text, besides: origin)
            let directory = PathPattern.path(".", besides: entry.name)
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
