import Diagnostics

/// `secrets.yaml`: a flat mapping of name to text, read when the first `!secret` asks for it.
struct Secrets {
    enum Answer {
        case found(String)
        case missing(hint: String?)
        /// The file has errors, or this value has: already reported.
        case unreadable
    }

    private let file: SourceFile?
    private var values: [String: String]?
    private var wrongNames: Set<String> = []
    private var isUnreadable = false
    private var diagnostics: [Diagnostic] = []

    init(_ file: SourceFile?) { self.file = file }

    var fileName: String { file?.name ?? "secrets.yaml" }

    mutating func takeDiagnostics() -> [Diagnostic] {
        defer { diagnostics = [] }
        return diagnostics
    }

    mutating func value(of name: String, in environment: LoadEnvironment) -> Answer {
        guard let file else { return .missing(hint: "there is no secrets.yaml beside the file") }
        if values == nil { load(file, in: environment) }
        if let value = values?[name] { return .found(value) }
        if isUnreadable || wrongNames.contains(name) { return .unreadable }
        let near = Suggestions.nearest(to: name, among: (values ?? [:]).keys.sorted())
        return .missing(hint: near.map { "did you mean \"\($0)\"?" })
    }

    private mutating func load(_ file: SourceFile, in environment: LoadEnvironment) {
        var values: [String: String] = [:]
        defer { self.values = values }
        var withoutSecrets = environment
        withoutSecrets.secrets = nil
        let document = Document(file, in: withoutSecrets)
        var checker = document.checker
        defer {
            diagnostics = checker.diagnostics.map { diagnostic in
                var diagnostic = diagnostic
                diagnostic.isConfidential = true
                return diagnostic
            }
        }
        if file.isReadableByOthers {
            checker.diagnostics.append(
                Diagnostic(
                    severity: .warning, code: "W703", file: file.name, start: .start, end: .start,
                    message: "\(file.name) can be read by other users", hint: "chmod 600 \(file.name)"))
        }
        guard let root = document.root else {
            isUnreadable = checker.hasErrors
            return
        }
        guard case .mapping(let entries) = root.content else {
            checker.error("E203", at: root, "secrets must be a mapping of name to text")
            isUnreadable = true
            return
        }
        for entry in entries {
            if entry.value.isNull {
                checker.error(
                    "E114", at: entry.key, "\"\(entry.key.text)\" has no value", hint: "remove the key or give it one")
                wrongNames.insert(entry.key.text)
            } else if let text = checker.text(entry.value, key: entry.key.text, .areText) {
                values[entry.key.text] = text.string
            } else {
                wrongNames.insert(entry.key.text)
            }
        }
    }
}
