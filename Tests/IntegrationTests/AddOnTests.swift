import Foundation
import JSON
import Testing

/// The start script of the Home Assistant add-on with a small fake Supervisor, and the daemon that the script becomes.
@Suite("The Home Assistant add-on", .serialized, .ownThread)
struct AddOnTests {
    private let workshop: Workshop

    init() throws {
        workshop = try Workshop()
        for name in ["data", "files"] {
            try FileManager.default.createDirectory(
                at: workshop.directory.appending(path: name), withIntermediateDirectories: true)
        }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../deploy/homeassistant/addon").standardized

    private static let supervisor = """
        import http.server, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                isGood = self.path == "/services/mqtt" and self.headers["Authorization"] == "Bearer tin-9911"
                self.send_response(200 if isGood else 400)
                self.end_headers()
                self.wfile.write(open(sys.argv[1], "rb").read() if isGood else b'{"result":"error"}')
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print("listening at", server.server_port)
        server.serve_forever()
        """

    /// Starts what the Supervisor starts.
    ///
    /// - Parameter programs: the directory of the program `tryckd`.
    private func addOn(
        _ options: String, supervisor: Int? = nil, programs: String? = nil, user: String = "root", page: Int? = nil,
        runtime: String? = nil
    ) throws -> Program {
        try workshop.write("data/options.json", options)
        let path = programs ?? URL(filePath: Workshop.built("tryckd")).deletingLastPathComponent().path
        return try workshop.start(
            "/bin/sh", [Self.folder.appending(path: "run.sh").path],
            environment: [
                "TRYCK_ADDON_DATA": workshop.path("data"), "TRYCK_ADDON_FILES": workshop.path("files"),
                "TRYCK_SUPERVISOR": "http://127.0.0.1:\(try supervisor ?? Workshop.freePort())",
                "TRYCK_EXAMPLES": Self.folder.appending(path: "../../debian").path, "SUPERVISOR_TOKEN": "tin-9911",
                "TRYCK_ADDON_USER": user, "TRYCK_ADDON_PAGE": "127.0.0.1:\(try page ?? Workshop.freePort())",
                "RUNTIME_DIRECTORY": runtime ?? workshop.directory.path, "PATH": path + ":/usr/bin:/bin",
            ])
    }

    private func check() throws {
        let check = try workshop.tryck(["check", "--strict", workshop.path("data/tryck.yaml")])
        #expect(try check.status() == 0, "\(check.text)")
    }

    @Test("the broker's address and password come from the Supervisor, and the daemon connects with them")
    func discovered() throws {
        let password = #"it's "{{ brass }}" # \ 0815 é"#
        let made = try workshop.start(
            "/usr/bin/mosquitto_passwd", ["-c", "-b", workshop.path("passwords"), "addons", password])
        #expect(try made.status() == 0)
        let port = try workshop.mosquitto("allow_anonymous false\npassword_file \(workshop.path("passwords"))")
        let data: JSONValue = [
            "result": "ok",
            "data": [
                "host": "127.0.0.1", "port": .integer(Int64(port)), "ssl": false, "username": "addons",
                "password": .string(password), "protocol": "3.1.1",
            ],
        ]
        try workshop.write("mqtt.json", data.description)
        let supervisor = try workshop.start(
            "/usr/bin/python3", ["-u", "-c", Self.supervisor, workshop.path("mqtt.json")])
        let line = try supervisor.line(containing: "listening at")
        let daemon = try addOn(
            #"{"adapter":"none","log_level":"debug"}"#, supervisor: Int(line.split(separator: " ").last ?? ""))
        try daemon.line(containing: "is running")
        try workshop.wait { try status()["broker"]?["state"] == "connected" }
        #expect(try status()["rules"]?["state"] == "ok")
        try check()
        let attributes = try FileManager.default.attributesOfItem(atPath: workshop.path("data/tryck.yaml"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(FileManager.default.fileExists(atPath: workshop.path("data/state/tryck.sqlite")))
        #expect(!daemon.text.contains("0815") && !daemon.text.contains("tin-9911"))
        // The script has become the daemon, so the Supervisor stops the daemon itself.
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
    }

    @Test("the page is there for the Supervisor alone, and ends with the daemon")
    func page() throws {
        let port = try Workshop.freePort()
        let daemon = try addOn(#"{"adapter":"none","broker":"none"}"#, page: port)
        try workshop.wait {
            daemon.text.contains("is running") && daemon.text.contains("tryck-web listens on 127.0.0.1:\(port)")
        }
        let answer = try workshop.start("/usr/bin/curl", ["-sS", "http://127.0.0.1:\(port)/"])
        try answer.line(containing: "only Home Assistant's ingress is let in")
        let configuration = try JSONValue(
            parsing: Array(Data(contentsOf: URL(filePath: workshop.path("data/tryck.yaml")))))
        let link = try #require(configuration["web"]?["url"]?.stringValue)
        #expect(link.hasPrefix("homeassistant://hassio/ingress/") && !link.contains("-"))
        let page = try #require(processes(of: "tryck-web").first)
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
        try workshop.wait { kill(page, 0) != 0 }
    }

    /// The processes of this program whose configuration is that of the add-on.
    private func processes(of program: String) throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { process in
            let arguments = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
            return arguments.hasPrefix("\(program)\0") && arguments.contains(workshop.path("data/tryck.yaml"))
        }
    }

    @Test("the add-on uses the broker in its options, and leaves out empty options")
    func named() throws {
        let port = try workshop.mosquitto()
        let daemon = try addOn(
            #"{"adapter":"none","broker":"mqtt://127.0.0.1:\#(port)","username":"","log_level":"info"}"#)
        try daemon.line(containing: "is running")
        try workshop.wait { try status()["broker"]?["state"] == "connected" }
        try check()
        try workshop.write("files/rules/home.yaml", "version: 1\n")
        daemon.stop()
        let again = try addOn(#"{"adapter":"none","broker":"none","log_level":"info"}"#)
        try again.line(containing: "is running")
        #expect(try String(contentsOfFile: workshop.path("files/rules/home.yaml"), encoding: .utf8) == "version: 1\n")
    }

    @Test("without a broker the add-on says so and starts, and it uses a tryck.yaml of the user")
    func neither() throws {
        let daemon = try addOn(#"{"adapter":"none","log_level":"info"}"#)
        try daemon.line(containing: "There is no MQTT broker")
        try daemon.line(containing: "is running")
        try check()
        #expect(try status()["ok"] == true)
        daemon.stop()
        try workshop.write("files/tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none, base_topic: own}\n")
        let own = try addOn(#"{"adapter":"none","log_level":"info"}"#)
        try own.line(containing: "The options are ignored")
        try own.line(containing: "is running")
    }

    @Test("the daemon of the add-on, and so each program of a rule, has neither root nor the token of the Supervisor")
    func privileges() throws {
        let program = """
            #!/bin/sh
            echo user $(id -un), groups $(id -Gn), token ${SUPERVISOR_TOKEN-none}
            echo state $(stat -c %U "$4")

            """
        try workshop.write("tryckd", program)
        for path in [".", "data", "tryckd"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workshop.path(path))
        }
        let user = getuid() == 0 ? "nobody" : NSUserName()
        let daemon = try addOn(
            #"{"adapter":"none","broker":"none"}"#, programs: workshop.directory.path, user: "nobody")
        let line = try daemon.line(containing: "token")
        #expect(line.hasPrefix("user \(user), ") && line.hasSuffix("token none") && !line.contains("root"), "\(line)")
        #expect(try daemon.line(containing: "state") == "state \(user)")
        #expect(try daemon.status() == 0)
        // The shell that would start the page again ends with the daemon, although the daemon is not root.
        try workshop.wait { try processes(of: "sh").isEmpty }
    }

    @Test("a new container of the add-on finds the record ring and the reserve of the old one")
    func newContainer() throws {
        let image = try String(contentsOf: Self.folder.appending(path: "Dockerfile"), encoding: .utf8)
        let setting = try #require(image.firstMatch(of: /RUNTIME_DIRECTORY=(\S+)/))
        let runtime = setting.1
        // Of a container of the add-on, only /data stays.
        #expect(runtime.hasPrefix("/data/"), "\(runtime)")
        #expect(image.contains("ln -s \(runtime) /run/tryck"))
        let directory = workshop.path(String(runtime.dropFirst()))
        let daemon = try addOn(#"{"adapter":"none","broker":"none"}"#, runtime: directory)
        try daemon.line(containing: "is running")
        daemon.signal(SIGKILL)
        _ = try daemon.status()
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(files.contains { $0.hasPrefix("tryck.ring-") } && files.contains { $0.hasPrefix("tryck.reserve-") })
    }

    @Test("without a chosen adapter the add-on takes none")
    func noAdapter() throws {
        let daemon = try addOn(#"{"adapter":null,"broker":"none"}"#)
        #expect(try daemon.status() == 78)
        #expect(daemon.text.contains("Choose a Bluetooth adapter"))
    }

    @Test("every option has a default or is optional, and has a name and a description")
    func options() throws {
        func text(_ name: String) throws -> [String] {
            try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8).components(separatedBy: "\n")
        }
        func keys(below title: String, in lines: [String], indentation: Int) -> [String] {
            let body = lines.drop { $0 != title }.dropFirst().prefix { $0.hasPrefix(" ") }
            return body.filter { $0.prefix { $0 == " " }.count == indentation }
                .compactMap { $0.split(separator: ":").first.map { $0.trimmingCharacters(in: .whitespaces) } }
        }
        let configuration = try text("config.yaml")
        let schema = keys(below: "schema:", in: configuration, indentation: 2)
        #expect(schema == ["adapter", "broker", "username", "password", "log_level"])
        #expect(keys(below: "configuration:", in: try text("translations/en.yaml"), indentation: 2) == schema)
        let defaults = keys(below: "options:", in: configuration, indentation: 2)
        let required = configuration.drop { $0 != "schema:" }.dropFirst().filter {
            $0.hasPrefix("  ") && !$0.hasSuffix("?")
        }
        #expect(required.count == defaults.count)
        let version = try workshop.start(Workshop.built("tryckd"), ["--version"])
        #expect(try version.status() == 0)
        #expect(configuration.contains("version: \"\(version.text.split(separator: " ").last ?? "")\""))
    }

    private func status() throws -> JSONValue {
        let status = try workshop.tryck(["status", "--json"])
        _ = try status.status()
        return (try? JSONValue(parsing: status.lines.first ?? "")) ?? .null
    }
}
