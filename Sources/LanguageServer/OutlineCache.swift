import RuleLoader
import YAMLFiles

/// The outlines of files, so that several requests about one text parse it once.
struct OutlineCache: Sendable {
    private struct Cached: Sendable {
        var text: [UInt8]
        var outline: FileOutline?
        var lines: TextLines
    }

    private var cached: [String: Cached] = [:]
    /// The last outline of each file that was valid YAML.
    private var valid: [String: FileOutline] = [:]

    /// The outline of a file and its lines; the outline is `nil` if the file is not valid YAML.
    mutating func outline(of file: SourceFile) -> (outline: FileOutline?, lines: TextLines) {
        if let found = cached[file.name], found.text == file.text { return (found.outline, found.lines) }
        let new = Cached(text: file.text, outline: FileOutline(file), lines: TextLines(file.text))
        cached[file.name] = new
        if let outline = new.outline { valid[file.name] = outline }
        return (new.outline, new.lines)
    }

    /// The outline of the last text of a file that was valid YAML.
    func lastValidOutline(of path: String) -> FileOutline? { valid[path] }

    mutating func remove(_ path: String) { cached[path] = nil }

    mutating func keepOnly(_ paths: [String]) {
        let paths = Set(paths)
        cached = cached.filter { paths.contains($0.key) }
        valid = valid.filter { paths.contains($0.key) }
    }
}
