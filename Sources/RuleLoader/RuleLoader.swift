package import Diagnostics
package import Rules

/// A file as it was read from disk.
package struct SourceFile: Sendable {
    /// As messages call it: a path the user recognises.
    package var name: String
    package var text: [UInt8]
    /// Other users of the machine can read it; matters for `secrets.yaml`.
    package var isReadableByOthers: Bool

    package init(name: String, text: [UInt8], isReadableByOthers: Bool = false) {
        self.name = name
        self.text = text
        self.isReadableByOthers = isReadableByOthers
    }
}

/// What a file may refer to besides itself.
package struct LoadEnvironment: Sendable {
    /// `secrets.yaml` beside the file, if there is one.
    package var secrets: SourceFile?
    /// For `!env_var`.
    package var variables: [String: String]
    /// Whether rules may start programs, and use the shell. A rule that does what is forbidden is an error.
    package var allowsRun, allowsShell: Bool
    /// Each `!secret` and `!env_var` stands for a value nobody knows here: `***name***` is taken instead.
    package var hasPlaceholders: Bool

    package init(
        secrets: SourceFile? = nil, variables: [String: String] = [:], allowsRun: Bool = true,
        allowsShell: Bool = true, hasPlaceholders: Bool = false
    ) {
        self.secrets = secrets
        self.variables = variables
        self.allowsRun = allowsRun
        self.allowsShell = allowsShell
        self.hasPlaceholders = hasPlaceholders
    }
}

/// What a file says, and what is wrong with it.
package struct Loaded<Value: Sendable>: Sendable {
    /// `nil` when there is an error; warnings leave it.
    package var value: Value?
    /// In source order.
    package var diagnostics: [Diagnostic]

    init(_ value: Value, _ diagnostics: [Diagnostic]) {
        self.value = diagnostics.contains { $0.severity == .error } ? nil : value
        self.diagnostics = diagnostics.inSourceOrder()
    }
}

/// Texts to values, or to diagnostics that point at the line. It opens nothing: what it may look at comes in.
package enum RuleLoader {
    /// A rules file.
    package static func rules(_ file: SourceFile, in environment: LoadEnvironment) -> Loaded<RuleSet> {
        RuleReader.load([Document(file, in: environment)])
    }

    /// `tryck.yaml`.
    package static func configuration(
        _ file: SourceFile, in environment: LoadEnvironment
    ) -> Loaded<Configuration> {
        ConfigurationReader.load(file, in: environment)
    }

    /// The buttons of a simulator file.
    package static func simulator(_ file: SourceFile) -> Loaded<[SimulatorButton]> {
        SimulatorReader.load(file)
    }
}
