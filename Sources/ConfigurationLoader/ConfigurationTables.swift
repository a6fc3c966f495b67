import ButtonModel
import Rules
import Settings
package import YAMLFiles

/// The tables of keys of `tryck.yaml`.
extension MappingTable {
    package static let configuration = MappingTable(
        name: "the configuration",
        keys: [
            Key("bluetooth", .anything, "the Bluetooth adapter"),
            Key("radios", .anything, "several adapters and proxies, in place of `bluetooth: transport`"),
            Key("mqtt", .anything, "the connection to the broker"),
            Key("homeassistant", .anything, "discovery by Home Assistant"),
            Key("rules", .text(.areText), "the rules file"),
            Key("state_directory", .text(.areText), "where pairings are kept"),
            Key("control_socket", .text(.areText), "the path of the control socket"),
            Key("flicd", .anything, "a flicd-compatible server"),
            Key("sources", .anything, "flicd servers and sites whose buttons are used"),
            Key("engine", .anything, "this engine of sites"),
            Key("uplink", .anything, "the engine to which this site sends presses"),
            Key("actions", .anything, "which kinds of action rules may use"),
            Key("control", .anything, "which requests are answered"),
            Key("log", .anything, "log level and format"),
            Key("metrics", .anything, "counters for Prometheus"),
            Key("web", .anything, "the page that tryck-web serves"),
            Key(
                "history", .anything,
                "how long events are kept for `tryck history` and `tryck what-if`: up to `90d`, or `none`"),
            Key("history_size", .integer(1...1024), "the maximum size of the history, in MiB"),
        ],
        foreignHints: [
            "buttons": "buttons belong in the rules file", "broker": "use mqtt: {broker: …}",
            "version": "only rules files have a version",
            "adapter": "use bluetooth: {transport: hci:0}", "logging": "use log:",
            "home_assistant": "use homeassistant:",
        ])

    /// The tables of the keys whose values are mappings.
    package static let configurationSections: [String: MappingTable] = [
        "bluetooth": bluetooth, "radios": radio, "mqtt": mqtt, "tls": tls, "homeassistant": homeAssistant,
        "flicd": flicd,
        "actions": actions, "control": control, "log": logging, "metrics": metrics, "web": web,
        "sources": source, "engine": engine, "uplink": uplink,
    ]

    static let bluetooth = MappingTable(
        name: "\"bluetooth\"",
        keys: [
            Key(
                "transport", .anything,
                "the Bluetooth controller: `auto`, `hci:0`, `hci:ADDRESS`, `bluez`, `bluez:0`, `bluez:ADDRESS`, `none`, "
                    + "`{command: [PROGRAM, ARGUMENT…]}`, or for tests `h4:tcp:HOST:PORT`, `h4:unix:PATH` or "
                    + "`simulated:FILE`"),
            Key("trust_roots", .anything, "additional Ed25519 root keys, 64 hexadecimal digits each"),
            Key("max_connections", .integer(1...255), "the maximum number of simultaneous connections"),
        ],
        foreignHints: [
            "adapter": "use transport: hci:0", "device": "use transport: hci:0",
            "maximum_connections": "use max_connections:",
            "esphome": "a proxy is an entry of radios:",
        ])

    static let radio = MappingTable(
        name: "a radio",
        keys: [
            Key("adapter", .text(.areText), "the adapter, as in `bluetooth: transport`: `hci:0`, `bluez:ADDRESS`, …"),
            Key("command", .anything, "a program that speaks HCI on its standard input and output"),
            Key("esphome", .text(.areText), "the `HOST` or `HOST:PORT` of an ESPHome Bluetooth proxy"),
            Key("key", .text(.areText), "the key of the proxy (`api: encryption: key:`), preferably `!secret name`"),
            Key("name", .text(.areText), "what the radio is called: one word"),
            Key("maximum_connections", .integer(1...255), "the maximum number of simultaneous connections"),
        ],
        foreignHints: ["transport": "use adapter:", "max_connections": "use maximum_connections:"])

    package static let transport = MappingTable(
        name: "\"transport\"",
        keys: [Key("command", .anything, required: true, "a program that speaks HCI on its standard input and output")],
        foreignHints: ["adapter": "write transport: hci:0"])

    static let mqtt = MappingTable(
        name: "\"mqtt\"",
        keys: [
            Key("broker", .text(.areText), "`mqtt://HOST:PORT`, `mqtts://…`, `unix:PATH`, `embedded` or `none`"),
            Key("username", .text(.areText), "the user name for the broker"),
            Key("password", .text(.areText), "the password for the broker, preferably `!secret name`"),
            Key("client_id", .text(.areText), "the client identifier"),
            Key(
                "keep_alive", .duration(.seconds(5) ... .seconds(65_535)),
                "the longest time without a packet to the broker"),
            Key("protocol", .oneOf(["5", "3.1.1"]), "the MQTT version that is tried first"),
            Key("tls", .anything, "certificates"),
            Key("base_topic", .text(.areText), "the first level of every topic"),
        ],
        foreignHints: [
            "host": "use broker: mqtt://HOST:1883", "server": "use broker: mqtt://HOST:1883",
            "port": "use broker: mqtt://HOST:PORT", "user": "use username:",
        ],
        foreignEntries: ["host": "broker: mqtt://VALUE:1883", "server": "broker: mqtt://VALUE:1883"])

    static let tls = MappingTable(
        name: "\"tls\"",
        keys: [
            Key("ca", .text(.areText), "a file with trusted certificate authorities"),
            Key("certificate", .text(.areText), "a file with the client certificate"),
            Key("key", .text(.areText), "a file with the private key of the certificate"),
            Key("insecure", .boolean, "whether the broker's certificate is accepted without a check"),
        ])

    static let homeAssistant = MappingTable(
        name: "\"homeassistant\"",
        keys: [
            Key("discovery", .boolean, "whether buttons are announced to Home Assistant"),
            Key("prefix", .text(.areText), "the first level of discovery topics"),
            Key("status_topic", .text(.areText), "the topic on which Home Assistant announces its start"),
        ])

    static let flicd = MappingTable(
        name: "\"flicd\"", keys: [Key("listen", .text(.areText), "the `HOST:PORT` on which to listen")])

    static let source = MappingTable(
        name: "a source",
        keys: [
            Key("mqtt", .text(.areText), required: true, "the base topic of a site, or of all with `+`: `tryck/+`"),
            Key("share", .text(.areText), "the part of the sites that this engine has: `1 of 4`"),
        ],
        foreignHints: ["flicd": "write flicd://HOST", "topic": "use mqtt:"])

    static let engine = MappingTable(
        name: "\"engine\"",
        keys: [
            Key("name", .text(.areText), required: true, "the name of this engine, another one for its stand-by"),
            Key(
                "patience", .duration(.seconds(2) ... .seconds(60)),
                "how long this engine may be silent before its stand-by leads"),
        ])

    static let uplink = MappingTable(
        name: "\"uplink\"",
        keys: [
            Key("broker", .text(.areText), required: true, "`mqtt://HOST:PORT` or `mqtts://HOST:PORT`"),
            Key("username", .text(.areText), "the user name for the broker"),
            Key("password", .text(.areText), "the password for the broker, preferably `!secret name`"),
            Key("client_id", .text(.areText), "the client identifier"),
            Key("tls", .anything, "certificates"),
            Key("topic", .text(.areText), required: true, "the base topic of this site, such as `tryck/berlin7`"),
            Key("buttons", .anything, "which buttons are sent, with `*`: `[hall, \"floor2_*\"]`"),
            Key(
                "journal", .integer(Configuration.Uplink.journalLengths),
                "the most messages about a button that wait for the engine; a click has three"),
        ],
        foreignHints: ["host": "use broker: mqtts://HOST", "user": "use username:", "base_topic": "use topic:"],
        foreignEntries: ["host": "broker: mqtts://VALUE"])

    static let actions = MappingTable(
        name: "\"actions\"",
        keys: StepKind.allCases.compactMap { kind in kind.permission.map { Key(kind.rawValue, .boolean, $0) } })

    static let control = MappingTable(
        name: "\"control\"",
        keys: [
            Key("mqtt", .oneOf(Configuration.Control.allCases.map(\.rawValue)), "which requests over MQTT are answered")
        ])

    static let logging = MappingTable(
        name: "\"log\"",
        keys: [
            Key("level", .oneOf(LogLevel.allCases.map(\.rawValue)), "the lowest level that is logged"),
            Key("format", .oneOf(Configuration.LogFormat.allCases.map(\.rawValue)), "the format of the log"),
        ])

    static let metrics = MappingTable(
        name: "\"metrics\"", keys: [Key("textfile", .text(.areText), "a file for Prometheus")])

    static let web = MappingTable(
        name: "\"web\"",
        keys: [
            Key("listen", .text(.areText), "the `HOST:PORT` on which tryck-web listens, or `unix:PATH`"),
            Key("password", .text(.areText), "the password of the page, preferably `!secret name`"),
            Key("edit_rules", .boolean, "whether rules can be changed and run on the page"),
            Key("trust_ingress", .boolean, "whether only Home Assistant's ingress is let in, without a password"),
            Key("base_path", .text(.areText), "the path before all addresses of the page, for a proxy: `/tryck/`"),
            Key("url", .text(.areText), "the address under which people open the page, for links in Home Assistant"),
        ],
        foreignHints: [
            "port": "use listen: 127.0.0.1:PORT", "host": "use listen: HOST:PORT", "bind": "use listen: HOST:PORT",
            "username": "the page has a password only",
        ])
}
