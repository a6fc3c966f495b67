import Diagnostics

/// A YAML file, parsed into a tree of nodes.
package struct Document {
    /// `nil` when the file is empty or cannot be read.
    package var root: YAMLNode?
    package var checker: Checker
    package private(set) var nodeCount = 0
    /// False if the file could not be read.
    package private(set) var isComplete = true

    /// - Parameter secrets: the content of `secrets.yaml`. The first file of a set that uses `!secret` reads it.
    package init(_ file: SourceFile, in inputs: FileInputs, _ language: FileLanguage, secrets: inout Secrets?) {
        switch SourceText.reading(file) {
        case .failure(let fault):
            checker = Checker(SourceText.empty(named: file.name), in: inputs, language)
            checker.error(fault.code, from: fault.position, to: fault.position.advanced(by: 1), fault.message)
            isComplete = false
        case .success(let source):
            var composer = YAMLComposer(source, language)
            root = composer.compose()
            nodeCount = composer.nodeCount
            var diagnostics = composer.diagnostics
            isComplete = root != nil || diagnostics.isEmpty
            if composer.wantsSecrets, secrets == nil {
                let read = Secrets(in: inputs)
                diagnostics += read.diagnostics
                secrets = read
            }
            checker = Checker(
                source, in: inputs, language, secrets: secrets ?? Secrets(), diagnostics: diagnostics)
            if let node = root, node.isNull { root = nil }
        }
    }

    package init(_ file: SourceFile, in inputs: FileInputs, _ language: FileLanguage) {
        var secrets: Secrets?
        self.init(file, in: inputs, language, secrets: &secrets)
    }
}
