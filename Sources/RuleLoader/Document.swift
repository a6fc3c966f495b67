import Diagnostics
import Rules

/// A YAML file, parsed into a tree of nodes.
struct Document {
    /// `nil` when the file is empty or cannot be read.
    var root: YAMLNode?
    var checker: Checker
    private(set) var nodeCount = 0
    /// True for the entry file, false for an included file.
    var isEntry = true
    /// False if the file or a file that it includes could not be read. Unknown names are then not reported, because the
    /// missing file may declare them.
    var isComplete = true
    /// The rule sets that `reload` steps in the tests of this file load, by path as written; `.hasErrors` for a file
    /// that was not found. Paths beyond `RuleSetLoader.maximumReloads` are absent (E205), and so are all paths in a set
    /// that a test reloads.
    var reloads: [String: ReloadResult] = [:]

    /// - Parameter secrets: the content of `secrets.yaml`. The first file of a set that uses `!secret` reads it.
    init(_ file: SourceFile, in environment: LoadInputs, secrets: inout Secrets?) {
        switch SourceText.reading(file) {
        case .failure(let fault):
            checker = Checker(SourceText.empty(named: file.name), in: environment)
            checker.error(fault.code, from: fault.position, to: fault.position.advanced(by: 1), fault.message)
            isComplete = false
        case .success(let source):
            var composer = YAMLComposer(source)
            root = composer.compose()
            nodeCount = composer.nodeCount
            var diagnostics = composer.diagnostics
            isComplete = root != nil || diagnostics.isEmpty
            if composer.wantsSecrets, secrets == nil {
                let read = Secrets(in: environment)
                diagnostics += read.diagnostics
                secrets = read
            }
            checker = Checker(source, in: environment, secrets: secrets ?? Secrets(), diagnostics: diagnostics)
            if let node = root, node.isNull { root = nil }
        }
    }

    init(_ file: SourceFile, in environment: LoadInputs) {
        var secrets: Secrets?
        self.init(file, in: environment, secrets: &secrets)
    }
}
