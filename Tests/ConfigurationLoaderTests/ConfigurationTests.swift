import ButtonModel
import ConfigurationLoader
import Diagnostics
import Rules
import Settings
import Testing
import YAMLFiles

@Suite("What tryck.yaml says")
struct ConfigurationTests {
    private func load(_ text: String, secrets: String? = nil) -> LoadResult<Configuration> {
        let secrets = secrets.map { SourceFile(name: "secrets.yaml", text: Array($0.utf8)) }
        return FileLoader.configuration(
            SourceFile(name: "tryck.yaml", text: Array(text.utf8)), in: FileInputs(secrets: secrets))
    }

    @Test("an empty file is the configuration without a file", arguments: ["", "# nothing\n", "---\n", "{}"])
    func empty(text: String) {
        let loaded = load(text)
        #expect(loaded.diagnostics == [])
        #expect(loaded.value == Configuration())
    }

    @Test(
        "each transport",
        arguments: [
            ("auto", Configuration.Transport.auto), ("none", .none), ("hci:0", .hciIndex(0)),
            ("hci:00:1A:7D:DA:71:13", .hciAddress(BluetoothAddress(rawValue: 0x001A_7DDA_7113))),
            ("bluez", .bluez), ("bluez:1", .bluezIndex(1)),
            ("bluez:00:1A:7D:DA:71:13", .bluezAddress(BluetoothAddress(rawValue: 0x001A_7DDA_7113))),
            ("{command: [ssh, -T, shed, tryck, hci, \"0\"]}", .command(["ssh", "-T", "shed", "tryck", "hci", "0"])),
            ("{command: air}", .command(["air"])),
            ("h4:tcp:localhost:9000", .h4TCP(host: "localhost", port: 9000)),
            ("\"h4:tcp:[::1]:9000\"", .h4TCP(host: "::1", port: 9000)),
            ("h4:unix:/tmp/a b", .h4Unix(path: "/tmp/a b")),
            ("simulated:rules/simulator.yaml", .simulated(path: "rules/simulator.yaml")),
        ])
    func transport(text: String, transport: Configuration.Transport) {
        #expect(load("bluetooth: {transport: \(text)}").value?.transport == transport)
    }

    @Test(
        "what is no transport is refused",
        arguments: [
            "hci", "hci:", "hci:-1", "hci:00", "hci:65535", "h4:tcp:localhost", "h4:tcp::1", "h4:tcp:a:0",
            "h4:tcp:a:65536",
            "h4:unix:", "simulated:", "usb", "",
        ])
    func badTransport(text: String) {
        #expect(load("bluetooth: {transport: \"\(text)\"}").diagnostics.map(\.code) == ["E204"])
    }

    @Test(
        "a transport that is a mapping needs a command with a program",
        arguments: [
            ("{}", "E202"), ("{command: []}", "E212"), ("{command: [\"\"]}", "E203"), ("{command: [{a: b}]}", "E203"),
            ("{program: ssh}", "E201"), ("[ssh]", "E203"),
        ])
    func badCommand(text: String, code: String) {
        #expect(load("bluetooth: {transport: \(text)}").diagnostics.map(\.code).first == code)
    }

    @Test(
        "each broker",
        arguments: [
            ("mqtt://localhost:1883", Configuration.Broker.tcp(host: "localhost", port: 1883, tls: false)),
            ("mqtt://broker", .tcp(host: "broker", port: 1883, tls: false)),
            ("mqtts://broker", .tcp(host: "broker", port: 8883, tls: true)),
            ("mqtts://[fe80::1]:8884", .tcp(host: "fe80::1", port: 8884, tls: true)),
            ("unix:/run/mosquitto.sock", .unix(path: "/run/mosquitto.sock")), ("embedded", .embedded), ("none", .none),
        ])
    func broker(text: String, broker: Configuration.Broker) {
        #expect(load("mqtt: {broker: \"\(text)\"}").value?.broker == broker)
    }

    @Test(
        "what is no broker is refused",
        arguments: [
            "localhost", "mqtt://", "mqtt://user@host", "mqtt://host/path", "tcp://host", "unix:", "mqtt://a b",
            "mqtt://::1",
        ])
    func badBroker(text: String) {
        #expect(load("mqtt: {broker: \"\(text)\"}").diagnostics.map(\.code) == ["E204"])
    }

    @Test("every key reaches its place")
    func everything() {
        var expected = Configuration()
        expected.trustRoots = [Array(repeating: 0xAB, count: 32)]
        expected.maximumConnections = 7
        expected.mqttUsername = "hall"
        expected.mqttPassword = Password("hunter2")
        expected.mqttClientIdentifier = "tryck_hall"
        expected.mqttKeepAlive = .seconds(90)
        expected.mqttVersion = .v311
        expected.tls.authorityPath = "ca.pem"
        expected.tls.certificatePath = "our.pem"
        expected.tls.keyPath = "our.key"
        expected.tls.isInsecure = true
        expected.baseTopic = "home/tryck"
        expected.homeAssistantDiscovery = false
        expected.homeAssistantPrefix = "ha"
        expected.homeAssistantStatusTopic = "ha/status"
        expected.rulesPath = "r.yaml"
        expected.stateDirectory = "state"
        expected.controlSocket = "c.sock"
        expected.flicdListen = HostAndPort(host: "127.0.0.1", port: 5551)
        expected.sources = [HostAndPort(host: "host", port: 5551)]
        expected.forbiddenSteps = [.run, .shell, .http]
        expected.control = .all
        expected.logLevel = .debug
        expected.logFormat = .json
        expected.metricsTextfile = "a.prom"
        expected.web.listen = .tcp(HostAndPort(host: "0.0.0.0", port: 80))
        expected.web.password = Password("hunter2")
        expected.web.editsRules = false
        expected.web.basePath = "/a/b/"
        expected.web.url = "https://box.example/a/b/"
        expected.history = .seconds(30 * 86_400)
        expected.historySize = 16
        let loaded = load(
            """
            bluetooth: {trust_roots: [\(String(repeating: "aB", count: 32))], max_connections: 7}
            mqtt:
              username: hall
              password: !secret mqtt
              client_id: tryck_hall
              keep_alive: 1m30s
              protocol: 3.1.1
              tls: {ca: ca.pem, certificate: our.pem, key: our.key, insecure: true}
              base_topic: home/tryck
            homeassistant: {discovery: false, prefix: ha, status_topic: ha/status}
            rules: r.yaml
            state_directory: state
            control_socket: c.sock
            flicd: {listen: 127.0.0.1:5551}
            sources: [flicd://host:5551]
            actions: {shell: false, run: false, http: false}
            control: {mqtt: all}
            log: {level: debug, format: json}
            metrics: {textfile: a.prom}
            web: {listen: "0.0.0.0:80", password: !secret mqtt, edit_rules: false, base_path: /a/b/, url: "https://box.example/a/b/"}
            history: 30d
            history_size: 16
            """, secrets: "mqtt: hunter2")
        #expect(loaded.value == expected)
        #expect(loaded.diagnostics == [])
    }

    @Test("a secrets.yaml that this user may not read is not said to be missing")
    func hiddenSecrets() {
        let file = SourceFile(name: "tryck.yaml", text: Array("mqtt: {password: !secret mqtt}".utf8))
        var inputs = FileInputs()
        let missing = FileLoader.configuration(file, in: inputs).diagnostics.first
        #expect(missing?.message == "secret \"mqtt\" is not in secrets.yaml")
        #expect(missing?.hint == "create secrets.yaml beside the file, with a line  mqtt: THE SECRET")
        inputs.areSecretsHidden = true
        let hidden = FileLoader.configuration(file, in: inputs).diagnostics.first
        #expect(hidden?.code == "E309" && hidden?.message == "secrets.yaml cannot be read by this user")
        #expect(hidden?.hint == "run the command with sudo; the daemon's user must be able to read it, too")
    }

    @Test("a topic that others are made from may have 128 bytes")
    func topicBound() {
        let topic = String(repeating: "ä", count: 64)
        for key in ["mqtt: {base_topic", "homeassistant: {prefix", "homeassistant: {status_topic"] {
            #expect(load("\(key): \(topic)}").diagnostics == [])
            #expect(load("\(key): \(topic)a}").diagnostics.map(\.code) == ["E508"])
        }
    }

    @Test(
        "what is wrong is shown without a password that stands there",
        arguments: [
            "mqtt:\n  pasword: hunter2", "mqtt: {password: hunter2, brokker: none}",
            "mqtt: {broker: \"mqtt://ada:hunter2@b\"}",
            "mqtt: {brokker: \"mqtt://ada:hunter2@b\"}", "mqtt:\n  password: *hunter2", "mqtt:\n  password: !hunter2 x",
            "mqtt:\n  password: {{ hunter2 }}", "mqtt:\n  password: hunter2: x",
            "mqtt:\n  password hunter2\n  broker: none",
            "mqtt:\n  password: |\n    hunter2\n   x\n", "mqtt:\n  password:\n    - hunter2",
            "mqtt:\n  password: \"hunter2",
            "mqtt:\n  username: ada\n  passphrase: 'hunter2'\n", "mqtt:\n\tpassword: hunter2",
            "mqtt:\r  broker: none\r  pasword: hunter2\r", "mqtt:\r\n  password: hunter2: x\r\n",
            "mqtt:\n  password:hunter2\n", "mqtt:\n  password:hunter2\n  broker: none\n", "mqtt: {password:hunter2}",
            "mqtt:\n  broker: none\n  password:hunter2\n", "mqtt: password:hunter2\n",
        ])
    func passwordLines(text: String) {
        let file = SourceFile(name: "tryck.yaml", text: Array(text.utf8))
        let loaded = FileLoader.configuration(file, in: FileInputs())
        #expect(!loaded.diagnostics.isEmpty)
        let shown = DiagnosticReport(loaded.diagnostics, sources: [file.name: file.text]).text()
        #expect(!shown.contains("hunter2"), "\(shown)")
    }

    @Test("hints about tryck.yaml do not say where keys of rules belong, and name its own keys if they are indented")
    func hints() {
        let hints = load("states: {}\nmqtt: {topic: a}").diagnostics.map(\.hint)
        #expect(hints == [nil, nil])
        #expect(load("log: {}\n flicd: {}\n").diagnostics.map(\.message) == ["\"flicd\" is indented"])
        let misplaced = load("mqtt:\n  broker: none\n  rules: home.yaml\n").diagnostics.map(\.hint)
        #expect(misplaced == ["\"rules\" is a key of the file, and begins in column 1"])
        // A source has this key, too, so it is not said to be indented.
        let source = load("sources:\n  - share: 1 of 2\n  mqtt: tryck/+\n").diagnostics.map(\.message)
        #expect(!source.isEmpty && source.allSatisfy { !$0.contains("indented") }, "\(source)")
        // The file has no steps and no expressions.
        let statement = load("mqtt: {topic: {% if x %}}\n").diagnostics.map { "\($0.code) \($0.hint ?? "")" }
        #expect(statement == ["E408 quote it"])
        let negation = load("if: !broker.connected\n").diagnostics.compactMap(\.hint)
        #expect(negation == ["the tags are !secret, !env_var and !literal; quote text that begins with !"])
        // The file has no list of files to include.
        let tag = load("rules: !include home.yaml\n").diagnostics.compactMap(\.hint)
        #expect(tag.allSatisfy { !$0.contains("include: list") }, "\(tag)")
    }

    @Test(
        "a secret without a space before it is not shown",
        arguments: ["token:hunter2", "token:hunter2\nother: x", "other: x\ntoken:hunter2", "{token:hunter2}"])
    func secretLines(secrets: String) {
        let secrets = SourceFile(name: "secrets.yaml", text: Array(secrets.utf8))
        let file = SourceFile(name: "tryck.yaml", text: Array("mqtt: {password: !secret token}\n".utf8))
        let loaded = FileLoader.configuration(file, in: FileInputs(secrets: secrets))
        #expect(!loaded.diagnostics.isEmpty)
        let sources = [file.name: file.text, secrets.name: secrets.text]
        let shown = DiagnosticReport(loaded.diagnostics, sources: sources).text()
        #expect(!shown.contains("hunter2") && !"\(loaded.diagnostics.map(\.json))".contains("hunter2"), "\(shown)")
    }

    @Test("a line with a password's name alone, and one beside a password, are shown")
    func linesBeside() {
        let text = "mqtt:\n  pasword: !secret mqtt\n  password: hunter2\n  brokker: none\n"
        let file = SourceFile(name: "tryck.yaml", text: Array(text.utf8))
        let loaded = FileLoader.configuration(file, in: FileInputs())
        let shown = DiagnosticReport(loaded.diagnostics, sources: [file.name: file.text]).text()
        #expect(shown.contains("2 |   pasword: !secret mqtt\n") && shown.contains("4 |   brokker: none\n"), "\(shown)")
    }

    @Test("a password never prints itself")
    func password() {
        let configuration = load("mqtt: {password: hunter2}").value
        #expect(configuration?.mqttPassword?.value == "hunter2")
        #expect(!"\(String(describing: configuration)) \(String(reflecting: configuration))".contains("hunter2"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test(
        "the page listens on loopback, or has a password, or is Home Assistant's",
        arguments: [
            "{}", "{listen: localhost:1}", "{listen: 127.0.0.2:1}", "{listen: '[::1]:1'}", "{listen: 'unix:/run/x'}",
            "{listen: 0.0.0.0:1, password: x}", "{listen: 0.0.0.0:1, trust_ingress: true}", "{base_path: /}",
            "{url: 'http://tryck.local:8125/'}", "{url: 'http://[fe80::1]/'}",
            "{url: 'homeassistant://hassio/ingress/local_tryck'}",
        ])
    func page(text: String) { #expect(load("web: \(text)").diagnostics == []) }

    @Test(
        "what would open the page to others, or is no address, is refused",
        arguments: [
            "{listen: 0.0.0.0:1}", "{listen: '[::]:1'}", "{listen: box:1}", "{listen: 127.0.0.1.example:1}",
            "{listen: 127.1:1}", "{listen: 8125}", "{listen: 'unix:'}", "{password: ''}", "{base_path: tryck}",
            "{base_path: /tryck}", "{base_path: tryck/}", "{base_path: //}", "{base_path: /../}", "{base_path: /a b/}",
            "{base_path: ''}", "{base_path: '/a\"/'}",
            "{url: tryck.local}", "{url: 'ftp://tryck.local/'}", "{url: 'http://'}", "{url: 'http:///now'}",
            "{url: 'http://a b/'}", "{url: 'javascript:alert(1)'}",
            "{url: 'http://ada:hunter2@tryck.local/'}",
        ])
    func badPage(text: String) { #expect(load("web: \(text)").diagnostics.map(\.code) == ["E203"]) }

    @Test("every key does something")
    func inert() {
        #expect(load("flicd: {}\nmetrics: {textfile: a.prom}").diagnostics == [])
        #expect(load("flicd: {listen: '[::1]:5551'}").diagnostics == [])
        #expect(load("sources: [flicd://host:5551]").diagnostics == [])
    }

    @Test("sources are flicds, by name or address, with a port or the usual one")
    func sources() {
        let text = "sources: [flicd://attic, 'flicd://[::1]', 'flicd://[fe80::1%eth0]:7', flicd://10.0.0.1:5552]"
        let loaded = load(text)
        #expect(loaded.diagnostics == [])
        #expect(
            loaded.value?.sources.map(\.sourceURL) == [
                "flicd://attic:5551", "flicd://[::1]:5551", "flicd://[fe80::1%eth0]:7", "flicd://10.0.0.1:5552",
            ])
        #expect(load("sources: flicd://attic").value?.sources.count == 1)
    }

    @Test("what is no flicd, the same twice, and a ninth are errors")
    func wrongSources() {
        for text in ["attic:5551", "http://attic", "flicd://", "flicd://attic:0", "flicd://::1", "flicd://a b"] {
            let loaded = load("sources: ['\(text)']")
            #expect(loaded.diagnostics.map(\.code) == ["E204"], "\(text)")
            #expect(loaded.diagnostics.first?.hint == "write flicd://HOST, flicd://HOST:PORT or {mqtt: TOPIC}")
        }
        #expect(load("sources: [flicd://a, 'flicd://a:5551']").diagnostics.map(\.code) == ["E203"])
        let many = (1...9).map { "flicd://h\($0)" }.joined(separator: ", ")
        #expect(load("sources: [\(many)]").diagnostics.map(\.message) == ["there are at most 8 sources"])
    }

    @Test("a simulated button may leave out everything but its name")
    func simulator() {
        let text = "buttons:\n  a: {}\n  b: {model: flic2, firmware: 11, battery: 2950, nickname: B, public: false}\n"
        let loaded = FileLoader.simulator(SourceFile(name: "s.yaml", text: Array(text.utf8)))
        #expect(loaded.diagnostics == [])
        #expect(loaded.value?.map(\.name) == ["a", "b"])
        #expect(loaded.value?.first?.isPublic == nil)
        #expect(loaded.value?.last?.batteryMillivolts == 2950)
        #expect(loaded.value?.last?.firmware == 11)
        #expect(loaded.value?.last?.isPublic == false)
    }
}
