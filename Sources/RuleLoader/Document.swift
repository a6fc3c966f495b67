import Diagnostics
import Rules

/// One file, read into its tree.
struct Document {
    /// `nil` when the file says nothing, or cannot be read.
    var root: YAMLNode?
    var checker: Checker
    /// The file the program was given; false for one that another includes.
    var isEntry = true
    /// The file and everything it includes was read. If not, a name that seems to be unknown may be declared in what is
    /// missing, and nothing is said about it.
    var isWhole = true
    /// What the tests of this file reload, by the text they write. What could not be found is already reported.
    var reloads: [String: ReloadedSet] = [:]

    init(_ file: SourceFile, in environment: LoadEnvironment) {
        switch SourceText.reading(file) {
        case .failure(let fault):
            checker = Checker(SourceText.empty(named: file.name), in: environment)
            checker.error(fault.code, from: fault.position, to: fault.position.advanced(by: 1), fault.message)
            isWhole = false
        case .success(let source):
            checker = Checker(source, in: environment)
            var composer = YAMLComposer(source)
            root = composer.compose()
            checker.diagnostics = composer.diagnostics
            isWhole = root != nil || !checker.hasErrors
            if let node = root, node.isNull { root = nil }
        }
    }
}
