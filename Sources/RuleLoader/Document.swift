import Diagnostics

/// One file, read into its tree.
struct Document {
    /// `nil` when the file says nothing, or cannot be read.
    var root: YAMLNode?
    var checker: Checker

    init(_ file: SourceFile, in environment: LoadEnvironment) {
        switch SourceText.reading(file) {
        case .failure(let fault):
            checker = Checker(SourceText.empty(named: file.name), in: environment)
            checker.error(fault.code, from: fault.position, to: fault.position.advanced(by: 1), fault.message)
        case .success(let source):
            checker = Checker(source, in: environment)
            var composer = YAMLComposer(source)
            root = composer.compose()
            checker.diagnostics = composer.diagnostics
            if let node = root, node.isNull { root = nil }
        }
    }
}
