import ButtonModel
import Diagnostics
import Expressions
import Rules
import Settings
import YAMLFiles

/// Reads `tryck.yaml`.
struct ConfigurationReader {
    var checker: Checker
    var configuration = Configuration()

    private static let language = FileLanguage(file: .configuration, keysAlsoInside: ["mqtt"])

    static func load(_ file: SourceFile, in inputs: FileInputs) -> LoadResult<Configuration> {
        let document = Document(file, in: inputs, language)
        var reader = ConfigurationReader(checker: document.checker)
        if let root = document.root { reader.read(root) }
        let lines = PasswordLines(file.text)
        return LoadResult(
            reader.configuration,
            reader.checker.diagnostics.map { lines.contains($0.start.line) ? $0.withoutContent : $0 })
    }

    /// The `control_socket`, even if other keys have errors or use secrets that the caller cannot read.
    static func controlSocket(of file: SourceFile, in inputs: FileInputs) -> String? {
        let document = Document(file, in: inputs, language)
        var reader = ConfigurationReader(checker: document.checker)
        if let root = document.root { reader.read(root) }
        return reader.configuration.controlSocket.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
    }

    private init(checker: Checker) { self.checker = checker }

    private mutating func read(_ root: YAMLNode) {
        guard let fields = checker.fields(root, .configuration) else { return }
        let bluetooth = section("bluetooth", of: fields)
        if let bluetooth { readBluetooth(bluetooth) }
        if let node = fields.node("radios") {
            readRadios(node, hasTransport: bluetooth?.node("transport") != nil)
        }
        if let fields = section("mqtt", of: fields) { readMQTT(fields) }
        if let fields = section("homeassistant", of: fields) { readHomeAssistant(fields) }
        configuration.rulesPath = path("rules", of: fields)
        configuration.stateDirectory = path("state_directory", of: fields)
        configuration.controlSocket = path("control_socket", of: fields)
        if let fields = section("flicd", of: fields), let text = fields.string("listen"),
            let node = fields.node("listen")
        {
            configuration.flicdListen = HostAndPort(text)
            if configuration.flicdListen == nil {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" is not HOST:PORT",
                    hint: UInt16(text).map { .write("127.0.0.1:\($0)") } ?? "write 127.0.0.1:5551")
            }
        }
        if let node = fields.node("sources") { readSources(node) }
        readEngine(fields)
        readUplink(fields)
        if let fields = section("actions", of: fields) {
            configuration.forbiddenSteps = Set(StepKind.allCases.filter { fields.boolean($0.rawValue) == false })
        }
        if let fields = section("control", of: fields) { readControl(fields) }
        if let fields = section("log", of: fields) {
            configuration.logLevel = fields.string("level").flatMap(LogLevel.init(rawValue:)) ?? .info
            configuration.logFormat = fields.string("format").flatMap(Configuration.LogFormat.init(rawValue:)) ?? .text
        }
        if let fields = section("metrics", of: fields) {
            configuration.metricsTextfile = path("textfile", of: fields)
        }
        if let fields = section("web", of: fields) { configuration.web = web(fields) }
        if let node = fields.node("history") { readHistory(node) }
        configuration.historySize = fields.integer("history_size") ?? configuration.historySize
    }

    private mutating func readHistory(_ node: YAMLNode) {
        if case .scalar("none", _) = node.content {
            configuration.history = nil
        } else if let age = checker.duration(node, key: "history", .seconds(3600) ... .seconds(90 * 86_400)) {
            configuration.history = age
        }
    }

    mutating func section(_ key: String, of fields: CheckedMapping) -> CheckedMapping? {
        guard let node = fields.node(key), let table = MappingTable.configurationSections[key] else { return nil }
        return checker.fields(node, table)
    }

    private mutating func path(_ key: String, of fields: CheckedMapping) -> String? {
        guard let text = fields.string(key), let node = fields.node(key) else { return nil }
        if text.isEmpty { checker.error("E203", at: node, "\"\(key)\" must be a path, not an empty text") }
        if text.utf8.contains(0) { checker.error("E203", at: node, "a path cannot contain NUL") }
        return text
    }

    // MARK: Sections

    private mutating func readBluetooth(_ fields: CheckedMapping) {
        configuration.maximumConnections = fields.integer("max_connections")
        if let node = fields.node("transport") { readTransport(node) }
        guard let node = fields.node("trust_roots") else { return }
        for node in checker.oneOrMany(node, empty: "the list of keys is empty") {
            guard let text = checker.text(node, key: "trust_roots", .areText)?.string else { continue }
            if let octets = HexDigits.octets(text), octets.count == 32 {
                configuration.trustRoots.append(octets)
            } else {
                checker.error(
                    "E203", at: node, "an Ed25519 key has 64 hexadecimal digits, not \"\(checker.shown(text))\"")
            }
        }
    }

    private mutating func readSources(_ node: YAMLNode) {
        for node in checker.oneOrMany(node, empty: "the list of sources is empty") {
            if case .mapping = node.content {
                readSite(node)
                continue
            }
            guard let text = checker.text(node, key: "sources", .areText)?.string else { continue }
            guard let source = HostAndPort(source: text) else {
                checker.error(
                    "E204", at: node, "unknown source \"\(checker.shown(text))\"",
                    hint: "write flicd://HOST, flicd://HOST:PORT or {mqtt: TOPIC}")
                continue
            }
            if configuration.sources.contains(source) {
                checker.error("E203", at: node, "the source \"\(checker.shown(text))\" is listed twice")
            } else if configuration.sources.count == Configuration.maximumSources {
                checker.error("E203", at: node, "there are at most \(Configuration.maximumSources) sources")
                return
            } else {
                configuration.sources.append(source)
            }
        }
    }

    private mutating func readMQTT(_ fields: CheckedMapping) {
        if let text = fields.string("broker"), let node = fields.node("broker") {
            if let broker = Configuration.Broker(text) {
                configuration.broker = broker
            } else {
                let hasUser = text.utf8.contains(UInt8(ascii: "@"))
                checker.error(
                    "E204", at: node,
                    hasUser
                        ? "a broker's address cannot contain a user name or a password"
                        : "unknown broker \"\(checker.shown(text))\"",
                    hint: hasUser
                        ? "write mqtt://HOST:PORT, and username: and password: below it"
                        : "write mqtt://HOST:PORT, mqtts://HOST:PORT, unix:PATH, embedded or none")
            }
        }
        configuration.mqttUsername = fields.string("username")
        configuration.mqttPassword = fields.string("password").map(Password.init)
        configuration.mqttClientIdentifier = fields.string("client_id")
        configuration.mqttKeepAlive = fields.duration("keep_alive") ?? configuration.mqttKeepAlive
        configuration.mqttVersion =
            fields.string("protocol").flatMap(Configuration.MQTTVersion.init(rawValue:)) ?? configuration.mqttVersion
        configuration.baseTopic = topic("base_topic", of: fields) ?? configuration.baseTopic
        if let node = fields.node("tls"), let fields = checker.fields(node, .tls) {
            configuration.tls = tls(fields)
        }
    }

    mutating func tls(_ fields: CheckedMapping) -> Configuration.TLS {
        Configuration.TLS(
            authorityPath: path("ca", of: fields), certificatePath: path("certificate", of: fields),
            keyPath: path("key", of: fields), isInsecure: fields.boolean("insecure") ?? false)
    }

    private mutating func readHomeAssistant(_ fields: CheckedMapping) {
        configuration.homeAssistantDiscovery = fields.boolean("discovery") ?? true
        configuration.homeAssistantPrefix = topic("prefix", of: fields) ?? configuration.homeAssistantPrefix
        configuration.homeAssistantStatusTopic =
            topic("status_topic", of: fields) ?? configuration.homeAssistantStatusTopic
    }

    private mutating func readControl(_ fields: CheckedMapping) {
        configuration.control =
            fields.string("mqtt").flatMap(Configuration.Control.init(rawValue:)) ?? configuration.control
    }

    private mutating func topic(_ key: String, of fields: CheckedMapping) -> String? {
        guard let text = fields.string(key), let node = fields.node(key) else { return nil }
        if let (sentence, hint) = fault(ofTopic: text) {
            checker.error(
                "E508", at: node, "\"\(key)\" \(sentence): \"\(checker.shown(text, of: node))\"",
                hint: hint)
        }
        return text
    }

    /// The reason why a text is not valid as `base_topic`, `prefix` or `status_topic`; `nil` if it is valid. All other topics begin
    /// with these, so a mistake in one of them would affect every topic.
    private func fault(ofTopic text: String) -> (sentence: String, hint: Hint?)? {
        let isPlain = !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        // Octets are compared, because a # with a combining accent is another `Character` but still a # to the broker.
        let octets = text.utf8
        if text.isEmpty || !isPlain || octets.contains(UInt8(ascii: "#")) || octets.contains(UInt8(ascii: "+")) {
            return ("must be topic levels without # and +", isPlain ? nil : "it contains a control character")
        }
        // Subscriptions that begin with a wildcard do not match such topics. Source: MQTT 5.0, 4.7.2.
        if octets.first == UInt8(ascii: "$") {
            return ("cannot begin with $", "such topics are reserved for the broker")
        }
        if octets.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            return ("cannot have an empty topic level", "no / at its ends, and no //")
        }
        // Far below the limits of brokers: mosquitto accepts 200 levels.
        if octets.count > 128 { return ("can have at most 128 bytes", nil) }
        return nil
    }
}
