import ControlClient
import Foundation
import JSON
import Platform
import Setup
import Testing

/// The protection of a running daemon by the kernel.
@Suite("Protection of the process", .serialized, .ownThread)
struct HardenedProcessTests {
    @Test("other programs of the same user cannot inspect the daemon, and it ignores SIGXFSZ and SIGPIPE")
    func process() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\n")
        let ordinary: uid_t = geteuid() == 0 ? 65_534 : geteuid()
        for place in [workshop.directory.path, workshop.path("tryck.yaml")] {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place)
        }
        let words = [
            Workshop.built("tryckd"), "--config", workshop.path("tryck.yaml"), "--state-directory",
            workshop.path("state"), "--control-socket", workshop.path("control.sock"),
        ]
        // Root's files in /proc look the same with and without the protection.
        let daemon =
            geteuid() == 0
            ? try workshop.start("/usr/bin/setpriv", ["--reuid", "\(ordinary)", "--clear-groups"] + words)
            : try workshop.start(words[0], Array(words.dropFirst()))
        try daemon.line(containing: "is running")
        let place = "/proc/\(daemon.processIdentifier)"
        func owner() -> uid_t {
            var status = stat()
            return stat(place + "/environ", &status) == 0 ? status.st_uid : .max
        }
        #expect(owner() == 0, "the kernel gives what cannot be dumped to root")
        // The daemon still finds its own program.
        let client = try ControlClient(path: workshop.path("control.sock"))
        try client.send(Array(#"{"request":"restart"}"#.utf8))
        try daemon.line(containing: "tryckd restarts")
        try daemon.line(containing: "is running")
        #expect(owner() == 0)
        let lines = try String(contentsOfFile: place + "/status", encoding: .utf8).split(separator: "\n")
        let ignored = try #require(lines.first { $0.hasPrefix("SigIgn:") }?.split(separator: "\t").last)
        let mask = try #require(UInt64(ignored, radix: 16))
        #expect(mask >> (UInt64(SIGXFSZ) - 1) & 1 == 1)
        #expect(mask >> (UInt64(SIGPIPE) - 1) & 1 == 1)
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
    }

    /// `tryck` must not get the capability from a `tryckd` that has it from its own file.
    @Test(
        "a tryckd that would lose its capability by executing tryck says so, exit status 78", arguments: [true, false])
    func capability(isInFile: Bool) throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: auto}\nmqtt: {broker: embedded}\n")
        for name in ["tryckd", "tryck"] {
            try workshop.copy(program: Workshop.built(name), to: name)
        }
        // Whoever runs the tests is root in a user namespace of their own, and may give the capability to a file there. In
        // another one below it, the daemon has an ordinary user.
        let setCapability = isInFile ? "/usr/sbin/setcap cap_net_admin+ep ./tryckd && " : ""
        let script = """
            \(setCapability)exec unshare --user --map-user=1000 --map-group=1000 ./tryckd --config tryck.yaml \
            --state-directory state --control-socket control.sock
            """
        let daemon = try workshop.start(
            "/usr/bin/unshare", ["--user", "--map-root-user", "/bin/sh", "-c", script])
        guard isInFile else {
            try daemon.line(containing: "is running")
            return
        }
        #expect(try daemon.status() == 78, "\(daemon.text)")
        #expect(daemon.text.contains("mqtt.broker: embedded needs the program tryck, which may not open an adapter"))
        #expect(daemon.text.contains("set mqtt.broker to mqtt://localhost:1883"), "\(daemon.text)")
    }

    /// Only root may read the memory map of a process that is protected. Without `linux_trim_stack`, it has 112 KiB of stack.
    @Test("when it is ready, the daemon has given the stack of its start back", .enabled(if: geteuid() == 0))
    func stack() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is running")
        try workshop.wait {
            // Foundation does not read this file to its end.
            let file = try FileText(reading: "/proc/\(daemon.processIdentifier)/smaps")
            let lines = String(decoding: file.octets, as: UTF8.self).split(separator: "\n")
                .drop { !$0.hasSuffix("[stack]") }
            let size = try #require(lines.first { $0.hasPrefix("Rss:") }).split(separator: " ")
            return try #require(Int(size[1])) <= 80
        }
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
    }

    /// With simulated buttons, `tryckd` executes `tryck daemon`.
    @Test("every build contains its commit", arguments: ["tryckd", "tryck"])
    func commit(program: String) throws {
        let house = try RuleHouse("version: 1\nrules: []\n", hasButton: program == "tryck")
        let info = try house.retained("tryck/bridge/info")
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").path
        func git(_ words: String...) throws -> String? {
            let git = try house.workshop.start("/usr/bin/git", ["-C", repository] + words)
            return try git.status() == 0 ? git.text.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        }
        let commit = try #require(JSONValue(parsing: Array(info.utf8))["commit"]?.stringValue)
        // Sources without a repository have no commit.
        guard let head = try git("rev-parse", "--short=8", "HEAD") else {
            #expect(commit == "")
            return
        }
        let built =
            try FileManager.default.attributesOfItem(atPath: Workshop.built(program))[.modificationDate] as? Date
        let committed = try #require(git("log", "-1", "--format=%ct", "HEAD").flatMap { Double($0) })
        if try #require(built).timeIntervalSince1970 >= committed {
            #expect(commit == head)
        } else {
            // The program was built before the last commit, and from one of those before it.
            #expect(commit.count == head.count)
            #expect(try git("merge-base", "--is-ancestor", commit, "HEAD") != nil, "\(commit)")
        }
    }

    @Test("commands find the control socket in the tryck.yaml that they find")
    func configuredSocket() throws {
        let workshop = try Workshop()
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: none}\nmqtt: {broker: none}\ncontrol_socket: own.sock\nstate_directory: state\n")
        let daemon = try workshop.start(Workshop.built("tryckd"), ["--config", workshop.path("tryck.yaml")])
        try daemon.line(containing: "commands reach it at \(workshop.path("own.sock"))")
        let here = try workshop.start(Workshop.built("tryck"), ["buttons", "--json"], environment: ["NO_COLOR": "1"])
        #expect(try here.status() == 0, "\(here.text)")
        #expect(here.text == "[]")
        // A secret that members of the group cannot read and errors in other keys do not prevent that.
        try FileManager.default.createDirectory(atPath: workshop.path("other"), withIntermediateDirectories: true)
        try workshop.write(
            "other/tryck.yaml",
            "mqtt: {broker: 7, password: !secret unreadable}\ncontrol_socket: \(workshop.path("own.sock"))\nodd: 1\n")
        let named = try workshop.start(
            Workshop.built("tryck"), ["buttons", "--json"],
            environment: ["NO_COLOR": "1", "TRYCK_CONFIG": workshop.path("other/tryck.yaml")])
        #expect(try named.status() == 0, "\(named.text)")
    }
}
