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
    /// Addresses, uuids and serial numbers that the rules have by `!secret` or `!env_var`, by their placeholders. Without them, a
    /// replay would not know which buttons the rules mean. The identity of a declared button is among them even before the
    /// button is paired, because the reports name the button after that.
    package var identities: [String: String] = [:]

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
        return object.adding("identities", .object(identities), if: !identities.isEmpty)
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
    }

    private static func texts(_ name: String, in rules: JSONValue) throws(RecordingFailure) -> [String: String] {
        var texts: [String: String] = [:]
        for member in try rules.optional(name, \.objectValue) ?? [] {
            guard let text = member.value.stringValue else { throw .badMember(name) }
            texts[member.name] = text
        }
        return texts
    }
}
