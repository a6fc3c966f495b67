import Diagnostics
import Rules

/// One file, read into its tree.
struct Document {
    /// `nil` when the file says nothing, or cannot be read.
    var root: YAMLNode?
    var checker: Checker
    private(set) var nodeCount = 0
    /// The file the program was given; false for one that another includes.
    var isEntry = true
    /// The file and everything it includes was read. If not, a name that seems to be unknown may be declared in what is
    /// missing, and nothing is said about it.
    var isWhole = true
    /// What the tests of this file reload, by the text they write. What could not be found is already reported.
    var reloads: [String: ReloadedSet] = [:]

    /// - Parameter secrets: what `secrets.yaml` says, when a file of the set already wanted to know.
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
