import Foundation
import JSON
import Testing

/// A house whose buttons are paired with another daemon, which serves flicd clients.
@Suite("Buttons of another flicd", .serialized, .ownThread)
struct FlicdSourceTests {
    private static let kitchen = "tryck/80e4da000001"
    private static let rules = """
        version: 1
        buttons: {kitchen: {address: "80:E4:DA:00:00:01"}}
        rules:
          - {id: once, triggers: {button: kitchen, event: click}, actions: {log: clicked}}
          - {id: twice, triggers: {button: kitchen, event: double_click}, actions: {log: doubly}}
        """

    /// Behaves on each port in the way that its name says.
    private static let peculiar = """
        import socket, struct, sys, threading
        def frame(*octets): return struct.pack("<H", len(octets)) + bytes(octets)
        info = frame(9, 2, *[0] * 6, 0, 8, 255, 255, 0, 0, 1, 0, 1, 0, 0, 218, 228, 128)
        def serve(listener, way):
            while True:
                peer, _ = listener.accept()
                try:
                    if way == "garbage": peer.sendall(b"HTTP/1.1 400 Bad Request\\r\\n\\r\\n" * 900)
                    if way == "half": peer.sendall(info[:9])
                    if way == "unasked":
                        peer.recv(3)
                        peer.sendall(frame(13, 9, 0, 0, 0) + frame(14, *[7] * 61) + frame(2, 1) + frame(77) + info * 2)
                        peer.sendall(frame(4, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0) + frame(7, 1, 0, 0, 0, 200, 0, 0, 0, 0, 0))
                        peer.recv(1)
                    if way == "endless":
                        peer.recv(3)
                        come = frame(8, 9, 0, 0, 218, 228, 128) + frame(14, 9, 0, 0, 218, 228, 128, *[0] * 55)
                        peer.sendall(info + frame(14, *info[18:24], *[0] * 55))
                        while True: peer.sendall((come + frame(19, 9, 0, 0, 218, 228, 128, 0)) * 9)
                except OSError: pass
                peer.close()
        for way in ("garbage", "half", "unasked", "closing", "endless"):
            listener = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=serve, args=(listener, way), daemon=True).start()
            print(way, listener.getsockname()[1], flush=True)
        sys.stdin.read()
        """

    private static func button(of house: RuleHouse) throws -> JSONValue {
        try house.ask("buttons").arrayValue?.first ?? .null
    }

    @Test("presses arrive with their age, and the battery; a server that was killed is connected again")
    func travels() throws {
        let port = try Workshop.freePort()
        let far = try RuleHouse(
            "version: 1\nrules: []\n", hasBroker: false, hasButton: true,
            configuration: #"flicd: {listen: "127.0.0.1:\#(port)"}"#)
        let near = try RuleHouse(Self.rules, configuration: "sources: flicd://127.0.0.1:\(port)")
        try near.workshop.wait { try Self.button(of: near)["state"] == "ready" }
        let shown = try Self.button(of: near)
        #expect(shown["source"] == .string("flicd://127.0.0.1:\(port)"))
        #expect((shown["battery"]?.integerValue ?? -1) > 0)
        #expect(try near.tryck("status").contains("flicd://127.0.0.1:\(port), connected"))

        try far.press()
        #expect(try near.logged() == "clicked")
        try near.heard(#"\#(Self.kitchen)/event {"event_type":"click""#)
        try far.press("double_click")
        #expect(try near.logged() == "doubly")

        // The button is pressed out of range, and reports the press later.
        try far.ask("button/disconnect", ["id": "kitchen"])
        try near.workshop.wait { try Self.button(of: near)["state"] != "ready" }
        try far.ask("simulator/press", ["button": "kitchen", "press": "click"])
        try far.ask("button/connect", ["id": "kitchen"])
        let event = try JSONValue(
            parsing: near.watch.line(containing: #""event":"click","queued":true"#))
        #expect((event["age_ms"]?.integerValue ?? -1) % 1000 == 0)
        #expect(try near.logged() == "clicked")

        try far.restart(with: SIGKILL) {
            try near.watch.line(containing: #""kind":"source""#)
            #expect(try Self.button(of: near)["state"] == "disconnected")
            #expect(try near.ask("status")["ok"] == false)
        }
        // The button does not advertise before it is pressed, and reports that press as stored.
        try near.workshop.wait { try Self.button(of: near)["state"] == "connecting" }
        try far.press()
        #expect(try near.logged() == "clicked")
    }

    @Test("removing a button removes it from its flicd, and its settings survive a restart")
    func forgets() throws {
        let port = try Workshop.freePort()
        let far = try RuleHouse(
            "version: 1\nrules: []\n", hasBroker: false, hasButton: true,
            configuration: #"flicd: {listen: "127.0.0.1:\#(port)"}"#)
        let near = try RuleHouse(Self.rules, hasBroker: false, configuration: "sources: flicd://127.0.0.1:\(port)")
        try near.workshop.wait { try Self.button(of: near)["state"] == "ready" }
        try near.ask("button/rename", ["id": "kitchen", "to": "Stairs"])
        try near.restart()
        try near.workshop.wait { try Self.button(of: near)["state"] == "ready" }
        #expect(try near.ask("status")["buttons"]?["paired"] == 1)
        try near.ask("button/remove", ["id": "kitchen"])
        try near.watch.line(containing: #""state":"removed""#)
        try far.workshop.wait { try far.ask("status")["buttons"]?["paired"] == 0 }
        #expect(try near.ask("status")["buttons"]?["paired"] == 0)
    }

    @Test("servers that misbehave are connected again, and do not disturb others")
    func misbehaving() throws {
        let workshop = try Workshop()
        let peculiar = try workshop.start("/usr/bin/python3", ["-c", Self.peculiar])
        let ports = try ["garbage", "half", "unasked", "closing", "endless"].map { way in
            try peculiar.line(containing: way).split(separator: " ").last.map(String.init) ?? ""
        }
        let house = try RuleHouse(
            "version: 1\nrules: []\n", hasBroker: false,
            configuration: "sources: [\(ports.map { "flicd://127.0.0.1:\($0)" }.joined(separator: ", "))]")
        try house.workshop.wait {
            let faults = try house.ask("status")["sources"]?.arrayValue?.map { $0["fault"]?.stringValue ?? "" } ?? []
            return faults.count == 5 && faults.prefix(4).allSatisfy { $0.contains("connection") }
                && faults[4].contains("too many changes")
        }
        // The `endless` server may be connected again.
        #expect((1...2).contains(try house.ask("status")["buttons"]?["paired"]?.integerValue ?? 0))
        #expect(try house.tryck("status", status: 1).contains("not connected"))
    }
}
