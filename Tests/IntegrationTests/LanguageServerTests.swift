import Foundation
import JSON
import Testing

/// The language server as an editor starts it, with files on a disk.
@Suite("The language server as a program", .ownThread)
struct LanguageServerTests {
    private let workshop: Workshop
    private let server: Program

    init() throws {
        workshop = try Workshop()
        try workshop.write("tryck.yaml", "rules: home.yaml\n")
        try workshop.write("home.yaml", "version: 1\ninclude: [buttons.yaml, kitchen.yaml]\n")
        try workshop.write("buttons.yaml", "buttons: {kitchen: {serial: BA00-H00001}}\n")
        try workshop.write("kitchen.yaml", "rules: []\n")
        server = try workshop.tryck(["language-server", "--stdio"])
    }

    /// Sends a message. The line end is a part of it.
    private func send(_ message: JSONValue) {
        let text = message.description
        server.write("Content-Length: \(text.utf8.count + 1)\r\n\r\n\(text)")
    }

    private func open(_ file: String, _ text: String) {
        send([
            "jsonrpc": "2.0", "method": "textDocument/didOpen",
            "params": [
                "textDocument": [
                    "uri": .string("file://" + workshop.path(file)), "languageId": "yaml", "version": 1,
                    "text": .string(text),
                ]
            ],
        ])
    }

    @Test("an editor gets the mistakes of a file of a set, a completion, and exit status 0")
    func conversation() throws {
        send(["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ["capabilities": [:]]])
        send(["jsonrpc": "2.0", "method": "initialized", "params": [:]])
        open(
            "kitchen.yaml",
            "rules:\n  - id: lamp\n    triggers: {button: kitchn, event: click}\n    actions: {run: [no-such-program]}\n"
        )
        send([
            "jsonrpc": "2.0", "id": 2, "method": "textDocument/completion",
            "params": [
                "textDocument": ["uri": .string("file://" + workshop.path("kitchen.yaml"))],
                "position": ["line": 2, "character": 23],
            ],
        ])
        send(["jsonrpc": "2.0", "id": 3, "method": "shutdown"])
        send(["jsonrpc": "2.0", "method": "exit"])
        #expect(try server.status() == 0)
        #expect(server.text.contains("\"code\":\"E301\""), "\(server.text)")
        #expect(server.text.contains("\"code\":\"W702\""), "\(server.text)")
        #expect(server.text.contains("\"label\":\"kitchen\""), "\(server.text)")
    }

    @Test("a change is checked after a pause in which nothing is sent")
    func pause() throws {
        send(["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ["capabilities": [:]]])
        try workshop.write("buttons.yaml", "buttons: {}\n")
        open("kitchen.yaml", "rules: []\n")
        send([
            "jsonrpc": "2.0", "method": "textDocument/didChange",
            "params": [
                "textDocument": ["uri": .string("file://" + workshop.path("kitchen.yaml")), "version": 2],
                "contentChanges": [["text": "rulez: []\n"]],
            ],
        ])
        // The header of the message with the diagnostics is in a line of its own, its text in the next one.
        try server.wait { $0.count { $0.contains("Content-Length") } == 2 }
        server.closeInput()
        #expect(try server.status() == 1)
        #expect(server.text.contains("\"code\":\"E201\""), "\(server.text)")
    }
}
