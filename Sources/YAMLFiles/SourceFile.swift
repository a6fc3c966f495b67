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

/// What the text of any file may refer to: secrets and environment variables, or placeholders in their place.
package struct FileInputs: Sendable {
    /// `secrets.yaml` beside the file, or beside the entry file of a rule set, if there is one.
    package var secrets: SourceFile?
    /// True if there is a `secrets.yaml`, and this user may not read it.
    package var areSecretsHidden = false
    /// Environment variables, for `!env_var`.
    package var variables: [String: String]
    /// True to read each `!secret name` and `!env_var name` as `***name***`, because the real values are not available.
    package var hasPlaceholders: Bool
    /// The real addresses, uuids and serial numbers of buttons, by the placeholders that stand for them.
    package var identities: [String: String]

    package init(
        secrets: SourceFile? = nil, variables: [String: String] = [:], hasPlaceholders: Bool = false,
        identities: [String: String] = [:]
    ) {
        self.secrets = secrets
        self.variables = variables
        self.hasPlaceholders = hasPlaceholders
        self.identities = identities
    }
}
