import ButtonModel
import JSON
import LanguageServer
import RuleLoader

extension FuzzTarget {
    /// Whatever an editor sends: each request is answered, and the server ends only when it is told to.
    ///
    /// The first octet chooses a request, or raw octets in place of messages. Two octets are the position of the request, two
    /// more the end of the text that is replaced if the first octet says so, and the rest is the text of a document.
    static let languageServer = FuzzTarget(name: "language-server") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var editor = FuzzEditor()
        let choice = input.octet()
        guard choice & 0x80 == 0 else {
            editor.give(.received(input.remainder()))
            editor.send(["id": 0, "method": "initialize", "params": [:]])
            return
        }
        let position: JSONValue = [
            "line": .integer(Int64(input.octet())), "character": .integer(Int64(input.octet())),
        ]
        let end: JSONValue =
            choice & 0x40 == 0
            ? position
            : ["line": .integer(Int64(input.octet())), "character": .integer(Int64(input.octet()))]
        let text = String(decoding: input.remainder(), as: UTF8.self)
        editor.send(["id": 0, "method": "initialize", "params": [:]])
        // The other input may come during the check.
        editor.holdsChecks = choice & 0x20 != 0
        editor.send([
            "method": "textDocument/didOpen",
            "params": ["textDocument": ["uri": "file:///r/home.yaml", "version": 1, "text": .string(text)]],
        ])
        editor.send([
            "method": "textDocument/didChange",
            "params": [
                "textDocument": ["uri": "file:///r/home.yaml", "version": 2],
                "contentChanges": [["range": ["start": position, "end": end], "text": "x"]],
            ],
        ])
        editor.send([
            "id": 1, "method": .string(FuzzEditor.methods[Int(choice & 0x1F) % FuzzEditor.methods.count]),
            "params": [
                "textDocument": ["uri": "file:///r/home.yaml"], "position": position, "newName": "other",
                "range": ["start": position, "end": end], "query": .string(String(text.prefix(3))),
                "command": "tryck.runTest", "arguments": ["file:///r/home.yaml", .string(String(text.prefix(3)))],
            ],
        ])
        editor.give(.timerFired)
        editor.finishCheck()
        editor.send(["id": 2, "method": "shutdown"])
        try promise("each request is answered", editor.answerCount == 3)
        try promise("the server goes on", !editor.hasEnded)
        editor.send(["method": "exit"])
        try promise("the server ends when it is told to", editor.hasEnded)
    }
}

/// An editor without files, which counts answers.
private struct FuzzEditor {
    static let methods = [
        "textDocument/completion", "textDocument/hover", "textDocument/definition", "textDocument/references",
        "textDocument/documentSymbol", "textDocument/prepareRename", "textDocument/rename", "textDocument/codeAction",
        "textDocument/codeLens", "textDocument/inlayHint", "textDocument/semanticTokens/full", "workspace/symbol",
        "workspace/executeCommand",
    ]

    private var server = LanguageServer(variables: [:], version: "1")
    private let now = Instant(sinceBoot: .seconds(100))
    private(set) var answerCount = 0
    private(set) var hasEnded = false
    /// True if a check ends only when `finishCheck` is called.
    var holdsChecks = false
    private var held: SetCheck?

    mutating func finishCheck() {
        holdsChecks = false
        guard let check = held else { return }
        held = nil
        give(.checked(check.run(answering: Self.answer)))
    }

    mutating func send(_ message: JSONValue) {
        let text = message.encoded()
        give(.received(Array("Content-Length: \(text.count)\r\n\r\n".utf8) + text))
    }

    mutating func give(_ input: LanguageServer.Input) {
        var effects = server.handle(input, at: now)[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .send(let octets):
                // A message of the server's own has no id.
                if String(decoding: octets, as: UTF8.self).contains("\"id\":") { answerCount += 1 }
            case .find(let request): effects += server.handle(.found(Self.answer(to: request)), at: now)
            case .check(let check) where holdsChecks: held = check
            case .check(let check): effects += server.handle(.checked(check.run(answering: Self.answer)), at: now)
            case .askDaemon:
                let run = LastRun(rule: "lamp", result: "completed", age: "5 min")
                effects += server.handle(.lastRuns(.runs([run])), at: now)
            case .setTimer: break
            case .exit: hasEnded = true
            }
        }
    }

    private static func answer(to request: DiskRequest) -> DiskAnswer {
        switch request {
        case .file, .ofSet(.files, _): .set(.noSuchFile)
        case .ofSet(.timeZone, _): .set(.timeZone(nil))
        case .systemTimeZone: .systemTimeZone(nil)
        case .missingPrograms: .missingPrograms([])
        case .names: .names(["home.yaml", "rooms/"])
        }
    }
}
