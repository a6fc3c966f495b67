import Foundation
import JSON
import Testing

/// An adapter of another machine, which is a network namespace with one cable to the daemon's, and an adapter of the daemon's
/// own on the same air.
@Suite("An adapter of another machine", .serialized, .ownThread)
struct RemoteAdapterTests {
    /// Two network namespaces and the cable between them. Lines of the standard input are commands for the first one.
    private static let machines = """
        ip link set lo up
        unshare -n tail -f /dev/null &
        shed=$!
        until [ "$(readlink /proc/$shed/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do :; done
        ip link add hall type veth peer name shed netns $shed
        ip address add 10.0.0.1/30 dev hall
        ip link set hall up
        nsenter -t $shed -n sh -ec "ip link set lo up; ip address add 10.0.0.2/30 dev shed; ip link set shed up"
        nsenter -t $shed -n "$@" &
        lender=$!
        while read -r words; do
            $words
            echo "done: $words"
        done
        kill $shed $lender
        """

    /// Both ends of what stands for ssh: they notice a dead network after some seconds, as with ServerAliveInterval.
    private static let stream = """
        import os, select, socket, subprocess, sys
        def guard(stream):
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option in socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT:
                stream.setsockopt(socket.IPPROTO_TCP, option, 2)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 5000)
            return stream
        if sys.argv[1] == "lend":
            server = socket.create_server(("10.0.0.2", 6000))
            print("lends", flush=True)
            while True:
                far = guard(server.accept()[0])
                subprocess.Popen(sys.argv[2:], stdin=far, stdout=far)
                far.close()
        far = guard(socket.create_connection(("10.0.0.2", 6000), 5))
        far.settimeout(None)
        while True:
            for ready in select.select([0, far], [], [])[0]:
                data = os.read(0, 4096) if ready == 0 else far.recv(4096)
                if not data: sys.exit()
                if ready == 0:
                    far.sendall(data)
                else:
                    sys.stdout.buffer.write(data)
                    sys.stdout.buffer.flush()
        """

    /// Passes each connection to a socket in the file system, which all network namespaces see, on to RootCanal.
    private static let air = """
        import socket, sys, threading
        def copy(source, sink):
            try:
                while data := source.recv(4096): sink.sendall(data)
            except OSError: pass
            for end in source, sink:
                try: end.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen()
        print("listening", flush=True)
        while True:
            near, far = server.accept()[0], socket.create_connection(("127.0.0.1", int(sys.argv[2])))
            far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pair in (near, far), (far, near): threading.Thread(target=copy, args=pair, daemon=True).start()
        """

    /// Simulated buttons, whose air `Self.air` offers at the socket `air` of the workshop, and their root key.
    static func buttonsAtSocket(in workshop: Workshop) throws -> (buttons: Program, root: String) {
        let (port, buttons, root) = try workshop.buttonsOnAir()
        let relay = try workshop.start("/usr/bin/python3", ["-c", air, workshop.path("air"), "\(port)"])
        try relay.line(containing: "listening")
        return (buttons, root)
    }

    /// A button that is paired through the lent adapter, and was pressed once.
    private struct House {
        let workshop: Workshop
        let machines: Program
        let buttons: Program
        let daemon: Program

        init() throws {
            workshop = try Workshop()
            let root: String
            (buttons, root) = try RemoteAdapterTests.buttonsAtSocket(in: workshop)

            let stream = try workshop.write("stream.py", RemoteAdapterTests.stream)
            let shim = try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so")
            machines = try workshop.start(
                "/usr/bin/unshare",
                [
                    "-rmnpf", "--mount-proc", "--kill-child", "sh", "-ec", RemoteAdapterTests.machines, "machines",
                    "/usr/bin/python3",
                    stream, "lend", "env",
                    "HCI_SHIM=\(workshop.path("air"))", "LD_PRELOAD=\(shim)", Workshop.built("tryck"), "hci", "0",
                ])
            try machines.line(containing: "lends")
            try workshop.write(
                "tryck.yaml",
                """
                bluetooth: {trust_roots: ["\(root)"]}
                radios:
                  - {command: [/usr/bin/python3, "\(stream)", reach], name: shed}
                  - {adapter: "h4:unix:\(workshop.path("air"))", name: cellar}
                mqtt: {broker: none}
                """)
            daemon = try workshop.start(
                "/usr/bin/nsenter",
                [
                    "-t", "\(machines.processIdentifier)", "-U", "-n", "--preserve-credentials",
                    Workshop.built("tryckd"),
                    "--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state"),
                    "--control-socket", workshop.controlSocket, "--log-level", "debug",
                ])

            try workshop.wait { try states() == ["ready", "ready"] }
            let pair = try workshop.tryck(["pair", "--radio", "shed", "--time", "30"])
            #expect(try pair.status(within: 60) == 0, "\(pair.text)")
            try daemon.line(containing: "kitchen is ready, through shed")
            buttons.write("kitchen click")
            try workshop.wait { try pressCount() == 1 }
        }

        func states() throws -> [String?] {
            let program = try workshop.tryck(["radios", "--json"])
            _ = try program.status()
            return try JSONValue(parsing: Array(program.text.utf8)).arrayValue?.map { $0["state"]?.stringValue } ?? []
        }

        func pressCount() throws -> JSONValue? { try ButtonCommandTests.shown(workshop, "kitchen")["press_count"] }
        func radio() throws -> String? { try ButtonCommandTests.shown(workshop, "kitchen")["radio"]?.stringValue }

        /// Runs a command on the daemon's machine.
        func run(_ command: String) throws {
            machines.write(command)
            try machines.line(containing: "done: \(command)")
        }
    }

    @Test("its button is taken over by the other adapter when the network is cut, no press is lost, and it comes back")
    func cutNetwork() throws {
        let house = try House()
        try house.run("ip link set hall down")
        // This press waits in the button, because its link has no other end.
        house.buttons.write("kitchen click")
        try house.daemon.line(containing: "ended: TimeoutError")
        try house.buttons.line(containing: "kitchen: disconnected")
        house.buttons.write("kitchen click")
        try house.daemon.line(containing: "kitchen is ready, through cellar")
        try house.workshop.wait { try house.pressCount() == 3 }
        #expect(try house.states() == ["failed", "ready"] && house.radio() == "cellar")

        try house.run("ip link set hall up")
        try house.workshop.wait { try house.states() == ["ready", "ready"] }
        house.buttons.write("kitchen hold")
        try house.workshop.wait { try house.pressCount() == 4 }
        #expect(try house.radio() == "cellar")
        house.daemon.stop()
    }

    /// The controller of a lender that has stopped keeps the link, and takes the press from the button. When the lender ends, RootCanal
    /// ends the link with the reason "remote device terminated connection due to power off". For a button that is as if the host
    /// had ended the link: it does not advertise until it is pressed again, and then sends both presses. A controller that is
    /// switched off sends nothing, so a real button notices a lost link, and advertises by itself.
    @Test("a press that a stopped lender has not passed on stays in the button, and comes with the next one")
    func stoppedLender() throws {
        let house = try House()
        // The machines have a process namespace of their own.
        try house.run("pkill -STOP -x tryck")
        house.buttons.write("kitchen click")
        try house.buttons.line(containing: "click done")
        try house.run("ip link set hall down")
        try house.daemon.line(containing: "ended: TimeoutError")
        #expect(try house.pressCount() == 1)
        try house.run("pkill -KILL -x tryck")
        try house.buttons.line(containing: "kitchen: disconnected")
        house.buttons.write("kitchen click")
        try house.daemon.line(containing: "kitchen is ready, through cellar")
        try house.workshop.wait { try house.pressCount() == 3 }
        house.daemon.stop()
    }
}
