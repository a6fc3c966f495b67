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

    /// The answer to a request for the lenses of the rules of a house, from a server of its own.
    private static func lenses(_ workshop: Workshop, _ rules: String) throws -> JSONValue {
        let server = try workshop.tryck(["language-server"])
        func send(_ message: JSONValue) {
            let text = message.description
            server.write("Content-Length: \(text.utf8.count + 1)\r\n\r\n\(text)")
        }
        let uri = JSONValue.string("file://" + workshop.path("rules/home.yaml"))
        send(["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ["capabilities": [:]]])
        send([
            "jsonrpc": "2.0", "method": "textDocument/didOpen",
            "params": ["textDocument": ["uri": uri, "languageId": "yaml", "version": 1, "text": .string(rules)]],
        ])
        send(["jsonrpc": "2.0", "id": 2, "method": "textDocument/codeLens", "params": ["textDocument": ["uri": uri]]])
        send(["jsonrpc": "2.0", "id": 3, "method": "shutdown"])
        send(["jsonrpc": "2.0", "method": "exit"])
        #expect(try server.status() == 0, "\(server.text)")
        // A frame ends without a line end, so the header of the next one follows in the same line.
        let start = try #require(server.text.firstRange(of: #"{"jsonrpc":"2.0","id":2,"#)?.lowerBound, "\(server.text)")
        let text = server.text[start...].prefix { !$0.isNewline }
        let end = text.firstRange(of: "Content-Length")?.lowerBound ?? text.endIndex
        return try JSONValue(parsing: String(text[..<end]))["result"] ?? .null
    }

    @Test("a lens at a rule has its last run in a real daemon; without a daemon, and with a silent one, there is none")
    func lastRun() throws {
        let rules = """
            version: 1
            buttons: {\(RuleHouse.kitchen)}
            rules:
              - id: lamp
                triggers: {button: kitchen, event: click}
                actions: {log: clicked}

            """
        let house = try RuleHouse(rules, hasBroker: false) { workshop, _ in
            let text = try String(contentsOfFile: workshop.path("tryck.yaml"), encoding: .utf8)
            try workshop.write("tryck.yaml", text + "\ncontrol_socket: \(workshop.controlSocket)\n")
        }
        let workshop = house.workshop
        #expect(try Self.lenses(workshop, rules) == [])
        try house.run("lamp")
        try workshop.wait { try house.ask("rules").description.contains("completed") }
        let lenses = try Self.lenses(workshop, rules)
        let title = lenses.arrayValue?.first?["command"]?["title"]?.stringValue ?? ""
        #expect(title.hasPrefix("last run: completed, ") && title.hasSuffix(" s ago"), "\(lenses)")

        house.daemon.signal(SIGTERM)
        _ = try house.daemon.status()
        #expect(try Self.lenses(workshop, rules) == [])

        // The kernel takes the connection for a listener that never accepts it.
        try? FileManager.default.removeItem(atPath: workshop.controlSocket)
        let silent = try workshop.start(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket, sys
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1])
                listener.listen(1)
                print("listens", flush=True)
                sys.stdin.read()
                """, workshop.controlSocket,
            ])
        try silent.line(containing: "listens")
        #expect(try Self.lenses(workshop, rules) == [])
    }
}
