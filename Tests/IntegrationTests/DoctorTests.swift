import Foundation
import JSON
import Testing

/// Faults planted in a real house, and what `tryck doctor` says of them.
@Suite("The doctor", .serialized)
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

    /// The findings that are not well, by their check.
    private func problems(_ more: [String] = []) throws -> [String: (sentence: String, mend: String)] {
        let doctor = try workshop.tryck(arguments + ["--json"] + more)
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

    @Test("with a daemon, a broker and good rules all is well; with broken rules it is not, and a check names them")
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

    @Test("no daemon, and no Bluetooth in the kernel or no adapter")
    func adapter() throws {
        try configure("{broker: none}", transport: "auto")
        let found = try problems()
        #expect(Set(found.keys) == ["daemon", "adapter"])
        #expect(found["daemon"]?.mend == "tryck run --config \(workshop.path("tryck.yaml"))")
        let expected = ["sudo modprobe bluetooth", "lsusb"]
        #expect(expected.contains(found["adapter"]?.mend ?? ""), "\(found)")
    }

    @Test("a broker that is down, and one that does not take the password")
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

    @Test("a state directory with a file in its way, one that is open to others, and one with a damaged database")
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

    @Test("a state directory that cannot be written")
    func notWritable() throws {
        try configure("{broker: none}")
        // Root writes everywhere but in the kernel's own file systems; anybody else does not write there either.
        let found = try #require(try problems(["--state-directory", "/proc/1"])["state"])
        #expect(found.mend.hasPrefix("sudo chown -R "), "\(found)")
    }

    @Test("a report holds what was found and the daemon's answer, and neither password, secret nor home")
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
            let doctor = try workshop.start(
                Workshop.built("tryck"),
                arguments + [
                    "--control-socket", workshop.path("control.sock"), "--report", workshop.path("report.txt"),
                ],
                environment: ["NO_COLOR": "1", "HOME": workshop.directory.path])
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
        for text in [good, bad] {
            for word in ["4711", "0815"] { #expect(!text.contains(word), "\(text)") }
        }
        #expect(!good.contains(workshop.directory.path), "\(good)")
        let mode = try FileManager.default.attributesOfItem(atPath: workshop.path("report.txt"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }
}
