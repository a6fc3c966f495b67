import JSON
import LanguageServer
import TestSupport
import Testing

@Suite("Frames of the language server")
struct FramingTests {
    private static let conversation =
        Editor.frame(["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ["capabilities": [:]]])
        + Editor.frame(["jsonrpc": "2.0", "id": 2, "method": "shutdown"])
        + Editor.frame(["jsonrpc": "2.0", "method": "exit"])

    @Test("messages that are cut at any octet are the same messages")
    func cuts() {
        for cut in 0...Self.conversation.count {
            var editor = Editor()
            editor.give(.received(Array(Self.conversation[..<cut])))
            editor.give(.received(Array(Self.conversation[cut...])))
            #expect(editor.messages.map { $0["id"] } == [1, 2], "cut at \(cut)")
            #expect(editor.exitStatus == 0)
        }
    }

    @Test("messages that arrive octet by octet are the same messages")
    func octets() {
        var editor = Editor()
        for octet in Self.conversation { editor.give(.received([octet])) }
        #expect(editor.messages.map { $0["id"] } == [1, 2])
        #expect(editor.exitStatus == 0)
    }

    @Test(
        "a header that is wrong gives an error, and the next message is read",
        arguments: [
            "Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length:\r\n\r\n",
            "Content-Type: text\r\n\r\n", "\r\n\r\nnothing\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
            "Content-Length: 99999999999999999999\r\n\r\n",
        ])
    func wrongHeader(header: String) {
        var editor = Editor()
        editor.give(.received(Array(header.utf8) + Self.conversation))
        #expect(editor.messages.first?["error"]?["code"] == -32700)
        #expect(editor.messages.first?["id"] == .null)
        #expect(editor.messages.dropFirst().map { $0["id"] } == [1, 2])
    }

    @Test("a header without an end is skipped")
    func longHeader() {
        var editor = Editor()
        editor.give(.received(Array(repeating: UInt8(ascii: "x"), count: 10_000)))
        editor.give(.received(Self.conversation))
        #expect(editor.messages.map { $0["error"]?["code"] } == [-32700, nil, nil])
    }

    @Test("the text of the longest file is a message, also if JSON writes each octet with two")
    func longest() {
        var framer = MessageFramer()
        let length = 2 * (16 << 20) + 1_000
        framer.append(Array("Content-Length: \(length)\r\n\r\n".utf8))
        framer.append([UInt8](repeating: UInt8(ascii: "\\"), count: length))
        guard case .message(let message)? = framer.next() else {
            Issue.record("The message was skipped.")
            return
        }
        #expect(message.count == length)
    }

    @Test("a message of more than 33 MiB is skipped, and the next one is read")
    func tooLong() {
        var editor = Editor()
        let length = 33 << 20 + 1
        editor.give(.received(Array("Content-Length: \(length)\r\n\r\n".utf8)))
        let part = Array(repeating: UInt8(ascii: " "), count: 1 << 20)
        var rest = length
        while rest > 0 {
            editor.give(.received(Array(part.prefix(rest))))
            rest -= part.count
        }
        editor.give(.received(Self.conversation))
        #expect(editor.messages.map { $0["id"] } == [.null, 1, 2])
        #expect(editor.messages.first?["error"]?["message"] == "A message is longer than 33 MiB.")
    }

    @Test("the name of the header has any case, and other headers are ignored")
    func otherHeaders() {
        var editor = Editor()
        let message: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": [:]]
        let text = message.description
        editor.give(
            .received(
                Array(
                    "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: \(text.utf8.count)\r\n\r\n\(text)"
                        .utf8)))
        #expect(editor.messages.map { $0["id"] } == [1])
    }

    @Test(
        "what is no request gets the error of JSON-RPC",
        arguments: [
            ("{", -32700, JSONValue.null), ("\u{7B}\"a\":\u{7D}", -32700, .null), ("[]", -32600, .null),
            ("1", -32600, .null), ("{\"id\":5}", -32600, 5), ("{\"id\":5,\"method\":7}", -32600, 5),
            ("{\"id\":5,\"method\":\"x\"}", -32601, 5), ("{\"id\":5,\"method\":\"initialize\"}", -32600, 5),
            ("{\"id\":5,\"method\":\"textDocument/hover\"}", -32602, 5),
            (
                "{\"id\":5,\"method\":\"textDocument/hover\",\"params\":{\"textDocument\":{\"uri\":\"file:///a\"}}}",
                -32602, 5
            ),
        ])
    func errors(text: String, code: Int64, id: JSONValue) {
        var editor = Editor.ready()
        editor.give(.received(Array("Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)))
        #expect(editor.messages.last?["error"]?["code"] == .integer(code))
        #expect(editor.messages.last?["id"] == id)
    }

    @Test("before initialize and after shutdown, requests are refused")
    func phases() {
        var editor = Editor()
        #expect(editor.request("shutdown", .null)["error"]?["code"] == -32002)
        editor.request("initialize", [:])
        #expect(editor.request("shutdown", .null)["result"] == .null)
        #expect(editor.request("textDocument/hover", .null)["error"]?["code"] == -32600)
        editor.notify("exit", .null)
        #expect(editor.exitStatus == 0)
        editor.give(.received(Self.conversation))
        #expect(editor.messages.count == 4)
    }

    @Test("exit without shutdown and the end of the input are failures")
    func unexpectedEnds() {
        var first = Editor.ready()
        first.notify("exit", .null)
        #expect(first.exitStatus == 1)
        var second = Editor.ready()
        second.give(.inputEnded)
        #expect(second.exitStatus == 1)
    }

    @Test("the cancellation of a request that was answered changes nothing")
    func cancel() {
        var editor = Editor.ready()
        let before = editor.messages.count
        editor.notify("$/cancelRequest", ["id": 1])
        editor.notify("$/setTrace", ["value": "off"])
        #expect(editor.messages.count == before)
    }

    @Test("random octets end nothing", arguments: 0..<200 as Range<UInt64>)
    func garbage(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var editor = Editor()
        for _ in 0..<20 {
            editor.give(.received(generator.bytes(Int.random(in: 0..<200, using: &generator))))
            if Bool.random(using: &generator) {
                editor.give(
                    .received(Array("Content-Length: \(Int.random(in: 0..<300, using: &generator))\r\n\r\n".utf8)))
            }
        }
        #expect(editor.exitStatus == nil)
    }
}
