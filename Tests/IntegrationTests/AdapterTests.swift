import Foundation
import JSON
import Testing

/// Adapters that cannot be opened or are lost: the daemon reports why, and continues when the fault is repaired.
@Suite("Adapters and transports", .serialized, .ownThread)
struct AdapterTests {
    private static let address = "00:1A:7D:DA:71:13"

    /// The daemon with the shim, whose state file describes the only adapter.
    private func daemon(_ workshop: Workshop, transport: String) throws -> Program {
        let port = try workshop.rootCanal()
        try workshop.write("tryck.yaml", "bluetooth: {transport: \"\(transport)\"}\nmqtt: {broker: none}\n")
        return try workshop.daemon(
            preload: try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so"),
            environment: ["HCI_SHIM": "127.0.0.1:\(port)", "HCI_SHIM_STATE": workshop.path("adapter")])
    }

    private func adapterState(_ workshop: Workshop) throws -> JSONValue {
        let status = try workshop.tryck(["status", "--json"])
        _ = try status.status()
        return try JSONValue(parsing: status.lines.first ?? "")["adapter"] ?? .null
    }

    @Test(
        "the log says why an adapter cannot be opened and how to repair it, and the adapter is opened without a restart",
        arguments: [
            (EBUSY, "is in use by", "powered_off"), (EPERM, "AmbientCapabilities=CAP_NET_ADMIN", "unauthorized"),
            (ERFKILL, "sudo rfkill unblock bluetooth", "powered_off"), (ENODEV, "there is no adapter", "powered_off"),
            (EAFNOSUPPORT, "sudo modprobe bluetooth", "unsupported"),
        ])
    func refused(errno: Int32, sentence: String, word: String) throws {
        let workshop = try Workshop()
        try workshop.write("adapter", "0 \(Self.address) \(errno)\n")
        let daemon = try daemon(workshop, transport: "hci:0")
        try daemon.line(containing: sentence)
        let state = try adapterState(workshop)
        #expect(state["state"]?.stringValue == word)
        #expect(state["last_fault"]?["reason"]?.stringValue?.contains(sentence) == true)
        try workshop.write("adapter", "0 \(Self.address) 0\n")
        try daemon.line(containing: "is ready", within: 60)
        #expect(try adapterState(workshop)["state"] == "powered_on")
        #expect(try adapterState(workshop)["resets"] == 0)
    }

    @Test("an adapter configured by its address is found under another number")
    func renumbered() throws {
        let workshop = try Workshop()
        let daemon = try daemon(workshop, transport: "hci:\(Self.address)")
        try daemon.line(containing: "there is no adapter \(Self.address), and no other")
        try workshop.write("adapter", "1 00:11:22:33:44:55 0\n")
        try daemon.line(containing: "hci1 (00:11:22:33:44:55)", within: 60)
        try workshop.write("adapter", "3 \(Self.address) 0\n")
        try daemon.line(containing: "is ready", within: 60)
    }

    @Test("with transport auto, an adapter that appears later is opened")
    func anyAdapter() throws {
        let workshop = try Workshop()
        let daemon = try daemon(workshop, transport: "auto")
        try daemon.line(containing: "there is no Bluetooth adapter")
        try workshop.write("adapter", "5 \(Self.address) 0\n")
        try daemon.line(containing: "is ready", within: 60)
    }

    @Test(
        "a Unix socket transport is opened again after invalid data, and after its end", arguments: ["garbage", "end"])
    func unixSocket(fault: String) throws {
        let workshop = try Workshop()
        let port = try workshop.rootCanal()
        let relay = try workshop.start(
            "/usr/bin/python3",
            [
                "-u", "-c",
                """
                import os, select, socket, sys
                server = socket.socket(socket.AF_UNIX); server.bind("\(workshop.path("hci"))"); server.listen()
                print("listening")
                while True:
                    near = server.accept()[0]
                    far = socket.create_connection(("127.0.0.1", \(port)))
                    far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    print("joined")
                    while True:
                        ready = select.select([near, far, sys.stdin], [], [])[0]
                        if sys.stdin in ready:
                            if os.read(0, 100).startswith(b"end"): break
                            near.sendall(b"\\xff")
                            continue
                        data = ready[0].recv(4096)
                        if not data: break
                        (far if ready[0] is near else near).sendall(data)
                    near.close(); far.close()
                """,
            ])
        try relay.line(containing: "listening")
        try workshop.write(
            "tryck.yaml", "bluetooth: {transport: \"h4:unix:\(workshop.path("hci"))\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is ready")
        relay.write(fault)
        try daemon.line(containing: fault == "end" ? "closed the connection" : "does not speak HCI")
        try daemon.line(containing: "is ready")
        let state = try adapterState(workshop)
        #expect(state["resets"] == 1)
        #expect(state["state"] == "powered_on")
    }

    @Test("an adapter that a program lends: why it is refused, its loss, and no process that is left behind")
    func lent() throws {
        let workshop = try Workshop()
        let port = try workshop.rootCanal()
        let shim = try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so")
        try workshop.write("adapter", "0 \(Self.address) \(EBUSY)\n")
        let transport = ForeignControllerTests.lent(
            shim, port, more: ["HCI_SHIM_STATE=\(workshop.path("adapter"))"])
        try workshop.write("tryck.yaml", "bluetooth: {transport: \(transport)}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(
            containing: "the command of the radio (env) ended: tryck: hci0 is in use by another program")
        try workshop.write("adapter", "0 \(Self.address) 0\n")
        try daemon.line(containing: "is ready", within: 60)
        // The program that was refused had no adapter that could be lost.
        #expect(try adapterState(workshop)["resets"] == 0)
        let lender = try #require(Self.processes(named: workshop.path("adapter")).first)
        kill(lender, SIGKILL)
        try daemon.line(containing: "the command of the radio (env) ended. Trying again")
        #expect(try adapterState(workshop)["resets"] == 1)
        try daemon.line(containing: "is ready", within: 60)
        daemon.stop()
        try workshop.wait { Self.processes(named: workshop.path("adapter")).isEmpty }
    }

    /// The processes that have a text in their environment, and are not the daemon.
    private static func processes(named text: String) -> [pid_t] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { pid_t($0) }.filter { process in
            let environment = FileManager.default.contents(atPath: "/proc/\(process)/environ") ?? Data()
            return String(decoding: environment, as: UTF8.self).contains("HCI_SHIM_STATE=\(text)")
        }
    }

    @Test("tryck hci refuses files, closed streams, bad packets and a missing adapter, and ends with its input")
    func lender() throws {
        let workshop = try Workshop()
        let port = try workshop.rootCanal()
        try workshop.write("adapter", "0 \(Self.address) 0\n")
        let environment = [
            "HCI_SHIM": "127.0.0.1:\(port)", "HCI_SHIM_STATE": workshop.path("adapter"),
            "LD_PRELOAD": try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so"),
        ]
        let garbage = try workshop.start(Workshop.built("tryck"), ["hci", "0"], environment: environment)
        garbage.write("hello")
        #expect(try garbage.status() == 74)
        #expect(garbage.text.contains("Standard input is not HCI in H4 framing: 0x68 is not a packet indicator."))
        let ended = try workshop.start(Workshop.built("tryck"), ["hci", "0"], environment: environment)
        ended.closeInput()
        #expect(try ended.status() == 0)
        let missing = try workshop.start(Workshop.built("tryck"), ["hci", "3"], environment: environment)
        #expect(try missing.status() == 69)
        #expect(missing.text.contains("there is no adapter hci3"))
        for redirection in ["</dev/null", "<&- >&-", ">/dev/null", "<adapter"] {
            let other = try workshop.start("/bin/sh", ["-c", "exec \(Workshop.built("tryck")) hci 0 \(redirection)"])
            #expect(try other.status() == 64, "\(redirection)")
            #expect(other.text.contains("must be pipes or a socket"), "\(redirection)")
        }
    }

    @Test("another program can read a capture: every packet is whole, in order, and has its time")
    func capture() throws {
        let workshop = try Workshop()
        let port = try workshop.rootCanal()
        try workshop.write(
            "tryck.yaml", "bluetooth: {transport: \"h4:tcp:127.0.0.1:\(port)\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon(arguments: ["--capture", workshop.path("hci.btsnoop")])
        try daemon.line(containing: "is ready")
        daemon.stop()
        let reader = try workshop.start(
            try Workshop.python(),
            [
                "-c",
                """
                import datetime, sys
                from bumble import hci
                from bumble.apps.show import SnoopPacketReader
                reader = SnoopPacketReader(open(sys.argv[1], "rb"))
                now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
                while True:
                    time, direction, octets = reader.next_packet()
                    if octets is None: break
                    assert abs(now - time) < datetime.timedelta(minutes=5), time
                    packet = hci.HCI_Packet.from_bytes(octets)
                    assert bytes(packet) == octets
                    print("<>"[direction], packet.name)
                assert reader.at_end
                """,
                workshop.path("hci.btsnoop"),
            ])
        #expect(try reader.status() == 0, "\(reader.text)")
        #expect(reader.lines.prefix(2) == ["< HCI_RESET_COMMAND", "> HCI_COMMAND_COMPLETE_EVENT"])
        #expect(reader.lines.contains("< HCI_LE_READ_FILTER_ACCEPT_LIST_SIZE_COMMAND"))
        let attributes = try FileManager.default.attributesOfItem(atPath: workshop.path("hci.btsnoop"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
}
