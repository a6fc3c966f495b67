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
            ("home.yaml", "rules:\n  - mqtt: x\n", .rules),
            ("home.yaml", "", .rules),
            ("home.yaml", "mqtt", .rules),
        ])
    func kind(name: String, text: String, kind: FileKind) {
        #expect(FileKind(name: name, text: Array(text.utf8)) == kind)
    }
}
