import JSON
import LanguageServer
import Testing

/// What an editor says while a check of a large set takes its time.
@Suite("During a check")
struct DuringCheckTests {
    private static let text =
        "version: 1\nbuttons: {kitchen: BF12-C34567}\nrules:\n  - {id: a, triggers: {button: , event: click}}\n"

    /// Two documents were checked, and the first was changed since. Its check is under way.
    private static func checking(_ path: String = "/a/home.yaml") -> Editor {
        var editor = Editor.ready()
        editor.open("/a/home.yaml", text)
        editor.open("/b/home.yaml", text)
        editor.change(path, version: 2, digit(2))
        editor.holdsChecks = true
        editor.wait(.milliseconds(100))
        return editor
    }

    /// The version of the rules becomes a digit, of which only 1 is right.
    private static func digit(_ digit: Int) -> JSONValue {
        [
            "range": ["start": ["line": 0, "character": 9], "end": ["line": 0, "character": 10]],
            "text": .string(String(digit)),
        ]
    }

    private static func isVersionWrong(_ editor: Editor, _ path: String) -> Bool {
        editor.problems(path).contains { $0.hasSuffix(":1") }
    }

    private static func names(_ answer: JSONValue) -> Bool {
        (answer["result"]?["items"]?.arrayValue ?? []).contains { $0["label"] == "kitchen" }
    }

    @Test("a completion is answered at once, in the document that is checked and in another one")
    func completion() {
        for path in ["/a/home.yaml", "/b/home.yaml"] {
            var editor = Self.checking()
            #expect(editor.heldCheck != nil)
            let before = editor.messages.count
            #expect(Self.names(editor.ask("completion", path, 3, 31)))
            #expect(editor.messages.count == before + 1)
            editor.finishCheck()
            #expect(Self.isVersionWrong(editor, "/a/home.yaml"))
        }
    }

    @Test("a text that is changed is checked again, and the diagnostics of the text before are not sent")
    func change() {
        var editor = Self.checking()
        let before = editor.messages.count
        editor.change("/a/home.yaml", version: 3, Self.digit(1))
        editor.finishCheck()
        #expect(editor.messages.count == before)
        #expect(editor.heldCheck == nil)
        editor.change("/a/home.yaml", version: 4, Self.digit(3))
        editor.wait(.milliseconds(100))
        #expect(editor.diagnostics[Editor.uri("/a/home.yaml")]?["version"] == 4)
        #expect(Self.isVersionWrong(editor, "/a/home.yaml"))
    }

    @Test("other requests wait for the check, and not for the next one")
    func others() {
        var editor = Self.checking()
        #expect(editor.ask("hover", "/a/home.yaml", 3, 5) == .null)
        #expect(editor.ask("hover", "/b/home.yaml", 3, 5) == .null)
        // The next check is due when this one ends.
        editor.change("/b/home.yaml", version: 2, Self.digit(2))
        editor.pass(.seconds(1))
        let before = editor.messages.count
        editor.finishCheck()
        let later = editor.messages[before...].map { $0["method"]?.stringValue ?? "answer" }
        #expect(
            later == [
                "textDocument/publishDiagnostics", "answer", "textDocument/publishDiagnostics",
            ])
    }

    @Test("a request about a text that changes is answered before the change, with the last check")
    func requestBeforeChange() {
        var editor = Self.checking()
        #expect(editor.ask("documentSymbol", "/b/home.yaml", 0, 0) == .null)
        let renaming = editor.request(
            "textDocument/rename",
            [
                "textDocument": ["uri": .string(Editor.uri("/b/home.yaml"))],
                "position": ["line": 1, "character": 12], "newName": "hall",
            ])
        #expect(renaming == .null)
        let before = editor.messages.count
        editor.change("/b/home.yaml", version: 2, Self.digit(2))
        #expect(editor.messages.count == before + 2)
        #expect(editor.messages.last { $0["result"] != nil }?["result"]?.arrayValue?.isEmpty == false)
        // The positions of a renaming would be wrong in the new text.
        #expect(editor.messages.last { $0["error"] != nil }?["error"]?["code"] == -32801)
        editor.finishCheck()
        editor.wait(.milliseconds(100))
        #expect(Self.isVersionWrong(editor, "/b/home.yaml"))
    }

    @Test("a document that is opened waits for its own check, with the requests about it")
    func opened() {
        var editor = Self.checking()
        editor.open("/c/home.yaml", Self.text)
        let before = editor.messages.count
        #expect(editor.ask("completion", "/c/home.yaml", 3, 31) == .null)
        editor.change("/c/home.yaml", version: 2, Self.digit(2))
        #expect(editor.ask("hover", "/c/home.yaml", 3, 5) == .null)
        #expect(editor.messages.count == before)
        editor.finishCheck()
        #expect(editor.messages.contains { Self.names($0) })
        editor.wait(.milliseconds(100))
        #expect(editor.diagnostics[Editor.uri("/c/home.yaml")]?["version"] == 2)
    }

    @Test("a request that waits can be cancelled")
    func cancelled() throws {
        var editor = Self.checking()
        #expect(editor.ask("hover", "/a/home.yaml", 3, 5) == .null)
        let before = editor.messages.count
        // `initialize` was request 1.
        editor.notify("$/cancelRequest", ["id": 2])
        #expect(editor.messages.count == before + 1)
        #expect(editor.messages.last?["error"]?["code"] == -32800)
        #expect(editor.messages.last?["id"] == 2)
        editor.finishCheck()
        #expect(editor.messages.count { $0["id"] == 2 } == 1)
    }

    @Test("no more input is wanted while 256 messages wait, and all of them are answered")
    func full() {
        var editor = Self.checking()
        for count in 0..<256 {
            #expect(editor.server.wantsInput, "after \(count)")
            editor.ask("hover", "/a/home.yaml", 3, 5)
        }
        #expect(!editor.server.wantsInput)
        editor.ask("hover", "/a/home.yaml", 3, 5)
        editor.finishCheck()
        #expect(editor.server.wantsInput)
        #expect(editor.messages.count { $0["id"] != nil } == 1 + 257)
    }

    @Test("an editor that shuts down and goes at once gets the exit status 0, and one that only goes gets 1")
    func end() {
        for shutsDown in [true, false] {
            var editor = Self.checking()
            if shutsDown { editor.request("shutdown", .null) }
            editor.give(.inputEnded)
            if shutsDown {
                #expect(editor.exitStatus == nil)
                editor.finishCheck()
            }
            #expect(editor.exitStatus == (shutsDown ? 0 : 1))
        }
    }
}
