import Foundation
import JSON
import Testing

/// An adapter that `tryck hci` lends through OpenSSH. The server serves one connection, on its standard input and output, so there is no
/// port, and the keys of both ends are made for the test.
@Suite("An adapter behind ssh", .serialized, .ownThread)
struct SecureShellTests {
    /// Becomes the server of the configuration `$1`, and first writes its process number to the file `$2`. A server of root wants an
    /// empty directory that the machine's own service would create; here it is in a file system that only the server sees.
    private static let server = """
        echo $$ >"$2"
        [ "$(id -u)" -eq 0 ] || exec /usr/sbin/sshd -i -f "$1"
        exec unshare --mount sh -ec 'mount -t tmpfs none /run; mkdir -m 755 /run/sshd; exec /usr/sbin/sshd -i -f "$1"' sh "$1"
        """

    private let workshop: Workshop

    init() throws { workshop = try Workshop() }

    /// The words that lend the adapter at the socket `air`, as `deploy/README.md` advises them, with files of the test only.
    private func words() throws -> [String] {
        for name in ["host", "user"] {
            let program = try workshop.start(
                "/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", workshop.path(name)])
            #expect(try program.status() == 0, "\(program.text)")
        }
        let hostKey = try String(contentsOfFile: workshop.path("host.pub"), encoding: .utf8)
        try workshop.write("known_hosts", "shed \(hostKey)")
        let configuration = try workshop.write(
            "sshd_config",
            """
            HostKey \(workshop.path("host"))
            AuthorizedKeysFile \(workshop.path("user.pub"))
            StrictModes no
            UsePAM no
            LogLevel QUIET
            ClientAliveInterval 5

            """)
        let server = try workshop.write("server", Self.server)
        let shim = try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so")
        let options = [
            "BatchMode=yes", "ServerAliveInterval=5", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes",
            "UserKnownHostsFile=\(workshop.path("known_hosts"))", "GlobalKnownHostsFile=none",
            // The processes of the server are a group, which a test can end at once.
            "ProxyCommand=setsid sh \(server) \(configuration) \(workshop.path("server.pid"))",
        ]
        let lend = [
            "env", "HCI_SHIM=\(workshop.path("air"))", "LD_PRELOAD=\(shim)", "'\(Workshop.built("tryck"))'", "hci", "0",
        ]
        return ["ssh", "-F", "none", "-T", "-i", workshop.path("user")] + options.flatMap { ["-o", $0] }
            + ["shed"] + lend
    }

    private func pressCount() throws -> JSONValue? { try ButtonCommandTests.shown(workshop, "kitchen")["press_count"] }

    @Test("a button pairs and is pressed, and when the server dies, its next press comes through a new connection")
    func serverDies() throws {
        let (buttons, root) = try RemoteAdapterTests.buttonsAtSocket(in: workshop)
        let command = JSONValue.array(try words().map { .string($0) })
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: {command: \(command)}, trust_roots: ["\(root)"]}
            mqtt: {broker: none}
            """)
        let daemon = try workshop.daemon()
        try daemon.line(containing: "on command:ssh is ready")
        let pair = try workshop.tryck(["pair", "--time", "30"])
        #expect(try pair.status(within: 60) == 0, "\(pair.text)")
        try daemon.line(containing: "kitchen is ready")
        buttons.write("kitchen click")
        try workshop.wait { try pressCount() == 1 }

        let text = try String(contentsOfFile: workshop.path("server.pid"), encoding: .utf8)
        let server = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(-server, SIGKILL) == 0)
        try daemon.line(containing: "Trying again")
        // `tryck hci` has ended without being told, so the links of the adapter have ended, too.
        try buttons.line(containing: "kitchen: disconnected")
        buttons.write("kitchen click")
        try daemon.line(containing: "kitchen is ready")
        try workshop.wait { try pressCount() == 2 }
        buttons.write("kitchen hold")
        try workshop.wait { try pressCount() == 3 }
        daemon.stop()
    }
}
