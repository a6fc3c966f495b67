package import ButtonModel
import Diagnostics
import JSON
import RuleLoader
import Rules
import YAMLFiles

/// The language server for rules files: a state machine between an editor and the loader of rules.
///
/// It reads no files and no clock. The caller performs the effects in their order, and answers each `find` before it gives
/// other input. A check of a large set takes long, so the caller may carry it out on another thread and give other input
/// meanwhile. An input, however malformed, never ends the server.
///
/// - Source: Language Server Protocol 3.17.
package struct LanguageServer: Sendable {
    package enum Input: Sendable {
        /// Octets that the editor has sent.
        case received([UInt8])
        /// The editor has closed its end.
        case inputEnded
        /// The answer to the last `find`.
        case found(DiskAnswer)
        /// The check of the last `check`, which was carried out.
        case checked(SetCheck)
        /// The answer to the last `askDaemon`.
        case lastRuns(LastRunsAnswer)
        case timerFired
    }

    package enum Effect: Sendable {
        /// Octets for the editor.
        case send([UInt8])
        /// A file or another fact is needed.
        case find(DiskRequest)
        /// `SetCheck.run` is to be called, and its result given as `checked`. There is at most one such check at a time.
        case check(SetCheck)
        /// The last runs of the rules in the daemon of a configuration, given by its path, are to be given as `lastRuns`. A
        /// daemon may take long, so other input may come before its answer. There is at most one such question at a time.
        case askDaemon(configuration: String)
        /// When `timerFired` is wanted; `nil`: not at all.
        case setTimer(Instant?)
        /// The server has ended, with this exit status.
        case exit(Int32)
    }

    /// How long after the last change a text is checked.
    package static let delay = Duration.milliseconds(100)
    /// How many requests for lenses may wait for daemons.
    private static let maximumLensRequests = 64

    enum Phase: Hashable, Sendable {
        case new, initialized, shutDown, ended
    }

    /// A completion of `include` that waits for the names in a directory.
    struct Listing: Sendable {
        /// The identifier of the request.
        var id: JSONValue
        /// The part of the path before the name, with `/` at the end, or empty.
        var folder: String
        /// The path of the document.
        var path: String
        /// The part of the path in `include` before the cursor.
        var prefix: String
        /// The range of `prefix`, which a completion replaces.
        var range: JSONValue
    }

    /// A request for lenses that waits for the daemon's answer.
    struct LensRequest: Sendable {
        /// The identifier of the request.
        var id: JSONValue
        /// The path of the document.
        var path: String
        /// The path of the configuration whose daemon is asked.
        var configuration: String
    }

    /// A renaming that waits until the files of its set were read again, because other programs may have changed those that
    /// are not open.
    struct RenameRequest: Sendable {
        /// The identifier of the request.
        var id: JSONValue
        var parameters: JSONValue
    }

    let variables: [String: String]
    private let version: String
    private var framer = MessageFramer()
    /// The messages that wait for a check.
    private var waiting = WaitingMessages()
    private var hasInputEnded = false
    var phase = Phase.new
    var client = EditorCapabilities()
    /// The open documents by path.
    var documents: [String: OpenDocument] = [:]
    /// The sets of rules of the open documents.
    var sets = CheckedSets()
    /// When documents are to be checked.
    private var due: [String: Instant] = [:]
    /// True if a check is being carried out.
    private var isChecking = false
    /// True if that check reads the saved texts of the files that are not valid YAML in the editor, for their names only.
    private var isCheckOfSavedTexts = false
    /// When that check began.
    private var checkStart = Instant(nanoseconds: 0)
    /// The diagnostics that the editor has, by path.
    var published: [String: JSONValue] = [:]
    /// The outlines of files, for their current text.
    var outlines = OutlineCache()
    /// The completion that waits for `DiskAnswer.names`. Until then, no other message is handled.
    var listing: Listing?
    /// The lenses that wait for the answer of a daemon. Other messages are handled meanwhile.
    private var lensRequests: [LensRequest] = []
    /// The configuration whose daemon is being asked.
    private var askedConfiguration: String?
    /// The request to shut down, if it waits for the answer of a daemon: each earlier request is answered before it. Until
    /// then, no other message is handled.
    private var shutdownRequest: WaitingMessages.Message?
    /// The renaming that waits for the end of the check.
    private var renameRequest: RenameRequest?
    /// The answers of daemons about the last runs of rules.
    var lastRuns = LastRuns()
    /// How often the editor was told to request lenses again. The number is part of the request's identifier.
    var refreshCount = 0
    private var timer: Instant?
    var effects: [Effect] = []

    /// - Parameters:
    ///   - variables: environment variables, for `!env_var`.
    ///   - version: the version of the program.
    package init(variables: [String: String], version: String) {
        self.variables = variables
        self.version = version
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        guard phase != .ended else { return [] }
        switch input {
        case .received(let octets): framer.append(octets)
        case .inputEnded: hasInputEnded = true
        case .found(let answer):
            if let listing {
                self.listing = nil
                let names = if case .names(let names) = answer { names } else { [String]() }
                send(["jsonrpc": "2.0", "id": listing.id, "result": self.answer(listing, names)])
            }
        case .lastRuns(let answer): take(answer, at: now)
        case .checked(let check): checked(check, at: now)
        case .timerFired: timer = nil
        }
        while phase != .ended, !isWaiting, let message = nextMessage() { take(message, at: now) }
        // What the editor sent before it closed its end is still carried out: `shutdown` may be among it.
        if hasInputEnded, phase != .ended, waiting.isEmpty, !isWaiting, renameRequest == nil, lensRequests.isEmpty {
            end(status: phase == .shutDown ? 0 : 1)
        }
        beginCheck(at: now)
        defer { effects = [] }
        return effects
    }

    /// False while so many messages wait for a check that no more octets of the editor are wanted, and while the request to
    /// shut down waits.
    package var wantsInput: Bool { !waiting.isFull && shutdownRequest == nil }

    /// Handles a message, or keeps it until the check has ended that is under way or due.
    ///
    /// A request waits so that it finds the names of a file that was opened just before.
    private mutating func take(_ message: WaitingMessages.Message, at now: Instant) {
        guard lensRequests.isEmpty || message.method != "shutdown" else {
            shutdownRequest = message
            return
        }
        guard !message.isReleased || isUnchecked(message), !precedesChecks(message) else {
            return handle(message.content, at: now)
        }
        if !isChecking {
            // Another change may have put off the first check of the document.
            if isUnchecked(message), let path = message.path { due[path] = now }
            beginCheck(at: now)
            return isChecking ? waiting.putBack(message) : handle(message.content, at: now)
        }
        var message = message
        if message.method == "textDocument/didChange", let path = message.path, sets.hasSet(of: path),
            renameRequest == nil, !waiting.changes(path)
        {
            // The requests before the change are about the text before it, so they are answered with the last check.
            waiting.release(about: path)
            message.isReleased = true
        }
        waiting.append(message)
    }

    /// True if a message is about a document that was opened and not checked yet.
    private func isUnchecked(_ message: WaitingMessages.Message) -> Bool {
        message.path.map { documents[$0] != nil && !sets.hasSet(of: $0) && due[$0] != nil } ?? false
    }

    /// True for a message that need not wait for the checks that are due or under way: a completion of a document that was
    /// checked before takes names from that check, and a change makes a check of the text before it useless. A check of a large
    /// set takes longer than a user wants to wait for a completion.
    private func precedesChecks(_ message: WaitingMessages.Message) -> Bool {
        switch message.method {
        case "textDocument/completion", "textDocument/didChange":
            guard renameRequest == nil, let path = message.path, sets.hasSet(of: path) else { return false }
            return !isChecking
                || (message.method == "textDocument/completion" ? !waiting.changes(path) : !waiting.isAbout(path))
        // These only request further checks.
        case "textDocument/didSave", "workspace/didChangeWatchedFiles": return isChecking
        case "$/cancelRequest": return true
        default: return false
        }
    }

    /// True if a request waits, and no other message may be handled before it.
    private var isWaiting: Bool { listing != nil || shutdownRequest != nil }

    // MARK: Messages

    /// The next message to handle. Octets that are none are answered with an error.
    private mutating func nextMessage() -> WaitingMessages.Message? {
        if let message = waiting.popFirst(isChecking: isChecking) { return message }
        while !waiting.isFull, let frame = framer.next() {
            switch frame {
            case .malformed(let reason): respond(to: .null, with: ResponseError(.parseError, reason))
            case .message(let octets):
                do throws(JSONError) {
                    return WaitingMessages.Message(try JSONValue(parsing: octets), length: octets.count)
                } catch {
                    respond(to: .null, with: ResponseError(.parseError, "The message is not JSON: \(error)."))
                }
            }
        }
        return nil
    }

    private mutating func handle(_ message: JSONValue, at now: Instant) {
        let id = message["id"]
        guard message.objectValue != nil, let method = message["method"]?.stringValue else {
            guard message["result"] == nil, message["error"] == nil || id == nil else { return }
            return respond(to: id ?? .null, with: ResponseError(.invalidRequest, "The message has no method."))
        }
        let parameters = message["params"] ?? .null
        guard let id else { return notify(method, parameters, at: now) }
        do throws(ResponseError) {
            guard let result = try answer(method, parameters, id: id, at: now) else { return }
            send(["jsonrpc": "2.0", "id": id, "result": result])
        } catch {
            respond(to: id, with: error)
        }
    }

    private mutating func respond(to id: JSONValue, with error: ResponseError) {
        send([
            "jsonrpc": "2.0", "id": id,
            "error": ["code": .integer(error.code.rawValue), "message": .string(error.message)],
        ])
    }

    mutating func send(_ message: JSONValue) { effects.append(.send(MessageFramer.frame(message.encoded()))) }

    /// - Returns: `nil` if the answer is sent later.
    private mutating func answer(
        _ method: String, _ parameters: JSONValue, id: JSONValue, at now: Instant
    ) throws(ResponseError) -> JSONValue? {
        switch phase {
        case .new where method != "initialize":
            throw ResponseError(.serverNotInitialized, "The first request has to be initialize.")
        case .shutDown, .ended: throw ResponseError(.invalidRequest, "The server was shut down.")
        case .initialized where method == "initialize":
            throw ResponseError(.invalidRequest, "The server is initialized already.")
        case .new, .initialized: break
        }
        switch method {
        case "initialize": return initialize(parameters)
        case "shutdown":
            phase = .shutDown
            return .null
        case "textDocument/completion": return try completion(parameters, id: id)
        case "textDocument/hover": return try hover(parameters)
        case "textDocument/definition": return try definition(parameters)
        case "textDocument/references": return try references(parameters)
        case "textDocument/documentSymbol": return try documentSymbols(parameters)
        case "workspace/symbol": return workspaceSymbols(parameters)
        case "textDocument/prepareRename": return try prepareRename(parameters)
        case "textDocument/rename": return try beginRename(parameters, id: id, at: now)
        case "textDocument/codeAction": return try codeActions(parameters)
        case "textDocument/codeLens": return try codeLenses(parameters, id: id, at: now)
        case "workspace/executeCommand": return try execute(parameters)
        case "textDocument/inlayHint": return try inlayHints(parameters)
        case "textDocument/semanticTokens/full": return try semanticTokens(parameters)
        default: throw ResponseError(.methodNotFound, "There is no method \(method.prefix(100)).")
        }
    }

    private mutating func notify(_ method: String, _ parameters: JSONValue, at now: Instant) {
        switch method {
        case "exit": return end(status: phase == .shutDown ? 0 : 1)
        case "initialized" where phase == .initialized: watchFiles()
        case "textDocument/didOpen" where phase == .initialized: didOpen(parameters, at: now)
        case "textDocument/didChange" where phase == .initialized: didChange(parameters, at: now)
        case "textDocument/didClose" where phase == .initialized: didClose(parameters, at: now)
        case "textDocument/didSave" where phase == .initialized,
            "workspace/didChangeWatchedFiles" where phase == .initialized:
            // Another program may have changed other files.
            for path in documents.keys { checkSoon(path, at: now) }
        case "$/cancelRequest":
            // Other requests are answered at once, so there is nothing to cancel.
            guard let id = parameters["id"], waiting.remove(request: id) != nil || removeLensRequest(id) else { break }
            respond(to: id, with: ResponseError(.requestCancelled, "The editor has cancelled the request."))
        default: break
        }
    }

    // MARK: Life cycle

    private mutating func initialize(_ parameters: JSONValue) -> JSONValue {
        phase = .initialized
        client = EditorCapabilities(ofInitialize: parameters)
        return [
            "capabilities": [
                "positionEncoding": .string(client.encoding.rawValue),
                "textDocumentSync": ["openClose": true, "change": 2, "save": ["includeText": false]],
                "completionProvider": ["triggerCharacters": [" ", ":", ".", "-", "!", "/"]],
                "hoverProvider": true, "definitionProvider": true, "referencesProvider": true,
                "documentSymbolProvider": true, "workspaceSymbolProvider": true,
                "renameProvider": ["prepareProvider": true],
                "codeActionProvider": ["codeActionKinds": ["quickfix", "refactor"]], "inlayHintProvider": true,
                "codeLensProvider": ["resolveProvider": false],
                "executeCommandProvider": ["commands": [.string(Self.runTest)]],
                "semanticTokensProvider": [
                    "legend": ["tokenTypes": .array(Self.tokenTypes), "tokenModifiers": []], "full": true,
                ],
            ],
            "serverInfo": ["name": "tryck", "version": .string(version)],
        ]
    }

    /// Asks the editor to tell when another program changes a YAML file.
    private mutating func watchFiles() {
        guard client.watchesFiles else { return }
        send([
            "jsonrpc": "2.0", "id": "watch", "method": "client/registerCapability",
            "params": [
                "registrations": [
                    [
                        "id": "watch", "method": "workspace/didChangeWatchedFiles",
                        "registerOptions": ["watchers": [["globPattern": "**/*.yaml"]]],
                    ]
                ]
            ],
        ])
    }

    private mutating func end(status: Int32) {
        phase = .ended
        effects.append(.exit(status))
    }

    // MARK: Documents

    private mutating func didOpen(_ parameters: JSONValue, at now: Instant) {
        guard let document = parameters["textDocument"], let uri = document["uri"]?.stringValue,
            let text = document["text"]?.stringValue
        else { return }
        let path = FileURI.documentPath(of: uri)
        documents[path] = OpenDocument(
            uri: uri, version: document["version"]?.integerValue,
            kind: FileKind(name: path, text: Array(text.utf8)), text: text)
        outlines.remove(path)
        due[path] = now
        checkOthers(thatContain: path, at: now)
    }

    private mutating func didChange(_ parameters: JSONValue, at now: Instant) {
        guard let identifier = parameters["textDocument"],
            let path = identifier["uri"]?.stringValue.map(FileURI.documentPath),
            let changes = parameters["contentChanges"]?.arrayValue, var document = documents[path]
        else { return }
        let version = identifier["version"]?.integerValue
        if let version, let current = document.version, version <= current { return }
        // The copy in the dictionary is released, so that the text is not copied twice.
        documents[path] = nil
        _ = document.apply(changes, client.encoding)
        document.version = version
        documents[path] = document
        outlines.remove(path)
        checkSoon(path, at: now)
        checkOthers(thatContain: path, at: now)
    }

    private mutating func didClose(_ parameters: JSONValue, at now: Instant) {
        guard let path = parameters["textDocument"]?["uri"]?.stringValue.map(FileURI.documentPath),
            documents.removeValue(forKey: path) != nil
        else { return }
        outlines.remove(path)
        due[path] = nil
        sets.remove(path)
        lastRuns.keepOnly(sets.configurationPaths)
        publish(versions: [:])
        // The sets of other documents have the file's text from the disk now.
        checkOthers(thatContain: path, at: now)
    }

    private mutating func checkSoon(_ path: String, at now: Instant) { due[path] = now + LanguageServer.delay }

    /// Checks one document of each other set that contains a file.
    private mutating func checkOthers(thatContain path: String, at now: Instant) {
        for document in sets.documents(ofOtherSetsWith: path) { checkSoon(document, at: now) }
    }

    // MARK: Checks

    /// Begins the check that is due, or sets the timer for the next one.
    private mutating func beginCheck(at now: Instant) {
        guard phase != .ended, !isChecking, !isWaiting else { return }
        while let (path, time) = due.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            guard time <= now else { return setTimer(time) }
            beginCheck(of: path, at: now)
            if isChecking { return }
        }
        setTimer(nil)
    }

    private mutating func beginCheck(of path: String, at now: Instant) {
        due[path] = nil
        guard let document = documents[path] else { return }
        documents[path]?.kind = FileKind(name: path, text: document.octets)
        checkStart = now
        begin(path, open: documents.mapValues(\.octets), versions: documents.compactMapValues(\.version))
    }

    private mutating func begin(_ path: String, open: [String: [UInt8]], versions: [String: Int64]) {
        isChecking = true
        waiting.holdAll()
        effects.append(
            .check(
                SetCheck(
                    of: path, lastEntry: lastEntry(of: path), knownEntries: sets.entries(ofSetsWith: path),
                    completeEntries: sets.entries(ofCompleteSetsWith: path), knownNames: sets.names(of: path),
                    open: open, versions: versions, variables: variables)))
    }

    private func lastEntry(of path: String) -> String? {
        guard let entry = set(of: path)?.entry.name, entry != path else { return nil }
        return entry
    }

    /// Begins a check of the saved texts if texts in the editor are not valid YAML and no earlier ones are known.
    ///
    /// - Returns: false if there is nothing to check.
    private mutating func beginCheckOfSavedTexts(of path: String) -> Bool {
        guard let set = set(of: path), !set.isComplete, !sets.wasComplete(set), documents[path]?.kind == .rules
        else { return false }
        var valid: [String: [UInt8]] = [:]
        for (path, document) in documents {
            let file = SourceFile(name: path, text: document.octets)
            if outlines.outline(of: file).outline != nil { valid[path] = document.octets }
        }
        guard valid.count < documents.count else { return false }
        isCheckOfSavedTexts = true
        begin(path, open: valid, versions: [:])
        return true
    }

    private mutating func beginRename(
        _ parameters: JSONValue, id: JSONValue, at now: Instant
    ) throws(ResponseError) -> JSONValue? {
        let (path, _) = try document(parameters)
        guard !isChecking else {
            throw ResponseError(.contentModified, "The text was changed before it was checked.")
        }
        renameRequest = RenameRequest(id: id, parameters: parameters)
        beginCheck(of: path, at: now)
        return nil
    }

    /// Answers the renaming that has waited for the check.
    private mutating func answerRename() {
        guard let request = renameRequest else { return }
        renameRequest = nil
        do throws(ResponseError) {
            send(["jsonrpc": "2.0", "id": request.id, "result": try rename(request.parameters)])
        } catch {
            respond(to: request.id, with: error)
        }
    }

    private mutating func setTimer(_ time: Instant?) {
        guard timer != time else { return }
        timer = time
        effects.append(.setTimer(time))
    }

    private mutating func checked(_ check: SetCheck, at now: Instant) {
        guard isChecking else { return }
        isChecking = false
        if isCheckOfSavedTexts {
            isCheckOfSavedTexts = false
            if let set = check.result, set.isComplete {
                for document in sets.takeComplete(set, open: documents.keys) { due[document] = now }
            }
        } else if documents[check.path] != nil {
            take(check)
            if beginCheckOfSavedTexts(of: check.path) { return }
        }
        waiting.releaseAll()
        answerRename()
    }

    private mutating func take(_ check: SetCheck) {
        let lenses = lensStates
        if let set = check.result {
            for path in sets.take(set, of: check.path, open: documents.keys) {
                if let time = due[path], time <= checkStart { due[path] = nil }
            }
        } else {
            sets.remove(check.path)
        }
        lastRuns.keepOnly(sets.configurationPaths)
        outlines.keepOnly(sets.fileNames + Array(documents.keys))
        publish(versions: check.versions, except: Set(due.filter { $0.value > checkStart }.keys))
        // An editor requests the lenses of a document when that document changes. This is before its check, and not when another
        // document of its set changes.
        let states = lensStates
        if lenses.contains(where: { path, state in states[path] != state }) { refreshLenses() }
    }

    // MARK: Daemons

    /// Keeps a request for lenses until the daemon of a configuration has answered.
    ///
    /// - Returns: false if too many of them wait.
    mutating func wait(_ request: LensRequest) -> Bool {
        guard lensRequests.count < Self.maximumLensRequests else { return false }
        lensRequests.append(request)
        askDaemon()
        return true
    }

    /// Asks the daemon for which a request for lenses has waited longest, unless one is being asked.
    private mutating func askDaemon() {
        guard askedConfiguration == nil, let request = lensRequests.first else { return }
        askedConfiguration = request.configuration
        effects.append(.askDaemon(configuration: request.configuration))
    }

    /// Answers the requests for lenses that have waited for a daemon.
    private mutating func take(_ answer: LastRunsAnswer, at now: Instant) {
        guard let configuration = askedConfiguration else { return }
        askedConfiguration = nil
        lastRuns.take(answer, configuration, at: now)
        let requests = lensRequests.filter { $0.configuration == configuration }
        lensRequests.removeAll { $0.configuration == configuration }
        for request in requests {
            send(["jsonrpc": "2.0", "id": request.id, "result": .array(lenses(of: request.path))])
        }
        askDaemon()
        if lensRequests.isEmpty, let request = shutdownRequest {
            shutdownRequest = nil
            take(request, at: now)
        }
    }

    /// - Returns: false if no request for lenses with this identifier waits.
    private mutating func removeLensRequest(_ id: JSONValue) -> Bool {
        guard let place = lensRequests.firstIndex(where: { $0.id == id }) else { return false }
        lensRequests.remove(at: place)
        return true
    }

    // MARK: Access for requests

    /// The open document that a request is about.
    func document(_ parameters: JSONValue) throws(ResponseError) -> (path: String, document: OpenDocument) {
        guard let uri = parameters["textDocument"]?["uri"]?.stringValue else {
            throw ResponseError(.invalidParams, "textDocument.uri is missing.")
        }
        let path = FileURI.documentPath(of: uri)
        guard let document = documents[path] else {
            throw ResponseError(.invalidParams, "The document is not open.")
        }
        return (path, document)
    }

    func position(_ parameters: JSONValue) throws(ResponseError) -> TextLines.Position {
        guard let position = TextLines.Position(parameters["position"]) else {
            throw ResponseError(.invalidParams, "position is missing or not a position.")
        }
        return position
    }

    func set(of path: String) -> CheckedSet? { sets.set(of: path) }
    func lastCompleteSet(of path: String) -> CheckedSet? { sets.lastCompleteSet(of: path) }
    func lastValidSet(of path: String) -> RuleSet? { sets.lastValidSet(of: path) }

    /// The files of the set of a document with the texts in the editor. Without a set it is the document alone.
    func files(of path: String) -> [SourceFile] {
        var files = set(of: path)?.files ?? []
        if !files.contains(where: { $0.name == path || $0.identity == path }) {
            files.append(SourceFile(name: path, text: []))
        }
        return files.map { file in
            var file = file
            if let document = documents[file.name] ?? file.identity.flatMap({ documents[$0] }) {
                file.text = document.octets
            }
            return file
        }
    }

    func uri(of path: String) -> String { documents[path]?.uri ?? FileURI.uri(of: path) }
}
