import Foundation

/// The checkout these tests were compiled from, as text.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File {
        /// Relative to the root: `Sources/Hub/Hub.swift`.
        var path: String
        var text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

        /// At the speed of the C library: the tree has megabytes, and most files have none of what is looked for.
        func contains(anyOf words: [String]) -> Bool { words.contains { strstr(text, $0) != nil } }
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    /// Paths of the regular files under a folder, relative to the root, sorted; none when there is no such folder.
    static func paths(under folder: String) -> [String] {
        let start = root.appending(path: folder).path
        let paths = FileManager.default.enumerator(atPath: start)?.compactMap { $0 as? String } ?? []
        return paths.map { "\(folder)/\($0)" }.filter(isRegularFile).sorted()
    }

    static func swiftFiles(under folder: String) throws -> [File] {
        try paths(under: folder).filter { $0.hasSuffix(".swift") }.map { File(path: $0, text: try text($0)) }
    }

    /// The folders of `Sources/` that hold Swift: a module each.
    static func modules() -> Set<String> {
        Set(
            paths(under: "Sources").filter { $0.hasSuffix(".swift") }
                .compactMap { $0.split(separator: "/").dropFirst().first.map(String.init) })
    }

    private static func isRegularFile(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(
            atPath: root.appending(path: path).path, isDirectory: &isDirectory)
        return exists && !isDirectory.boolValue
    }
}
