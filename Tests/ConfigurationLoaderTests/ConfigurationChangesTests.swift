import ConfigurationLoader
import Rules
import Settings
import Testing
import YAMLFiles

@Suite("What changed in tryck.yaml")
struct ConfigurationChangesTests {
    private static let values: KeyValuePairs<String, String> = [
        "bluetooth.transport": "hci:3", "bluetooth.trust_roots": String(repeating: "aB", count: 32),
        "bluetooth.max_connections": "7", "radios": "bluez", "mqtt.broker": "mqtts://b", "mqtt.username": "u",
        "mqtt.password": "p",
        "mqtt.client_id": "c", "mqtt.keep_alive": "90s", "mqtt.protocol": "3.1.1", "mqtt.tls.ca": "a",
        "mqtt.tls.certificate": "a", "mqtt.tls.key": "a", "mqtt.tls.insecure": "true", "mqtt.base_topic": "t",
        "homeassistant.discovery": "false", "homeassistant.prefix": "p", "homeassistant.status_topic": "s",
        "rules": "r.yaml", "state_directory": "s", "control_socket": "s", "flicd.listen": "127.0.0.1:5551",
        "sources": "flicd://h", "engine.name": "a1",
        "uplink": "{broker: mqtt://h, topic: a/b}",
        "actions.shell": "false", "actions.run": "false",
        "actions.http": "false",
        "control.mqtt": "all", "log.level": "debug", "log.format": "json", "metrics.textfile": "m",
        "history": "none", "history_size": "32",
    ]

    private static func configuration(_ key: String, _ value: String) throws -> Configuration {
        let names = key.split(separator: ".")
        let text = names.dropLast().map { "\($0): {" }.joined() + "\(names.last ?? ""): \"\(value)\""
        // Booleans and numbers are not texts.
        let plain = text.replacing("\"\(value)\"", with: value)
        let ends = String(repeating: "}", count: names.count - 1)
        let loaded = [text, plain].map {
            FileLoader.configuration(SourceFile(name: "t.yaml", text: Array(($0 + ends).utf8)), in: FileInputs())
        }
        return try #require(loaded.lazy.compactMap(\.value).first, "\(text)")
    }

    @Test("each key that is written by itself is named by itself", arguments: values.map { ($0.key, $0.value) })
    func each(key: String, value: String) throws {
        let changed = try Self.configuration(key, value)
        #expect(changed.keys(changedSince: Configuration()) == [key])
        #expect(Configuration().keys(changedSince: changed) == [key])
        #expect(changed.keys(changedSince: changed) == [])
    }

    @Test("a field that is new is compared; then it is added here")
    func fields() {
        let fields = Mirror(reflecting: Configuration()).children.count
        let tls = Mirror(reflecting: Configuration.TLS()).children.count
        let permissions = StepKind.allCases.count { $0.permission != nil }
        // What is below web: changes nothing in the daemon, sources: has three fields, and the patience of an engine needs a name.
        #expect(Self.values.count == fields - 6 + tls + permissions)
    }

    @Test("the patience of an engine is compared")
    func patience() throws {
        let text = "engine: {name: a1, patience: 3s}"
        let loaded = FileLoader.configuration(SourceFile(name: "t.yaml", text: Array(text.utf8)), in: FileInputs())
        let changed = try #require(loaded.value)
        #expect(changed.keys(changedSince: try Self.configuration("engine.name", "a1")) == ["engine.patience"])
    }
}
