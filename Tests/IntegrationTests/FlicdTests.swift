import Foundation
import Testing

/// The daemon with a simulated button, and existing clients of flicd.
@Suite("With flicd's clients", .serialized, .ownThread)
struct FlicdTests {
    private final class House {
        let workshop: Workshop
        let port: Int
        let daemon: Program
        let address: String

        init(_ button: String = "{}", more: String = "") throws {
            workshop = try Workshop()
            port = try Workshop.freePort()
            try workshop.write("simulator.yaml", "buttons: {kitchen: \(button)}\n")
            try workshop.write(
                "tryck.yaml",
                """
                bluetooth: {transport: "simulated:simulator.yaml"}
                mqtt: {broker: none}
                flicd: {listen: "127.0.0.1:\(port)"}
                \(more)
                """)
            daemon = try workshop.daemon()
            let line = try daemon.line(containing: "simulated kitchen: ")
            guard let found = line.firstMatch(of: /([0-9A-F]{2}:){5}[0-9A-F]{2}/) else {
                throw Program.Failure(description: line)
            }
            address = found.output.0.lowercased()
            // In either order.
            for line in ["served at 127.0.0.1:\(port)", "Bluetooth adapter"] {
                try daemon.wait(forLineContaining: line)
            }
        }

        func client() throws -> Program {
            let program = try script("flicd_client.py", [workshop.path("control.sock")])
            try program.line(containing: "connected")
            return program
        }

        func script(_ name: String, _ arguments: [String] = []) throws -> Program {
            let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "support/\(name)").path
            return try workshop.start(try Workshop.python(), [path, "\(port)"] + arguments)
        }

        func pair() throws {
            #expect(try workshop.tryck(["pair", "--time", "60"]).status() == 0)
        }
    }

    @Test("pyflic pairs a button, receives its press in four families, and deletes the button")
    func pyflic() throws {
        let house = try House()
        let client = try house.client()
        client.write("info")
        try client.line(containing: "info: Attached 00:00:5e:00:53:01")
        client.write("button \(house.address)")
        try client.line(containing: "button: \(house.address) None None None 0 0")
        client.write("wizard")
        try client.line(containing: "wizard: public \(house.address) ")
        try client.line(containing: "wizard: connected \(house.address)")
        try client.line(containing: "wizard: WizardSuccess \(house.address)")
        try client.line(containing: "new: \(house.address)")
        try house.daemon.line(containing: "kitchen is ready")
        client.write("channel \(house.address)")
        try client.line(containing: "channel: NoError Ready")
        client.write("press kitchen click")
        try client.line(containing: "press: 7 ButtonSingleClick live 0")
        client.write("press kitchen double_click")
        try client.line(containing: "press: 7 ButtonDoubleClick live 0")
        client.write("press kitchen hold")
        try client.line(containing: "press: 4 ButtonUp live 0")
        let presses = client.lines.filter { $0.hasPrefix("press: ") }.map { String($0.dropFirst(7).dropLast(7)) }
        let expected = [
            "4 ButtonDown", "4 ButtonUp", "5 ButtonClick", "6 ButtonSingleClick", "7 ButtonSingleClick",
            "4 ButtonDown", "4 ButtonUp", "5 ButtonClick", "4 ButtonDown", "4 ButtonUp", "5 ButtonClick",
            "6 ButtonDoubleClick", "7 ButtonDoubleClick", "4 ButtonDown", "5 ButtonHold", "7 ButtonHold", "4 ButtonUp",
        ]
        #expect(Array(presses.prefix(expected.count)) == expected)
        client.write("battery \(house.address)")
        #expect(try client.line(containing: "battery: ").hasSuffix(" True"))
        client.write("button \(house.address)")
        try client.line(containing: " None BA00-")
        client.write("remove \(house.address)")
        try client.line(containing: "removed: RemovedByThisClient")
        client.write("channel \(house.address)")
        try client.line(containing: "channel: NoError Ready")
        client.write("delete \(house.address)")
        try client.line(containing: "removed: DeletedByThisClient")
        try client.line(containing: "deleted: \(house.address) True")
        client.write("info")
        try client.line(containing: "info: Attached")
        #expect(client.lines.last?.contains(house.address) == false)
        client.write("close")
        try client.line(containing: "closed")
        #expect(try client.status() == 0)
        #expect(try !house.workshop.tryck(["buttons"]).text.contains("kitchen"))
    }

    @Test("two client libraries receive the same press, also a stored one, and one closes the channels of both")
    func several() throws {
        let house = try House()
        try house.pair()
        let client = try house.client()
        let other = try house.script("flicd_asyncio.py")
        try other.line(containing: "info: Attached \(house.address)")
        try other.line(containing: "button: \(house.address)")
        try other.line(containing: "channel: NoError Ready")
        client.write("channel \(house.address)")
        try client.line(containing: "channel: NoError Ready")
        client.write("press kitchen click")
        try client.line(containing: "press: 7 ButtonSingleClick live 0")
        try other.line(containing: "press: ButtonSingleClick")
        try house.daemon.line(containing: "simulated kitchen: up")

        // A user disconnects the button for a while, and it is pressed meanwhile.
        #expect(try house.workshop.tryck(["button", "kitchen", "disconnect"]).status() == 0)
        try client.line(containing: "status: Disconnected")
        client.write("press kitchen click")
        try house.daemon.line(containing: "simulated kitchen: up")
        #expect(try house.workshop.tryck(["button", "kitchen", "connect"]).status() == 0)
        try client.line(containing: "status: Connected")
        try client.line(containing: "status: Ready")
        try client.line(containing: "press: 4 ButtonDown queued")
        // The button may report only after the next connection that no second press follows.
        try client.line(containing: "press: 5 ButtonClick queued")

        client.write("force \(house.address)")
        try client.line(containing: "removed: ForceDisconnectedByThisClient")
        try other.line(containing: "removed: ForceDisconnectedByOtherClient")
        // The daemon stays connected to the button for its own rules.
        #expect(try house.workshop.tryck(["buttons"]).line(containing: "kitchen").contains("ready"))
        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)
        try other.line(containing: "closed")
    }

    @Test("an older client library of Home Assistant works in the same way as the newer one")
    func older() throws {
        let house = try House("{public: false}")
        let library = try Workshop.setting("TRYCK_OLD_PYFLIC", "the package pyflic-homeassistant")
        let older = try house.script("flicd_homeassistant.py", [library])
        try older.line(containing: "info: Attached")
        let client = try house.client()
        client.write("press kitchen make_public")
        try older.line(containing: "wizard: public \(house.address) ")
        try older.line(containing: "wizard: WizardSuccess \(house.address)")
        try older.line(containing: "new: \(house.address)")
        try older.line(containing: "channel: NoError")
        try house.daemon.line(containing: "kitchen is ready")
        try client.line(containing: "new: \(house.address)")
        client.write("channel \(house.address)")
        try client.line(containing: "channel: NoError Ready")
        client.write("press kitchen double_click")
        try client.line(containing: "press: 7 ButtonDoubleClick live 0")
        try older.line(containing: "press: 7 ButtonDoubleClick")
        #expect(older.lines.count { $0 == "press: 4 ButtonDown" } == 2)
        older.write("uuid \(house.address)")
        try older.line(containing: "uuid: \(house.address) 32")
        older.write("force \(house.address)")
        try older.line(containing: "removed: ForceDisconnectedByThisClient")
        try client.line(containing: "removed: ForceDisconnectedByOtherClient")
        older.write("close")
        try older.line(containing: "closed")
        #expect(try older.status() == 0)
    }

    @Test("the channels of a client that vanishes end, and invalid data disconnects only its sender")
    func rough() throws {
        let house = try House()
        try house.pair()
        let client = try house.client()
        client.write("channel \(house.address)")
        try client.line(containing: "channel: NoError Ready")
        let rude = try house.client()
        rude.write("channel \(house.address)")
        try rude.line(containing: "channel: NoError Ready")
        rude.signal(SIGKILL)
        _ = try rude.status()
        try house.daemon.line(containing: "has disconnected")
        let garbage = try house.workshop.start(
            try Workshop.python(),
            [
                "-c",
                """
                import socket
                stream = socket.create_connection(("127.0.0.1", \(house.port)))
                stream.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
                print("ended", stream.recv(100))
                half = socket.create_connection(("127.0.0.1", \(house.port)))
                half.sendall(bytes([5, 0, 7, 1, 2, 3, 4, 5]))
                half.shutdown(socket.SHUT_WR)
                answer = b""
                while octets := half.recv(100):
                    answer += octets
                print("answered", answer.hex())
                """,
            ])
        try garbage.line(containing: "ended b''")
        try garbage.line(containing: "answered 05000d01020304")
        client.write("press kitchen click")
        try client.line(containing: "press: 7 ButtonSingleClick live 0")
        let status = try house.workshop.tryck(["status", "--json"])
        _ = try status.status()
        let flicd = try JSONSerialization.jsonObject(with: Data(status.text.utf8)) as? [String: Any]
        let shown = flicd?["flicd"] as? [String: Any]
        #expect(shown?["address"] as? String == "127.0.0.1:\(house.port)")
        #expect(shown?["clients"] as? Int == 1)
        #expect(shown?["channels"] as? Int == 1)
    }

    @Test("hostile clients cause no lost press, and only a few lines in the log")
    func strangers() throws {
        let house = try House()
        try house.pair()
        let client = try house.client()
        client.write("channel \(house.address)")
        try client.line(containing: "channel: NoError Ready")
        let strangers = try house.script("flicd_strangers.py", [house.address])
        try strangers.line(containing: "at work")
        for _ in 0..<10 {
            client.write("press kitchen click")
            try client.line(containing: "press: 7 ButtonSingleClick live 0")
        }
        strangers.closeInput()
        try strangers.line(containing: "done:")
        #expect(try strangers.status() == 0)
        #expect(!client.lines.contains { $0.hasPrefix("status: ") })
        #expect(house.daemon.lines.count { $0.contains("; it is disconnected") } < 20)
        #expect(try house.workshop.tryck(["status"]).status() == 0)
    }

    @Test("a port in use is logged, shown in status and tried again, and the daemon continues")
    func taken() throws {
        let workshop = try Workshop()
        let squatter = try workshop.start(
            try Workshop.python(),
            [
                "-c",
                """
                import socket, sys
                stream = socket.create_server(("127.0.0.1", 0))
                print("port", stream.getsockname()[1], flush=True)
                sys.stdin.readline()
                """,
            ])
        let port = try squatter.line(containing: "port").dropFirst(5)
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: none}\nmqtt: {broker: none}\nflicd: {listen: \"127.0.0.1:\(port)\"}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "flicd.listen: clients cannot be served at 127.0.0.1:\(port)")
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 1)
        #expect(status.text.contains("clients cannot be served at 127.0.0.1:\(port)"))
        squatter.write("go")
        try daemon.line(containing: "flicd clients are served at 127.0.0.1:\(port)")
        #expect(try workshop.tryck(["status"]).status() == 0)
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
    }
}
