import Foundation
import YAMLFiles

/// Files of this repository, found from where this file stands.
enum Project {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    static func file(_ path: String) throws -> SourceFile {
        SourceFile(name: path, text: try octets(path))
    }

    /// A compiled time zone.
    static func zone(_ name: String) throws -> [UInt8] {
        try octets("Tests/AlmanacTests/Zones/\(name.replacing("/", with: "-"))")
    }

    private static func octets(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appending(path: path)))
    }
}
