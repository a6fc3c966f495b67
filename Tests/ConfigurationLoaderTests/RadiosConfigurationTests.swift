import ButtonModel
import ConfigurationLoader
import Diagnostics
import ESPHome
import Settings
import Testing
import YAMLFiles

@Suite("radios: in tryck.yaml")
struct RadiosConfigurationTests {
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private func load(_ text: String, secrets: String = "") -> LoadResult<Configuration> {
        FileLoader.configuration(
            SourceFile(name: "tryck.yaml", text: Array(text.utf8)),
            in: FileInputs(secrets: SourceFile(name: "secrets.yaml", text: Array(secrets.utf8))))
    }

    @Test("each kind of radio, with its name")
    func kinds() throws {
        let loaded = load(
            """
            radios:
              - hci:0
              - bluez
              - {adapter: "hci:00:1A:7D:DA:71:13", name: attic}
              - {esphome: hall-proxy.local, key: !secret hall}
              - {esphome: "192.168.1.44:6060", name: garage, maximum_connections: 2}
              - {command: [/usr/bin/ssh, -T, shed]}
            """, secrets: "hall: \(Self.key)")
        #expect(loaded.diagnostics.isEmpty)
        #expect(
            try #require(loaded.value).usedRadios == [
                .init(.hciIndex(0), name: "hci0"), .init(.bluez, name: "bluez"),
                .init(.hciAddress(BluetoothAddress(rawValue: 0x001A_7DDA_7113)), name: "attic"),
                .init(
                    .esphome(host: "hall-proxy.local", port: 6053, key: ESPHomeKey(Array(0..<32))), name: "hall-proxy"),
                .init(.esphome(host: "192.168.1.44", port: 6060, key: nil), name: "garage", maximumConnections: 2),
                .init(.command(["/usr/bin/ssh", "-T", "shed"]), name: "ssh"),
            ])
    }

    @Test("one line is enough, transport: is the same as one radio, and none is no radio")
    func one() {
        #expect(load("radios: hci:0").value?.usedRadios == [.init(.hciIndex(0), name: "hci0")])
        #expect(load("bluetooth: {transport: hci:0}").value?.usedRadios == [.init(.hciIndex(0), name: "hci0")])
        #expect(load("mqtt: {broker: none}").value?.usedRadios == [.init(.auto, name: "auto")])
        #expect(load("bluetooth: {transport: none}").value?.usedRadios == [])
    }

    @Test(
        "mistakes have a code and a place",
        arguments: [
            ("radios: []", "E212", 1), ("bluetooth: {transport: auto}\nradios: hci:0", "E203", 2),
            ("radios: [hci:0, hci:0]", "E203", 1), ("radios:\n- hci:0\n- {adapter: hci:1, name: hci0}", "E203", 3),
            ("radios: [bluez, \"bluez:0\"]", "E203", 1), ("radios: [\"bluez:0\", auto]", "E203", 1),
            ("radios: [hci:x]", "E204", 1), ("radios: [{name: attic}]", "E203", 1),
            ("radios: [{adapter: hci:0, command: [a]}]", "E203", 1), ("radios: [{adapter: hci:0, key: x}]", "E203", 1),
            ("radios:\n- esphome: a\n  key: !secret short", "E203", 3), ("radios: [{esphome: \"a:b:c\"}]", "E203", 1),
            ("radios: [{adapter: hci:0, name: two words}]", "E203", 1),
            ("radios: [{esphome: a, maximum_connections: 0}]", "E205", 1),
            ("radios: [{adapter: hci:0, transport: hci:0}]", "E201", 1),
            ("radios: [\"simulated:a\", \"simulated:b\"]", "E203", 1),
            ("radios: [" + (0..<17).map { "hci:\($0)" }.joined(separator: ", ") + "]", "E203", 1),
        ])
    func mistakes(text: String, code: String, line: Int) {
        let loaded = load(text, secrets: "short: AAAA")
        #expect(loaded.value == nil)
        #expect(loaded.diagnostics.first?.code == code)
        #expect(loaded.diagnostics.first?.start.line == line)
    }

    @Test("a key that is written in clear is a warning, and messages do not show it")
    func plainKey() {
        let loaded = load("radios: [{esphome: a, key: \(Self.key)}]")
        #expect(loaded.diagnostics.map(\.code) == ["W712"])
        #expect(loaded.value.map { "\($0)".contains("AAECAw") } == false)
        let wrong = load("radios: [{esphome: a, key: AAAA}]")
        #expect(wrong.diagnostics.contains { $0.code == "E203" && !$0.message.contains("AAAA") })
    }
}
