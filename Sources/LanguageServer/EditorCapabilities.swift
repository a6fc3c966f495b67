import JSON

/// The capabilities of the editor, from the parameters of `initialize`. Before `initialize`, they are those of an editor that
/// tells none.
struct EditorCapabilities: Sendable {
    private(set) var encoding = PositionEncoding.utf16
    private(set) var hasSnippets = false
    /// True if the editor shows notes of diagnostics.
    private(set) var hasRelatedInformation = false
    /// True if hovers may be Markdown.
    private(set) var hasMarkdownInHovers = true
    /// True if the documentation of completions may be Markdown.
    private(set) var hasMarkdownInCompletions = true
    private(set) var hasDocumentChanges = false
    /// True if the editor can tell when other programs change files.
    private(set) var watchesFiles = false
    /// True if an edit can create a file.
    private(set) var createsFiles = false
    /// True if the editor can be told that the lenses have changed.
    private(set) var refreshesLenses = false

    init() {}

    init(ofInitialize parameters: JSONValue) {
        let capabilities = parameters["capabilities"]
        let text = capabilities?["textDocument"]
        let workspace = capabilities?["workspace"]
        if capabilities?["general"]?["positionEncodings"]?.arrayValue?.contains("utf-8") ?? false { encoding = .utf8 }
        hasSnippets = text?["completion"]?["completionItem"]?["snippetSupport"]?.boolValue ?? false
        if let formats = text?["completion"]?["completionItem"]?["documentationFormat"]?.arrayValue {
            hasMarkdownInCompletions = formats.contains("markdown")
        }
        hasRelatedInformation = text?["publishDiagnostics"]?["relatedInformation"]?.boolValue ?? false
        if let formats = text?["hover"]?["contentFormat"]?.arrayValue {
            hasMarkdownInHovers = formats.contains("markdown")
        }
        watchesFiles = workspace?["didChangeWatchedFiles"]?["dynamicRegistration"]?.boolValue ?? false
        let edit = workspace?["workspaceEdit"]
        hasDocumentChanges = edit?["documentChanges"]?.boolValue ?? false
        createsFiles = edit?["resourceOperations"]?.arrayValue?.contains("create") ?? false
        refreshesLenses = workspace?["codeLens"]?["refreshSupport"]?.boolValue ?? false
    }
}
