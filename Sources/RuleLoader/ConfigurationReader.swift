import ButtonModel
import Diagnostics
import ESPHome
import Expressions
import Rules

/// Reads `tryck.yaml`.
struct ConfigurationReader {
    var checker: Checker
    var configuration = Configuration()

    static func load(_ file: SourceFile, in environment: LoadInputs) -> LoadResult<Configuration> {
        let document = Document(file, in: environment)
        var reader = ConfigurationReader(checker: document.checker)
        if let root = document.root { reader.read(root) }
        let lines = PasswordLines(file.text)
        return LoadResult(
            reader.configuration,
            reader.checker.diagnostics.map { lines.contains($0.start.line) ? $0.withoutContent : $0 })
    }

    /// The `control_socket`, even if other keys have errors or use secrets that the caller cannot read.
    static func controlSocket(of file: SourceFile, in environment: LoadInputs) -> String? {
        let document = Document(file, in: environment)
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
                    "E203", at: node, "\"\(checker.shown(text))\" is not HOST:PORT", hint: "write 127.0.0.1:5551")
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

    private mutating func readTransport(_ node: YAMLNode) {
        if case .mapping = node.content {
            guard let fields = checker.fields(node, .transport), let node = fields.node("command") else { return }
            if let transport = commandTransport(node) { configuration.transport = transport }
        } else if let transport = namedTransport(node, key: "transport") {
            configuration.transport = transport
        }
    }

    private mutating func commandTransport(_ node: YAMLNode) -> Configuration.Transport? {
        let words = checker.oneOrMany(node, empty: "the command has no program")
            .compactMap { checker.text($0, key: "command", .areText)?.string }
        guard words.allSatisfy({ !$0.utf8.contains(0) }), words.first?.isEmpty == false else {
            checker.error("E203", at: node, "a command begins with a program, and contains no NUL")
            return nil
        }
        return .command(words)
    }

    private mutating func namedTransport(_ node: YAMLNode, key: String) -> Configuration.Transport? {
        guard let text = checker.text(node, key: key, .areText)?.string else { return nil }
        if let transport = Configuration.Transport(text) { return transport }
        let proxy = "esphome:"
        checker.error(
            "E204", at: node, "unknown transport \"\(checker.shown(text))\"",
            hint: text.hasPrefix(proxy)
                ? "write radios: [{esphome: \(checker.shown(String(text.dropFirst(proxy.count))))}]"
                : """
                write auto, hci:0, hci:ADDRESS, bluez, bluez:0, bluez:ADDRESS, h4:tcp:HOST:PORT, h4:unix:PATH, \
                simulated:FILE, none or {command: […]}
                """)
        return nil
    }

    // MARK: Several radios

    private mutating func readRadios(_ node: YAMLNode, hasTransport: Bool) {
        guard !hasTransport else {
            return checker.error(
                "E203", at: node, "\"radios\" and \"bluetooth: transport\" exclude each other",
                hint: "keep radios:, and move the transport into its list")
        }
        var radios: [Configuration.Radio] = []
        for node in checker.oneOrMany(node, empty: "the list of radios is empty") {
            guard let radio = radio(node) else { continue }
            if radios.contains(where: { $0.name == radio.name }) {
                checker.error(
                    "E203", at: node, "two radios are called \"\(checker.shown(radio.name))\"",
                    hint: "give one of them another name:")
            }
            if radio.transport != .none,
                let same = radios.first(where: { $0.transport.isSameRadio(as: radio.transport) })
            {
                checker.error(
                    "E203", at: node,
                    same.name == radio.name
                        ? "the radio \"\(checker.shown(radio.name))\" is listed twice"
                        : "this is the same radio as \"\(checker.shown(same.name))\"")
            }
            let others = radios.filter { $0.transport.usesBlueZ }
            if radio.transport.usesBlueZ,
                !others.isEmpty && radio.transport.takesAny || others.contains(where: \.transport.takesAny)
            {
                checker.error(
                    "E203", at: node, "auto and bluez take any adapter, and cannot stand beside another one of BlueZ",
                    hint: "name the adapter of each: bluez:0, bluez:1")
            }
            let isSimulated: (Configuration.Radio) -> Bool = {
                if case .simulated = $0.transport { true } else { false }
            }
            if isSimulated(radio), radios.contains(where: isSimulated) {
                checker.error("E203", at: node, "only one radio can be simulated")
            }
            radios.append(radio)
        }
        if radios.count > Configuration.maximumRadios {
            checker.error("E203", at: node, "there are at most \(Configuration.maximumRadios) radios")
        }
        configuration.radios = radios
    }

    private mutating func radio(_ node: YAMLNode) -> Configuration.Radio? {
        guard case .mapping = node.content else {
            return namedTransport(node, key: "radios").map { Configuration.Radio($0, name: $0.shortName) }
        }
        guard let fields = checker.fields(node, .radio) else { return nil }
        let transport: Configuration.Transport?
        switch (fields.node("adapter"), fields.node("command"), fields.node("esphome")) {
        case (let adapter?, nil, nil): transport = namedTransport(adapter, key: "adapter")
        case (nil, let command?, nil): transport = commandTransport(command)
        case (nil, nil, let proxy?): transport = proxyTransport(proxy, fields)
        case (nil, nil, nil), (.some, .some, _), (.some, _, .some), (_, .some, .some):
            checker.error("E203", at: node, "a radio has one of \"adapter\", \"command\" and \"esphome\"")
            transport = nil
        }
        if fields.node("esphome") == nil, let key = fields.node("key") {
            checker.error("E203", at: key, "only an ESPHome proxy has a key")
        }
        if let name = fields.string("name"), let node = fields.node("name"), !Self.isWord(name) {
            checker.error(
                "E203", at: node, "the name of a radio is one word of letters, digits, \"_\", \"-\" and \".\"")
        }
        guard let transport else { return nil }
        let name = fields.string("name") ?? transport.shortName
        if fields.node("name") == nil, !Self.isWord(name) {
            checker.error("E203", at: node, "the radio needs a name", hint: "add name: and one word, such as attic")
        }
        return Configuration.Radio(
            transport, name: name, maximumConnections: fields.integer("maximum_connections"))
    }

    private mutating func proxyTransport(
        _ node: YAMLNode, _ fields: CheckedMapping
    ) -> Configuration.Transport? {
        guard let text = checker.text(node, key: "esphome", .areText)?.string else { return nil }
        guard let proxy = HostAndPort(text, defaultPort: 6053) else {
            checker.error("E203", at: node, "\"\(checker.shown(text))\" is not HOST or HOST:PORT")
            return nil
        }
        guard let node = fields.node("key"), let text = fields.string("key") else {
            return .esphome(host: proxy.host, port: proxy.port, key: nil)
        }
        if node.tag == nil {
            checker.warning("W712", at: node, "the key is readable here", hint: "write key: !secret NAME")
        }
        let key = ESPHomeKey(base64: text)
        // A secret that is not available is read as a placeholder.
        if key == nil, !checker.environment.hasPlaceholders {
            checker.error(
                "E203", at: node, "the key of a proxy is the base64 text of 32 octets",
                hint: "copy it from api: encryption: key: of its ESPHome configuration")
        }
        return .esphome(host: proxy.host, port: proxy.port, key: key)
    }

    /// True if the text is suitable as the name of a radio: 1 to 64 letters, digits and some punctuation.
    private static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
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

    /// Why a text cannot be `base_topic`, `prefix` or `status_topic`; `nil` when it can. All other topics are made from
    /// these, so a mistake in one of them would be in every topic.
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

/// A host and a TCP port, written `HOST:PORT`. An IPv6 address is in brackets: `[::1]:5551`.
package struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    /// 1…65535.
    package var port: Int

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package init?(_ text: some StringProtocol, defaultPort: Int? = nil) {
        var host = Substring(text)
        var port = defaultPort
        let afterBracket = host.lastIndex(of: "]").map { host.index(after: $0) } ?? host.startIndex
        if let colon = host[afterBracket...].lastIndex(of: ":") {
            let digits = host[host.index(after: colon)...]
            guard YAMLNumber.isInteger(String(digits)), let number = Int(digits), (1...65_535).contains(number) else {
                return nil
            }
            port = number
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let isHost =
            !host.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") }
        guard isHost, let port else { return nil }
        self.host = String(host)
        self.port = port
    }
}

enum HexDigits {
    static func octets(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

extension Configuration.Transport {
    /// Parses the value of `transport:`.
    init?(_ text: String) {
        func rest(after prefix: String) -> String? {
            text.hasPrefix(prefix) && text.utf8.count > prefix.utf8.count ? String(text.dropFirst(prefix.count)) : nil
        }
        if text == "auto" {
            self = .auto
        } else if text == "none" {
            self = .none
        } else if let path = rest(after: "simulated:") {
            self = .simulated(path: path)
        } else if let path = rest(after: "h4:unix:") {
            self = .h4Unix(path: path)
        } else if let address = rest(after: "h4:tcp:") {
            guard let endpoint = HostAndPort(address) else { return nil }
            self = .h4TCP(host: endpoint.host, port: endpoint.port)
        } else if text == "bluez" {
            self = .bluez
        } else if let adapter = rest(after: "hci:") ?? rest(after: "bluez:") {
            let isShared = text.hasPrefix("bluez:")
            if YAMLNumber.isInteger(adapter), let index = Int(adapter), (0...65_534).contains(index) {
                self = isShared ? .bluezIndex(index) : .hciIndex(index)
            } else if let address = BluetoothAddress(adapter) {
                self = isShared ? .bluezAddress(address) : .hciAddress(address)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}

extension Configuration.Transport {
    fileprivate var takesAny: Bool { self == .auto || self == .bluez }

    fileprivate var usesBlueZ: Bool {
        switch self {
        case .auto, .bluez, .bluezIndex, .bluezAddress: true
        case .hciIndex, .hciAddress, .h4TCP, .h4Unix, .command, .esphome, .simulated, .none: false
        }
    }

    /// The name of a radio with this transport, if it has no other: `hci0`, `bluez`, the host's first label, the program.
    package var shortName: String {
        switch self {
        case .auto: "auto"
        case .hciIndex(let index): "hci\(index)"
        case .hciAddress(let address): "hci-" + address.description.filter { $0 != ":" }
        case .bluez: "bluez"
        case .bluezIndex(let index): "bluez\(index)"
        case .bluezAddress(let address): "bluez-" + address.description.filter { $0 != ":" }
        case .h4TCP(let host, let port):
            // An address has no first label that could be a name.
            host.utf8.allSatisfy({ (0x2E...0x3A).contains($0) })
                ? "\(host)-\(port)" : String(host.prefix { $0 != "." })
        case .esphome(let host, _, _):
            host.utf8.allSatisfy({ (0x2E...0x3A).contains($0) }) ? host : String(host.prefix { $0 != "." })
        case .h4Unix(let path): String(path.split(separator: "/").last ?? "socket")
        case .simulated: "simulated"
        case .command(let words): String(words.first?.split(separator: "/").last ?? "command")
        case .none: "none"
        }
    }

    /// True for the same proxy with another key, too, and for an adapter that BlueZ would share while it is Tryck's alone.
    fileprivate func isSameRadio(as other: Self) -> Bool {
        if case .esphome(let host, let port, _) = self, case .esphome(let otherHost, port, _) = other {
            return Self.plainHost(host) == Self.plainHost(otherHost)
        }
        return withoutBlueZ == other.withoutBlueZ
    }

    /// The same adapter for Tryck alone.
    private var withoutBlueZ: Self {
        if case .bluezIndex(let index) = self { return .hciIndex(index) }
        if case .bluezAddress(let address) = self { return .hciAddress(address) }
        return self
    }

    /// The name of a host regardless of case and of a final dot, which do not count in the DNS.
    private static func plainHost(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}

extension HostAndPort {
    private static let scheme = "flicd://"

    /// Parses an entry of `sources:`: `flicd://HOST:PORT`, with port 5551 if none is written.
    fileprivate init?(source text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        self.init(text.dropFirst(Self.scheme.count), defaultPort: 5551)
    }

    /// The endpoint of a flicd as written in `sources:`: `flicd://host:5551`.
    package var sourceURL: String { Self.scheme + description }
}

extension Configuration.Broker {
    /// Parses the value of `broker:`.
    init?(_ text: String) {
        func rest(after prefix: String) -> String? {
            text.hasPrefix(prefix) && text.utf8.count > prefix.utf8.count ? String(text.dropFirst(prefix.count)) : nil
        }
        if text == "embedded" {
            self = .embedded
        } else if text == "none" {
            self = .none
        } else if let path = rest(after: "unix:") {
            self = .unix(path: path)
        } else if let address = rest(after: "mqtts://"), let endpoint = HostAndPort(address, defaultPort: 8883) {
            self = .tcp(host: endpoint.host, port: endpoint.port, tls: true)
        } else if let address = rest(after: "mqtt://"), let endpoint = HostAndPort(address, defaultPort: 1883) {
            self = .tcp(host: endpoint.host, port: endpoint.port, tls: false)
        } else {
            return nil
        }
    }
}
