import ButtonModel
import JSON
import RuleLoader
import RuleTesting
import Rules

extension LanguageServer {
    /// The command of the lenses at tests. Its arguments are the URI of the document and the name of the test, and it does what
    /// `tryck test` does with this test alone.
    static let runTest = "tryck.runTest"

    /// A lens at each test, which runs the test and shows whether it has passed, and a lens at each rule, which shows its last run
    /// in the daemon. The tests of a set with mistakes have no lens, because they cannot run.
    ///
    /// As other requests, this one does not wait for the check of a change that was made just before. If that check changes the
    /// lenses, the editor is told to request them again.
    ///
    /// Only the daemon of the `tryck.yaml` that names the set is asked, because another one may have other rules with these ids.
    ///
    /// - Returns: `nil` if the daemon is asked first. Other messages are handled meanwhile.
    mutating func codeLenses(
        _ parameters: JSONValue, id: JSONValue, at now: Instant
    ) throws(ResponseError) -> JSONValue? {
        let (path, document) = try document(parameters)
        if let configuration = set(of: path)?.configurationPath, lastRuns.isDue(configuration, at: now),
            outline(of: path, document)?.symbols.contains(where: { $0.children.contains { $0.kind == .rule } })
                ?? false,
            wait(LensRequest(id: id, path: path, configuration: configuration))
        {
            return nil
        }
        return .array(lenses(of: path))
    }

    mutating func lenses(of path: String) -> [JSONValue] {
        // If the text has no outline, no lens is shown: the outline of an earlier text has other lines.
        guard let document = documents[path], let outline = outline(of: path, document) else { return [] }
        let results = sets.testResults(of: path)
        // The tests of a set with mistakes cannot run.
        let canRun = set(of: path)?.value != nil
        let configuration = set(of: path)?.configurationPath
        return outline.symbols.flatMap(\.children).compactMap { symbol in
            let command: JSONValue
            switch symbol.kind {
            case .test:
                guard canRun else { return nil }
                let title =
                    switch results[symbol.name] {
                    case nil: "▶ run this test"
                    case true?: "✓ passed ▶ run again"
                    case false?: "✗ failed ▶ run again"
                    }
                command = [
                    "title": .string(title), "command": .string(Self.runTest),
                    "arguments": [.string(document.uri), .string(symbol.name)],
                ]
            case .rule:
                guard let run = configuration.flatMap({ lastRuns.run(of: symbol.name, $0) }) else { return nil }
                // A lens without a command only shows its title.
                command = ["title": .string(run.title), "command": ""]
            case .section, .button, .group, .state, .variable, .script, .setting: return nil
            }
            return ["range": range(symbol.nameStart, symbol.nameEnd, document.lines), "command": command]
        }
    }

    /// Answers `workspace/executeCommand`. The only command is `runTest`, whose result is also shown as a message.
    mutating func execute(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        guard parameters["command"]?.stringValue == Self.runTest else {
            throw ResponseError(.invalidParams, "The only command is \(Self.runTest).")
        }
        guard let arguments = parameters["arguments"]?.arrayValue, arguments.count == 2,
            let path = arguments[0].stringValue.map(FileURI.documentPath), let name = arguments[1].stringValue
        else {
            throw ResponseError(.invalidParams, "\(Self.runTest) takes the URI of a document and the name of a test.")
        }
        guard documents[path] != nil, var set = sets.set(of: path)?.value else {
            throw ResponseError(
                .requestFailed, "The rules have mistakes, so that no test can run. tryck check lists them.")
        }
        set.tests.removeAll { $0.name != name }
        guard !set.tests.isEmpty else { throw ResponseError(.requestFailed, "There is no test \(name.prefix(100)).") }
        let report = RuleTestRunner.run(set)
        let failures = report.failures.compactMap { result in result.failure?.text(of: result.name) }
        sets.tested(name, hasPassed: failures.isEmpty, path)
        let text = failures.isEmpty ? "test passed: \(name)" : failures.joined(separator: "\n")
        send([
            "jsonrpc": "2.0", "method": "window/showMessage",
            "params": ["type": failures.isEmpty ? 3 : 1, "message": .string(text)],
        ])
        refreshLenses()
        return ["passed": .bool(failures.isEmpty), "text": .string(text)]
    }

    /// What the lenses of a document show beside what its text and the daemon say.
    struct LensState: Hashable {
        var canRun: Bool
        var results: [String: Bool]
        var configuration: String?
    }

    /// The lens states of the open documents whose rule sets are known, by path.
    var lensStates: [String: LensState] {
        var states: [String: LensState] = [:]
        for path in documents.keys {
            guard let set = set(of: path) else { continue }
            states[path] = LensState(
                canRun: set.value != nil, results: sets.testResults(of: path), configuration: set.configurationPath)
        }
        return states
    }

    /// Tells the editor to request the lenses of all documents again, if it can be told.
    mutating func refreshLenses() {
        guard client.refreshesLenses else { return }
        refreshCount += 1
        send(["jsonrpc": "2.0", "id": .string("lenses\(refreshCount)"), "method": "workspace/codeLens/refresh"])
    }
}
