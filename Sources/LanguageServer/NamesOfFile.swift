import RuleLoader
import YAMLFiles

/// What completions need of a file of a rule set beside the rules that were read of the whole set.
///
/// It is computed where the set is checked, and not when a completion is asked for, because parsing a large file takes too
/// long while a user types. A file whose text has not changed keeps its names.
struct NamesOfFile: Sendable {
    let text: [UInt8]
    /// The literal topics of states and of `publish` steps.
    let topics: [String]
    /// The names that `save_as` gives to results.
    let results: [String]
    /// The entries of `include`.
    let included: [String]

    /// - Returns: `nil` if the file is not valid YAML.
    private init?(_ file: SourceFile) {
        guard let outline = FileOutline(file) else { return nil }
        text = file.text
        // A key without a value has an empty text.
        topics = outline.topics.filter { !$0.isEmpty }
        results = Set(outline.names.filter { $0.kind == .result && $0.isDeclaration }.map(\.name)).sorted()
        included = outline.inclusions.map(\.pattern.text)
    }

    /// The names of each file, by its name. A file that is not valid YAML keeps those that it had.
    static func names(of files: [SourceFile], known: [String: NamesOfFile]) -> [String: NamesOfFile] {
        var names: [String: NamesOfFile] = [:]
        for file in files {
            let old = known[file.name]
            names[file.name] = old?.text == file.text ? old : NamesOfFile(file) ?? old
        }
        return names
    }
}
