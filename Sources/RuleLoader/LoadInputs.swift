package import Rules
package import YAMLFiles

/// What a rule set may use: permissions, time zones, other files, and what their texts refer to.
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

    /// The secrets and environment variables for all files of the set.
    package var fileInputs: FileInputs
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

    package init(
        secrets: SourceFile? = nil, variables: [String: String] = [:],
        forbiddenSteps: Set<StepKind> = [], timeZones: [String: [UInt8]] = [:], systemTimeZone: ZoneFile? = nil,
        files: [String: SourceFile] = [:], hasNoBroker: Bool = false, hasPlaceholders: Bool = false,
        identities: [String: String] = [:]
    ) {
        self.init(
            FileInputs(
                secrets: secrets, variables: variables, hasPlaceholders: hasPlaceholders, identities: identities),
            forbiddenSteps: forbiddenSteps, timeZones: timeZones, systemTimeZone: systemTimeZone, files: files,
            hasNoBroker: hasNoBroker)
    }

    package init(
        _ fileInputs: FileInputs, forbiddenSteps: Set<StepKind> = [], timeZones: [String: [UInt8]] = [:],
        systemTimeZone: ZoneFile? = nil, files: [String: SourceFile] = [:], hasNoBroker: Bool = false
    ) {
        self.fileInputs = fileInputs
        self.forbiddenSteps = forbiddenSteps
        self.timeZones = timeZones
        self.systemTimeZone = systemTimeZone
        self.files = files
        self.hasNoBroker = hasNoBroker
    }
}
