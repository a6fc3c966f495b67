import RuleLoader
import Testing

@Suite("Kinds of files")
struct FileKindTests {
    @Test(
        "rules have a version; a configuration has its name or its keys",
        arguments: [
            ("tryck.yaml", "version: 1\n", FileKind.rules),
            ("/etc/tryck/tryck.yaml", "rules: home.yaml\n", .configuration),
            ("test.yaml", "# a comment\nmqtt: {broker: none}\n", .configuration),
            ("test.yaml", "radios: [{transport: auto}]\n", .configuration),
            ("test.yaml", "rules: home.yaml\nactions: {shell: allowed}\n", .configuration),
            ("home.yaml", "rules:\n  - mqtt: x\n", .rules),
            ("home.yaml", "alias: K\ntriggers:\n  - trigger: state\nactions:\n  - action: light.turn_on\n", .rules),
            ("home.yaml", "buttons: {k: BF12-C34567}\nrules: []\nactions:\n  - log: x\n", .rules),
            ("home.yaml", "", .rules),
            ("home.yaml", "mqtt", .rules),
        ])
    func kind(name: String, text: String, kind: FileKind) {
        #expect(FileKind(name: name, text: Array(text.utf8)) == kind)
    }
}
