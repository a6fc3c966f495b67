import ButtonModel
import Diagnostics
import ESPHome
import Expressions
import Settings
import YAMLFiles

// Reads `bluetooth: transport` and `radios:`.
extension ConfigurationReader {
    mutating func readTransport(_ node: YAMLNode) {
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
        let host = String(text.dropFirst(proxy.count))
        checker.error(
            "E204", at: node, "unknown transport \"\(checker.shown(text))\"",
            hint: text.hasPrefix(proxy)
                ? Hint(
                    "write radios: [{esphome: \(checker.shown(host))}]",
                    key == "radios" ? [.init(nil, "{esphome: \(host)}", isGuess: true)] : [])
                : """
                write auto, hci:0, hci:ADDRESS, bluez, bluez:0, bluez:ADDRESS, h4:tcp:HOST:PORT, h4:unix:PATH, \
                simulated:FILE, none or {command: […]}
                """)
        return nil
    }

    mutating func readRadios(_ node: YAMLNode, hasTransport: Bool) {
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
        if key == nil, !checker.inputs.hasPlaceholders {
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
}
