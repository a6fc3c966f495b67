import JSON
package import Rules

/// The text of the rule files, and everything else on which loading them depended.
package struct RecordedRules: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        /// The file's name or path when it was read.
        package var name: String
        package var text: [UInt8]

        package init(name: String, text: [UInt8]) {
            self.name = name
            self.text = text
        }
    }

    /// The entry file first.
    package var files: [File]
    /// The kinds of steps that rules may not use.
    package var forbiddenSteps: Set<StepKind>
    /// The compiled zone files (RFC 8536) that the rules use, by name.
    package var timeZones: [String: [UInt8]]
    /// The name of the machine's time zone, which is among `timeZones`.
    package var systemTimeZone: String?
    /// The addresses, uuids and serial numbers of declared and of known buttons that the rules have by `!secret` or `!env_var`, by the
    /// placeholders that stand for them in a replay. The recording contains them anyway, but nothing else says which button
    /// the rules mean.
    package var identities: [String: String] = [:]
    /// A check digit of each secret of the rules, by its placeholder: `secretChecks(of:)`.
    package var secretChecks: [String: String] = [:]

    package init(
        files: [File], forbiddenSteps: Set<StepKind> = [], timeZones: [String: [UInt8]] = [:],
        systemTimeZone: String? = nil
    ) {
        self.files = files
        self.forbiddenSteps = forbiddenSteps
        self.timeZones = timeZones
        self.systemTimeZone = systemTimeZone
    }
}

extension RecordedRules {
    /// The rules as the contents of a file, with the names of secrets instead of their values.
    package var fileContents: [UInt8] { json.encoded() }

    /// Decodes `fileContents`; `nil` for other contents.
    package init?(fileContents octets: [UInt8]) {
        guard let json = try? JSONValue(parsing: octets), let rules = try? RecordedRules(recorded: json) else {
            return nil
        }
        self = rules
    }

    /// The member for each kind of step that can be forbidden: `allows_run`, `allows_shell`, `allows_http`.
    private static let permissions = StepKind.allCases.filter { $0.permission != nil }
        .map { (key: "allows_" + $0.rawValue, kind: $0) }

    /// Rule files are UTF-8, so their texts are JSON strings.
    var json: JSONValue {
        let files = files.map { file -> JSONValue in
            ["file": .string(file.name), "text": .string(String(decoding: file.text, as: UTF8.self))]
        }
        let timeZones = timeZones.sorted { $0.key < $1.key }.map { name, octets -> JSONValue in
            ["name": .string(name), "octets": .array(octets.map { JSONValue($0) })]
        }
        let identities = identities.sorted { $0.key < $1.key }.map { JSONValue.Member($0, .string($1)) }
        let object = JSONValue.object(
            [.init("files", .array(files))]
                + RecordedRules.permissions.map { .init($0.key, .bool(!forbiddenSteps.contains($0.kind))) }
                + [
                    .init("time_zones", .array(timeZones)),
                    .init("system_time_zone", systemTimeZone.map { .string($0) } ?? .null),
                ])
        let checks = secretChecks.sorted { $0.key < $1.key }.map { JSONValue.Member($0, .string($1)) }
        return object.adding("identities", .object(identities), if: !identities.isEmpty)
            .adding("secret_checks", .object(checks), if: !checks.isEmpty)
    }

    init(recorded rules: JSONValue) throws(RecordingFailure) {
        self.init(
            files: [],
            systemTimeZone: try rules.optional("system_time_zone", \.stringValue))
        // A recording of an older version has no permissions for kinds of steps that it does not know.
        for permission in RecordedRules.permissions where try rules.optional(permission.key, \.boolValue) == false {
            forbiddenSteps.insert(permission.kind)
        }
        // A recording of version 1 has a single file.
        for file in try rules.optional("files", \.arrayValue) ?? [rules] {
            files.append(File(name: try file.string("file"), text: Array(try file.string("text").utf8)))
        }
        for zone in try rules.optional("time_zones", \.arrayValue) ?? [] {
            timeZones[try zone.string("name")] = try zone.octets("octets")
        }
        identities = try RecordedRules.texts("identities", in: rules)
        secretChecks = try RecordedRules.texts("secret_checks", in: rules)
    }

    private static func texts(_ name: String, in rules: JSONValue) throws(RecordingFailure) -> [String: String] {
        var texts: [String: String] = [:]
        for member in try rules.optional(name, \.objectValue) ?? [] {
            guard let text = member.value.stringValue else { throw .badMember(name) }
            texts[member.name] = text
        }
        return texts
    }

    /// One octet for each secret, which tells whether its value has changed since, but for one change in 256.
    ///
    /// A recording may be given to others, so it must not help them to find a secret. A longer hash would: with it, they could
    /// try passwords until one fits. With one octet, one password in 256 fits, and further recordings tell nothing more,
    /// because they have the same octet. It would still be too much for a value of a few digits, so values shorter than
    /// `Redaction.shortestReceived` have none.
    ///
    /// - Parameter placeholders: of the secrets, by their values: `RuleSet.placeholders`.
    package static func secretChecks(of placeholders: [String: String]) -> [String: String] {
        var checks: [String: String] = [:]
        for (value, placeholder) in placeholders where value.utf8.count >= Redaction.shortestReceived {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for octet in Array(placeholder.utf8) + [0xFF] + Array(value.utf8) {
                hash = (hash ^ UInt64(octet)) &* 0x100_0000_01B3
            }
            // Each bit of the octet depends on the whole hash.
            hash ^= hash >> 32
            hash ^= hash >> 16
            hash ^= hash >> 8
            let digits = String(hash & 0xFF, radix: 16)
            checks[placeholder] = digits.count == 1 ? "0" + digits : digits
        }
        return checks
    }
}
