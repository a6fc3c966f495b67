import Foundation
import JSON
import Testing

/// Faults in a real installation, and the findings of `tryck doctor`.
@Suite("tryck doctor", .serialized, .ownThread)
struct DoctorTests {
    private static let rules = """
        version: 1
        rules:
          - id: light
            triggers: {button: any, event: click}
            actions: {publish: {topic: light, payload: !secret word}}
        """

    private let workshop: Workshop

    init() throws {
        workshop = try Workshop()
        try FileManager.default.createDirectory(
            at: workshop.directory.appending(path: "rules"), withIntermediateDirectories: true)
        try workshop.write("rules/home.yaml", Self.rules)
        try workshop.write("rules/secrets.yaml", "word: copper-4711\n")
        try workshop.write("simulator.yaml", "buttons:\n  kitchen: {address: \"80:E4:DA:00:00:01\"}\n")
        try workshop.write("tryck.yaml", "")
        for name in ["rules/secrets.yaml", "tryck.yaml"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: workshop.path(name))
        }
    }

    private func configure(_ broker: String, transport: String = "simulated:simulator.yaml") throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: workshop.path("tryck.yaml")))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data("bluetooth: {transport: \"\(transport)\"}\nmqtt: \(broker)\n".utf8))
        try handle.close()
    }

    private var arguments: [String] {
        ["doctor", "--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state")]
    }

    /// The findings that are not ok, by check.
    ///
    /// - Parameter script: shell commands that run first, with mounts and processes that no other test sees.
    private func problems(
        _ more: [String] = [], after script: String? = nil, environment: [String: String] = [:]
    ) throws -> [String: (sentence: String, mend: String)] {
        let words = arguments + ["--json"] + more
        let doctor: Program
        if let script {
            let confined = [
                "-rmpf", "--mount-proc", "sh", "-ec", script + "\nexec \"$0\" \"$@\"", Workshop.built("tryck"),
            ]
            let all = confined + words + ["--control-socket", workshop.path("control.sock")]
            doctor = try workshop.start("/usr/bin/unshare", all, environment: environment)
        } else {
            doctor = try workshop.tryck(words)
        }
        let status = try doctor.status()
        let answer = try JSONValue(parsing: doctor.text)
        #expect(answer["ok"]?.boolValue == (status == 0), "\(doctor.text)")
        var problems: [String: (sentence: String, mend: String)] = [:]
        for finding in answer["findings"]?.arrayValue ?? [] where finding["state"] != "ok" {
            problems[finding["check"]?.stringValue ?? ""] = (
                finding["sentence"]?.stringValue ?? "", finding["mend"]?.stringValue ?? ""
            )
        }
        return problems
    }

    @Test("with a daemon, a broker and good rules there is no finding, and broken rules are found")
    func rules() throws {
        try configure("{broker: \"mqtt://127.0.0.1:\(workshop.mosquitto())\"}")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is running")
        try workshop.wait { try problems().isEmpty }
        let text = try workshop.tryck(arguments)
        #expect(try text.status() == 0)
        #expect(text.text.contains("✓ database       in use by the daemon"), "\(text.text)")

        try workshop.write("rules/home.yaml", Self.rules.replacingOccurrences(of: "click", with: "clack"))
        let found = try #require(try problems()["rules"])
        #expect(found.sentence.contains("rules/home.yaml has 1 error, the first at 4:"), "\(found)")
        #expect(found.mend == "tryck check \(workshop.path("rules/home.yaml"))")
    }

    @Test("no daemon; no Bluetooth in the kernel; no adapter")
    func adapter() throws {
        try configure("{broker: none}", transport: "auto")
        let found = try problems()
        #expect(Set(found.keys) == ["daemon", "adapter", "rules"])
        // The rule publishes, and there is no broker (W710).
        #expect(found["rules"]?.sentence.contains("1 warning") == true, "\(found)")
        #expect(found["daemon"]?.mend == "tryck run --config \(workshop.path("tryck.yaml"))")
        let expected = ["sudo modprobe bluetooth", "lsusb"]
        #expect(expected.contains(found["adapter"]?.mend ?? ""), "\(found)")
    }

    @Test("an adapter without permission, in use, switched off or used by BlueZ; and a working one")
    func adapterFaults() throws {
        try configure("{broker: none}", transport: "hci:0")
        let port = try workshop.rootCanal()
        let shim = try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so")
        func found(_ errno: Int32, _ script: String = "") throws -> (sentence: String, mend: String)? {
            try workshop.write("adapter", "0 00:1A:7D:DA:71:13 \(errno)\n")
            return try problems(
                after: script + "\nexport LD_PRELOAD=\(shim)",
                environment: ["HCI_SHIM": "127.0.0.1:\(port)", "HCI_SHIM_STATE": workshop.path("adapter")])["adapter"]
        }
        #expect(try found(0) == nil)
        #expect(try found(EPERM)?.mend.hasPrefix("sudo setcap ") == true)
        #expect(try found(EBUSY)?.sentence.hasPrefix("hci0 is in use by another program") == true)
        #expect(try found(ERFKILL)?.mend == "sudo rfkill unblock bluetooth")
        let daemon = workshop.path("bluetoothd")
        try workshop.copy(program: "/usr/bin/sleep", to: "bluetoothd")
        let running = "\(daemon) 60 >&- 2>&- &\nuntil grep -q bluetoothd /proc/2/comm; do sleep 0.01; done"
        // BlueZ may have another adapter.
        #expect(try found(0, running) == nil)
        try configure("{broker: none}", transport: "auto")
        let ours = try #require(try found(0, running))
        #expect(ours.sentence == "hci0 is in use by BlueZ: bluetoothd is running")
        #expect(ours.mend == "sudo systemctl disable --now bluetooth.service")
    }

    @Test("a broker that is down, and one that rejects the password")
    func broker() throws {
        let free = try Workshop.freePort()
        try configure("{broker: \"mqtt://127.0.0.1:\(free)\"}")
        var found = try #require(try problems()["broker"])
        #expect(found.sentence.contains("127.0.0.1:\(free) was refused"))
        #expect(found.mend == "sudo systemctl restart mosquitto")

        let made = try workshop.start(
            "/usr/bin/mosquitto_passwd", ["-c", "-b", workshop.path("passwords"), "ada", "right"])
        #expect(try made.status() == 0)
        let port = try workshop.mosquitto("allow_anonymous false\npassword_file \(workshop.path("passwords"))")
        try configure("{broker: \"mqtt://127.0.0.1:\(port)\", username: ada, password: wrong}")
        found = try #require(try problems()["broker"])
        #expect(found.sentence.contains("refuses this user name or password"))
        #expect(found.mend == "${EDITOR:-nano} \(workshop.path("tryck.yaml"))")

        try configure("{broker: \"mqtt://127.0.0.1:\(port)\", username: ada, password: right}")
        #expect(try problems()["broker"] == nil)
    }

    @Test("a broker whose certificate another authority has signed")
    func authority() throws {
        for name in ["broker", "other"] {
            let made = try workshop.start(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", workshop.path("\(name).key"), "-out",
                    workshop.path("\(name).pem"), "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost",
                ])
            #expect(try made.status() == 0, "\(made.text)")
        }
        let port = try workshop.mosquitto(
            "allow_anonymous true\ncertfile \(workshop.path("broker.pem"))\nkeyfile \(workshop.path("broker.key"))")
        try configure("{broker: \"mqtts://localhost:\(port)\", tls: {ca: other.pem}}")
        let found = try #require(try problems()["broker"])
        #expect(found.sentence.contains("not signed by a trusted authority"), "\(found)")
        try configure("{broker: \"mqtts://localhost:\(port)\", tls: {ca: missing.pem}}")
        #expect(try problems()["broker"]?.mend == "ls -l \(workshop.path("missing.pem"))")
        try configure("{broker: \"mqtts://localhost:\(port)\", tls: {ca: broker.pem}}")
        #expect(try problems()["broker"] == nil)
    }

    @Test("a state directory whose path is a file, one with open permissions, and one with a damaged database")
    func stateDirectory() throws {
        try configure("{broker: none}")
        try workshop.write("file", "")
        func state(_ name: String) throws -> (sentence: String, mend: String)? {
            try problems(["--state-directory", workshop.path(name)])["state"]
        }
        #expect(try state("none") == nil)
        for name in ["file", "file/state", "file/a/b"] {
            #expect(try state(name)?.mend == "mv \(workshop.path("file")) \(workshop.path("file.old"))")
        }
        let directory = workshop.path("state")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
        #expect(try state("state")?.mend == "chmod 700 \(directory)")
        try workshop.write("state/tryck.sqlite", String(repeating: "not a database ", count: 100))
        #expect(try problems()["database"]?.sentence.contains("is damaged") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["tryck.sqlite"])
    }

    @Test("a full disk, a read-only file system, and a limit on file sizes")
    func fullDisk() throws {
        try configure("{broker: none}")
        let state = workshop.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let small = "mount -t tmpfs -o size=64k,mode=700 none \(state)"
        let room = try problems(after: "\(small)\nhead -c 30000 /dev/zero >\(state)/other")
        #expect(room["space"]?.sentence.hasPrefix("0 MiB are free for \(state)") == true, "\(room)")
        #expect(room["state"] == nil)
        let full = try problems(after: "\(small)\nhead -c 100000 /dev/zero >\(state)/other 2>/dev/null || true")
        #expect(full["state"]?.sentence == "nothing can be written to \(state): No space left on device", "\(full)")
        #expect(full["state"]?.mend == "sudo journalctl --vacuum-size=50M")
        #expect(full["space"] == nil)
        let limited = try problems(after: "chmod 700 \(state)\ntrap '' XFSZ\nulimit -f 0")
        #expect(limited["state"]?.sentence == "nothing can be written to \(state): File too large", "\(limited)")
        let readOnly = try problems(after: "\(small) -o ro")
        #expect(readOnly["state"]?.mend == "sudo mount -o remount,rw \"$(stat -c %m \(state))\"", "\(readOnly)")
    }

    @Test("a clock that is earlier than the release of this version")
    func clock() throws {
        try configure("{broker: none}")
        let source = try workshop.write(
            "clock.c",
            """
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                if (clock != CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, time);
                *time = (struct timespec){.tv_sec = 946684800};
                return 0;
            }
            """)
        let shim = workshop.path("clock.so")
        let made = try workshop.start("/usr/bin/cc", ["-shared", "-fPIC", "-D_GNU_SOURCE", "-o", shim, source])
        #expect(try made.status() == 0, "\(made.text)")
        let found = try #require(try problems(after: "export LD_PRELOAD=\(shim)")["clock"])
        #expect(found.sentence.hasPrefix("it shows 2000-01-01T00:00:00.000Z"), "\(found)")
        #expect(found.mend == "sudo timedatectl set-ntp true")
        #expect(try problems()["clock"] == nil)
    }

    @Test("a state directory of another user, one of root for a service, and one with a file of root")
    func owners() throws {
        try configure("{broker: none}")
        let state = workshop.path("state"), isRoot = geteuid() == 0
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        // In a user namespace, root has no rights to files of other users.
        if isRoot {
            try FileManager.default.setAttributes(
                [.ownerAccountID: 65534, .posixPermissions: 0o700], ofItemAtPath: state)
        }
        let foreign = isRoot ? state : "/usr"
        let denied = try #require(try problems(["--state-directory", foreign], after: ":")["state"])
        #expect(denied.sentence == "\(foreign) is not writable for root: Permission denied")
        #expect(denied.mend == "sudo chown -R root \(foreign)")

        let service = """
            printf 'root:x:0:0::/:/bin/sh\\ntryck:x:990:990::/:/bin/false\\n' >passwd
            mount --bind passwd /etc/passwd
            mount -t tmpfs none /var/lib
            mkdir -m 700 /var/lib/tryck
            """
        let roots = try #require(try problems(["--state-directory", "/var/lib/tryck"], after: service)["state"])
        #expect(roots.sentence == "/var/lib/tryck belongs to root, but the service runs as tryck")
        #expect(roots.mend == "sudo chown -R tryck /var/lib/tryck")

        let mixed = workshop.path("mixed")
        try FileManager.default.createDirectory(atPath: mixed, withIntermediateDirectories: true)
        try workshop.write("mixed/tryck.lock", "")
        if isRoot {
            try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: mixed + "/tryck.lock")
        }
        let left = try problems(
            ["--state-directory", mixed], after: isRoot ? ":" : "mount --bind /etc/passwd \(mixed)/tryck.lock")["state"]
        #expect(
            left?.sentence.hasPrefix("\(mixed)/tryck.lock belongs to nobody, but the daemon runs as root") == true,
            "\(left as Any)")
        #expect(left?.mend == "sudo chown -R root \(mixed)")
    }

    @Test("a state directory that cannot be written")
    func notWritable() throws {
        try configure("{broker: none}")
        // Root can write everywhere except in the kernel's own file systems; other users cannot write there either.
        let found = try #require(try problems(["--state-directory", "/proc/1"])["state"])
        #expect(found.mend.hasPrefix("sudo chown -R "), "\(found)")
    }

    @Test("--report does not replace a file or follow a link")
    func takenReport() throws {
        try configure("{broker: none}")
        try workshop.write("kept", "kept")
        try FileManager.default.createSymbolicLink(
            atPath: workshop.path("report.txt"), withDestinationPath: workshop.path("kept"))
        for name in ["kept", "report.txt"] {
            let doctor = try workshop.start(Workshop.built("tryck"), arguments + ["--report", workshop.path(name)])
            #expect(try doctor.status() == 64, "\(doctor.text)")
            #expect(
                doctor.text.contains("\(name) already exists. Specify another file, or remove it."), "\(doctor.text)")
        }
        #expect(try String(contentsOfFile: workshop.path("kept"), encoding: .utf8) == "kept")
    }

    @Test("a report contains the findings and the daemon's status, and no password, secret or home directory")
    func report() throws {
        let made = try workshop.start(
            "/usr/bin/mosquitto_passwd", ["-c", "-b", workshop.path("passwords"), "ada", "brass-0815"])
        #expect(try made.status() == 0)
        let port = try workshop.mosquitto("allow_anonymous false\npassword_file \(workshop.path("passwords"))")
        try configure("{broker: \"mqtt://127.0.0.1:\(port)\", username: ada, password: brass-0815}")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is running")
        let paired = try workshop.tryck(["pair", "--time", "60"])
        try paired.line(containing: "kitchen")
        func report() throws -> String {
            try? FileManager.default.removeItem(atPath: workshop.path("report.txt"))
            let doctor = try workshop.start(
                Workshop.built("tryck"),
                arguments + [
                    "--control-socket", workshop.path("control.sock"), "--report", workshop.path("report.txt"),
                ],
                environment: [
                    "NO_COLOR": "1", "HOME": workshop.directory.path, "PATH": workshop.path("bin") + ":/usr/bin:/bin",
                ])
            _ = try doctor.status()
            return try String(contentsOf: workshop.directory.appending(path: "report.txt"), encoding: .utf8)
                + doctor.text.split(separator: "\n").filter { $0.hasPrefix("✗") }.joined()
        }
        let good = try report()
        #expect(good.contains("tryck 0.") && good.contains("Linux ") && good.contains(#""broker":"#), "\(good)")
        try workshop.write(
            "rules/home.yaml",
            Self.rules.replacingOccurrences(of: "id: light", with: "mode: !secret word\n    id: light"))
        let bad = try report()
        #expect(bad.contains("problem  rules"), "\(bad)")

        // Mistakes beside secrets, and the journal of a daemon that has read them.
        daemon.stop()
        try workshop.write("rules/secrets.yaml", "word copper-4711\n")
        try workshop.write(
            "tryck.yaml", "mqtt:\n  broker: \"mqtt://ada:zinc-1234@127.0.0.1:1\"\n  pasword: brass-0815\n")
        let failed = try workshop.daemon()
        #expect(try failed.status() == 78)
        try workshop.write("journal", failed.text + "\n")
        try FileManager.default.createDirectory(atPath: workshop.path("bin"), withIntermediateDirectories: true)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: try workshop.write("bin/journalctl", "#!/bin/sh\nexec cat \(workshop.path("journal"))\n"))
        let slips = try report()
        #expect(slips.contains("tryck.yaml has 2 errors, the first at 2:11 (E204)"), "\(slips)")
        #expect(slips.contains("a broker's address cannot contain a user name or a password"), "\(slips)")
        for text in [good, bad, slips] {
            for word in ["4711", "0815", "1234"] { #expect(!text.contains(word), "\(text)") }
        }
        #expect(!good.contains(workshop.directory.path), "\(good)")
        let mode = try FileManager.default.attributesOfItem(atPath: workshop.path("report.txt"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }
}
