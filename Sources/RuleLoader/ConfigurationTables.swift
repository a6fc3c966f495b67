import ButtonModel
import Rules

/// The tables of keys of `tryck.yaml`.
extension MappingTable {
    static let configuration = MappingTable(
        name: "the configuration",
        keys: [
            Key("bluetooth", .anything, "the radio"),
            Key("mqtt", .anything, "the broker"),
            Key("homeassistant", .anything, "discovery by Home Assistant"),
            Key("rules", .text(.areText), "the rules file"),
            Key("state_directory", .text(.areText), "where pairings are kept"),
            Key("control_socket", .text(.areText), "how commands reach the daemon"),
            Key("flicd", .anything, "a flicd-compatible server"),
            Key("sources", .anything, "flicds whose buttons are taken in"),
            Key("actions", .anything, "which kinds of action rules may use"),
            Key("control", .anything, "what requests may do"),
            Key("log", .anything, "how much is logged, and how"),
            Key("metrics", .anything, "counters for Prometheus"),
        ],
        foreign: [
            "buttons": "buttons belong in the rules file", "broker": "use mqtt: {broker: …}",
            "version": "only rules files have a version",
            "adapter": "use bluetooth: {transport: hci:0}", "logging": "use log:",
            "home_assistant": "use homeassistant:",
        ])

    static let bluetooth = MappingTable(
        name: "\"bluetooth\"",
        keys: [
            Key("transport", .text(.areText), "where the controller is"),
            Key("trust_roots", .anything, "further Ed25519 keys, 64 hexadecimal digits each"),
            Key("max_connections", .integer(1...255), "the most links at once"),
        ],
        foreign: ["adapter": "use transport: hci:0", "device": "use transport: hci:0"])

    static let mqtt = MappingTable(
        name: "\"mqtt\"",
        keys: [
            Key("broker", .text(.areText), "`mqtt://HOST:PORT`, `mqtts://…`, `unix:PATH`, `embedded` or `none`"),
            Key("username", .text(.areText), ""),
            Key("password", .text(.areText), "best as `!secret name`"),
            Key("client_id", .text(.areText), ""),
            Key(
                "keep_alive", .duration(.seconds(5) ... .seconds(65_535)),
                "how often the broker is asked whether it lives"),
            Key("protocol", .word(["5", "3.1.1"]), "the MQTT version tried first"),
            Key("tls", .anything, "certificates"),
            Key("base_topic", .text(.areText), "the first level of every topic"),
        ],
        foreign: [
            "host": "use broker: mqtt://HOST:1883", "server": "use broker: mqtt://HOST:1883",
            "port": "use broker: mqtt://HOST:PORT", "user": "use username:",
        ])

    static let tls = MappingTable(
        name: "\"tls\"",
        keys: [
            Key("ca", .text(.areText), "a file with the authorities to trust"),
            Key("certificate", .text(.areText), "our own certificate"),
            Key("key", .text(.areText), "its private key"),
            Key("insecure", .boolean, "certificates are not checked"),
        ])

    static let homeAssistant = MappingTable(
        name: "\"homeassistant\"",
        keys: [
            Key("discovery", .boolean, "whether buttons announce themselves"),
            Key("prefix", .text(.areText), "the first level of discovery topics"),
            Key("status_topic", .text(.areText), "where Home Assistant says that it started"),
        ])

    static let flicd = MappingTable(
        name: "\"flicd\"", keys: [Key("listen", .text(.areText), "`HOST:PORT` to listen at")])

    static let actions = MappingTable(
        name: "\"actions\"",
        keys: StepKind.allCases.compactMap { kind in kind.permission.map { Key(kind.rawValue, .boolean, $0) } })

    static let control = MappingTable(
        name: "\"control\"",
        keys: [Key("mqtt", .word(Configuration.Control.allCases.map(\.rawValue)), "what requests over MQTT may do")])

    static let logging = MappingTable(
        name: "\"log\"",
        keys: [
            Key("level", .word(LogLevel.allCases.map(\.rawValue)), ""),
            Key("format", .word(Configuration.LogFormat.allCases.map(\.rawValue)), ""),
        ])

    static let metrics = MappingTable(
        name: "\"metrics\"", keys: [Key("textfile", .text(.areText), "a file for Prometheus")])
}
