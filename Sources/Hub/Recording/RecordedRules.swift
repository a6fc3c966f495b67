import JSON

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
    package var allowsRun, allowsShell, allowsHTTP: Bool
    /// The compiled zone files (RFC 8536) that the rules use, by name.
    package var timeZones: [String: [UInt8]]
    /// The name of the machine's time zone, which is among `timeZones`.
    package var systemTimeZone: String?

    package init(
        files: [File], allowsRun: Bool = true, allowsShell: Bool = true, allowsHTTP: Bool = true,
        timeZones: [String: [UInt8]] = [:], systemTimeZone: String? = nil
    ) {
        self.files = files
        self.allowsRun = allowsRun
        self.allowsShell = allowsShell
        self.allowsHTTP = allowsHTTP
        self.timeZones = timeZones
        self.systemTimeZone = systemTimeZone
    }
}

extension RecordedRules {
    /// Encodes the rules as a file of its own. It contains the names of secrets, and not their values.
    package var kept: [UInt8] { json.encoded() }

    /// Decodes `kept`; `nil` for other contents.
    package init?(kept octets: [UInt8]) {
        guard let json = try? JSONValue(parsing: octets), let rules = try? RecordedRules(recorded: json) else {
            return nil
        }
        self = rules
    }

    /// Rule files are UTF-8, so their texts are JSON strings.
    var json: JSONValue {
        [
            "files": .array(
                files.map {
                    ["file": .string($0.name), "text": .string(String(decoding: $0.text, as: UTF8.self))]
                }),
            "allows_run": .bool(allowsRun), "allows_shell": .bool(allowsShell), "allows_http": .bool(allowsHTTP),
            "time_zones": .array(
                timeZones.sorted { $0.key < $1.key }.map { name, octets in
                    ["name": .string(name), "octets": .array(octets.map { JSONValue($0) })]
                }),
            "system_time_zone": systemTimeZone.map { .string($0) } ?? .null,
        ]
    }

    init(recorded rules: JSONValue) throws(RecordingFailure) {
        self.init(
            files: [], allowsRun: try rules.bool("allows_run"), allowsShell: try rules.bool("allows_shell"),
            allowsHTTP: try rules.optional("allows_http", \.boolValue) ?? true,
            systemTimeZone: try rules.optional("system_time_zone", \.stringValue))
        // A recording of version 1 has a single file.
        for file in try rules.optional("files", \.arrayValue) ?? [rules] {
            files.append(File(name: try file.string("file"), text: Array(try file.string("text").utf8)))
        }
        for zone in try rules.optional("time_zones", \.arrayValue) ?? [] {
            timeZones[try zone.string("name")] = try zone.octets("octets")
        }
    }
}
