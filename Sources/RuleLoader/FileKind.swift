import ConfigurationLoader
import YAMLFiles

/// The kind of a file that is named on the command line or opened in an editor.
package enum FileKind: Hashable, Sendable {
    case configuration
    case rules

    /// Decides whether a file contains rules or a configuration. A file with `version` contains rules. Otherwise a file with the
    /// name `tryck.yaml`, or with a key of the configuration, is a configuration. The key `actions` is an exception: single rules
    /// and automations of other programs have it as well, so it indicates a configuration only if the configuration has all other
    /// keys of the file, too.
    package init(name: String, text: [UInt8]) {
        let keys = text.split(separator: UInt8(ascii: "\n")).compactMap(FileKind.topLevelKey)
        if keys.contains("version") {
            self = .rules
            return
        }
        let isNamedSo = name.split(separator: "/").last == "tryck.yaml"
        let isConfiguration =
            keys.contains { $0 != FileKind.sharedKey && FileKind.configurationKeys.contains($0) }
            || keys.contains(FileKind.sharedKey) && keys.allSatisfy { MappingTable.configuration.key($0) != nil }
        self = isNamedSo || isConfiguration ? .configuration : .rules
    }

    /// The keys of a configuration that rules do not have.
    private static let configurationKeys = Set(MappingTable.configuration.keys.map(\.name))
        .subtracting(MappingTable.rulesFile.keys.map(\.name))

    /// The key of a configuration that rules and automations have as well.
    private static let sharedKey = "actions"

    private static func topLevelKey(_ line: ArraySlice<UInt8>) -> String? {
        let key = line.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
        guard !key.isEmpty, line.dropFirst(key.count).first == UInt8(ascii: ":") else { return nil }
        return String(decoding: key, as: UTF8.self)
    }
}
