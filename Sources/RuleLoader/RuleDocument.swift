import Rules
import YAMLFiles

/// A file of a rule set, parsed into a tree of nodes.
struct RuleDocument {
    /// `nil` when the file is empty or cannot be read.
    var root: YAMLNode?
    var checker: Checker
    /// True for the entry file, false for an included file.
    let isEntry: Bool
    /// False if the file or a file that it includes could not be read. Unknown names are then not reported, because the
    /// missing file may declare them.
    var isComplete: Bool
    /// The rule sets that `reload` steps in the tests of this file load, by path as written; `.hasErrors` for a file
    /// that was not found. Paths beyond `RuleSetLoader.maximumReloads` are absent (E205), and so are all paths in a set
    /// that a test reloads.
    var reloads: [String: ReloadResult] = [:]

    init(_ document: Document, isEntry: Bool) {
        root = document.root
        checker = document.checker
        self.isEntry = isEntry
        isComplete = document.isComplete
    }
}
