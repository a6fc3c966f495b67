import Diagnostics
import Rules

/// One YAML file, read into a tree.
struct Document {
    /// `nil` when the file is empty or cannot be read.
    var root: YAMLNode?
    var checker: Checker
    private(set) var nodeCount = 0
    /// Whether this is the file that the program was given; false for an included file.
    var isEntry = true
    /// Whether the file and all files it includes were read. If not, unknown names are not reported, because a missing
    /// file may declare them.
    var isWhole = true
    /// The rule sets that the tests of this file reload, by the path as they write it; `.hasErrors` for a file that was
    /// not found. Paths beyond `RuleSetLoader.maximumReloads` are absent, which is reported, and all paths of a set that
    /// is itself reloaded.
    var reloads: [String: ReloadedSet] = [:]

    /// - Parameter secrets: the content of `secrets.yaml`. The first file of a set that uses `!secret` reads it.
    init(_ file: SourceFile, in environment: LoadEnvironment, secrets: inout Secrets?) {
        switch SourceText.reading(file) {
        case .failure(let fault):
            checker = Checker(SourceText.empty(named: file.name), in: environment)
            checker.error(fault.code, from: fault.position, to: fault.position.advanced(by: 1), fault.message)
            isWhole = false
        case .success(let source):
            var composer = YAMLComposer(source)
            root = composer.compose()
            nodeCount = composer.nodeCount
            var diagnostics = composer.diagnostics
            isWhole = root != nil || diagnostics.isEmpty
            if composer.wantsSecrets, secrets == nil {
                let read = Secrets(in: environment)
                diagnostics += read.diagnostics
                secrets = read
            }
            checker = Checker(source, in: environment, secrets: secrets ?? Secrets(), diagnostics: diagnostics)
            if let node = root, node.isNull { root = nil }
        }
    }

    init(_ file: SourceFile, in environment: LoadEnvironment) {
        var secrets: Secrets?
        self.init(file, in: environment, secrets: &secrets)
    }
}
