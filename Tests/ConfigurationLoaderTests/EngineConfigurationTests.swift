import ConfigurationLoader
import Diagnostics
import Settings
import Testing
import YAMLFiles

@Suite("Engines and sites in tryck.yaml")
struct EngineConfigurationTests {
    private static func load(_ text: String) -> LoadResult<Configuration> {
        FileLoader.configuration(SourceFile(name: "tryck.yaml", text: Array(text.utf8)), in: FileInputs())
    }

    @Test("sites by name or all, their share and the name of the engine are read, beside flicds")
    func sites() {
        let loaded = Self.load(
            """
            engine: {name: a1, patience: 3s}
            sources:
              - flicd://attic
              - {mqtt: "tryck/+", share: 2 of 4}
              - mqtt: other/berlin7
            """)
        #expect(loaded.diagnostics == [])
        #expect(loaded.value?.sites == ["tryck/+", "other/berlin7"])
        #expect(loaded.value?.share == Configuration.Share("2 of 4"))
        #expect(loaded.value?.engineName == "a1")
        #expect(loaded.value?.enginePatience == .seconds(3))
        #expect(Self.load("engine: {name: a1, patience: 2s}").value?.enginePatience == .seconds(2))
        #expect(Self.load("engine: {name: a1, patience: 60s}").value?.enginePatience == .seconds(60))
        #expect(loaded.value?.sources.count == 1)
    }

    @Test(
        "mistakes are reported, and no configuration is loaded",
        arguments: [
            ("sources: {mqtt: tryck/+}", "an engine of sites needs a name"),
            ("engine: {name: a}\nsources: {mqtt: 'tryck/#'}", "\"tryck/#\" is not the base topic of a site"),
            ("engine: {name: a}\nsources: {mqtt: tryck/b+}", "\"tryck/b+\" is not the base topic of a site"),
            ("engine: {name: a}\nsources: {mqtt: s, share: 5 of 4}", "\"5 of 4\" is not a share"),
            (
                "engine: {name: a}\nsources: [{mqtt: s, share: 1 of 4}, {mqtt: t, share: 2 of 4}]",
                "an engine has one share, and another source says 1 of 4"
            ),
            ("engine: {name: a}\nsources: [{mqtt: s}, {mqtt: s}]", "the source \"s\" is listed twice"),
            ("engine: {name: ''}\nsources: {mqtt: s}", "the name of an engine has 1 to 64 octets"),
            ("engine: {name: a, patience: 1999ms}", "\"patience\" must be between 2s and 1m, not 1999ms"),
            ("engine: {name: a, patience: 61s}", "\"patience\" must be between 2s and 1m, not 61s"),
            ("engine: {name: a}\nmqtt: {broker: none}\nsources: {mqtt: s}", "sites need the broker of mqtt:"),
        ])
    func mistakes(text: String, sentence: String) {
        let loaded = Self.load(text)
        #expect(loaded.value == nil)
        #expect(loaded.diagnostics.contains { $0.message == sentence }, "\(loaded.diagnostics)")
    }
}
