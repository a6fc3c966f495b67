import Diagnostics
import RuleLoader
import Rules
import Testing
import YAMLFiles

@Suite("The files of a rule set")
struct RuleSetLoaderTests {
    private static func file(_ name: String, _ text: String, identity: String? = nil) -> SourceFile {
        SourceFile(name: name, text: Array(text.utf8), identity: identity)
    }

    private static func rule(_ id: String) -> String {
        "rules:\n  - {id: \(id), triggers: {button: a, event: click}, actions: {log: \(id)}}\n"
    }

    private static let head = "version: 1\nbuttons: {a: BF12-C34567}\n"

    private func load(_ entry: String, _ files: [String: String], name: String = "home.yaml") -> LoadResult<RuleSet> {
        let files = Dictionary(uniqueKeysWithValues: files.map { ($0, Self.file($0, $1)) })
        return FileLoader.rules(Self.file(name, Self.head + entry), in: LoadInputs(files: files))
    }

    private func ids(_ loaded: LoadResult<RuleSet>) -> [String]? { loaded.value?.rules.map(\.id) }

    @Test("a set of one file wants nothing")
    func alone() {
        let loader = RuleSetLoader(Self.file("home.yaml", Self.head + Self.rule("one")), in: LoadInputs())
        #expect(loader.nextRequest == nil)
        #expect(ids(loader.loaded()) == ["one"])
    }

    @Test("what is included is asked for in the order it is found, and where it stands")
    func wants() {
        var loader = RuleSetLoader(
            Self.file("rules/home.yaml", Self.head + "include: [b.yaml, rooms/*.yaml]\n" + Self.rule("one")),
            in: LoadInputs())
        #expect(loader.nextRequest == .files(PathPattern("b.yaml"), from: "rules/home.yaml"))
        loader.answer(.files([Self.file("rules/b.yaml", "include: c.yaml\n" + Self.rule("two"))]))
        #expect(loader.nextRequest == .files(PathPattern("rooms/*.yaml"), from: "rules/home.yaml"))
        loader.answer(.files([Self.file("rules/rooms/d.yaml", Self.rule("four"))]))
        #expect(loader.nextRequest == .files(PathPattern("c.yaml"), from: "rules/b.yaml"))
        loader.answer(.files([Self.file("rules/c.yaml", Self.rule("three"))]))
        #expect(loader.nextRequest == nil)
        #expect(ids(loader.loaded()) == ["one", "two", "three", "four"])
    }

    @Test("files come before those they include, and those in the order of their octets")
    func order() {
        let loaded = load(
            "include: [z.yaml, '*.yaml']\n" + Self.rule("one"),
            [
                "z.yaml": Self.rule("z"), "b.yaml": "include: sub/x.yaml\n" + Self.rule("b"),
                "sub/x.yaml": Self.rule("x"), "B.yaml": Self.rule("capital"), "ä.yaml": Self.rule("umlaut"),
            ])
        #expect(loaded.diagnostics == [])
        #expect(ids(loaded) == ["one", "capital", "b", "x", "z", "umlaut"])
    }

    @Test("a file that two files include is read once, whatever names lead to it")
    func twice() {
        var loader = RuleSetLoader(
            Self.file("home.yaml", Self.head + "include: [a.yaml, link.yaml]\n"), in: LoadInputs())
        loader.answer(.files([Self.file("a.yaml", Self.rule("one"), identity: "/etc/a.yaml")]))
        loader.answer(.files([Self.file("link.yaml", Self.rule("one"), identity: "/etc/a.yaml")]))
        let loaded = loader.loaded()
        #expect(loaded.diagnostics == [])
        #expect(ids(loaded) == ["one"])
    }

    @Test("what two files of a directory ask for is asked for once")
    func asksOnce() {
        var loader = RuleSetLoader(
            Self.file("home.yaml", Self.head + "include: [a.yaml, b.yaml]\n"), in: LoadInputs())
        loader.answer(.files([Self.file("a.yaml", "include: c.yaml\n")]))
        loader.answer(.files([Self.file("b.yaml", "include: c.yaml\n" + Self.rule("b"))]))
        #expect(loader.nextRequest == .files(PathPattern("c.yaml"), from: "a.yaml"))
        loader.answer(.files([Self.file("c.yaml", Self.rule("c"))]))
        #expect(loader.nextRequest == nil)
        #expect(ids(loader.loaded()) == ["c", "b"])
    }

    @Test("a glob passes over the files that led to it, and over the secrets")
    func glob() {
        let secrets = Self.file("secrets.yaml", "token: x\n")
        var environment = LoadInputs(secrets: secrets)
        environment.files = [
            "secrets.yaml": secrets, "b.yaml": Self.file("b.yaml", "include: '*.yaml'\n" + Self.rule("b")),
        ]
        let loaded = FileLoader.rules(Self.file("home.yaml", Self.head + "include: '*.yaml'\n"), in: environment)
        #expect(loaded.diagnostics == [])
        #expect(ids(loaded) == ["b"])
    }

    @Test(
        "an answer that is no file is an error at the entry that asked",
        arguments: [
            (RuleSetLoader.Answer.noSuchFile, "E308"), (.isOutside, "E308"),
            (.cannotBeRead("permission denied"), "E308"),
            (.files([]), "E308"), (.tooManyFiles, "E112"),
        ])
    func refused(answer: RuleSetLoader.Answer, code: String) {
        var loader = RuleSetLoader(Self.file("home.yaml", Self.head + "include: b.yaml\n"), in: LoadInputs())
        loader.answer(answer)
        #expect(loader.nextRequest == nil)
        let loaded = loader.loaded()
        #expect(loaded.value == nil)
        #expect(loaded.diagnostics.map(\.code) == [code])
        #expect(loaded.diagnostics.first?.start == SourcePosition(line: 3, column: 10))
    }

    @Test("a thousand files are a set, one more is not")
    func count() {
        let files = { (count: Int) in
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("x/\($0).yaml", Self.rule("r\($0)")) })
        }
        #expect(load("include: x/*.yaml\n", files(999)).value?.rules.count == 999)
        #expect(load("include: [x/?.yaml, x/??.yaml, x/???.yaml]\n", files(1000)).diagnostics.map(\.code) == ["E112"])
    }

    @Test("a chain of a thousand files is read, and one that closes is a cycle")
    func chain() {
        var files: [String: String] = [:]
        for number in 0..<998 { files["\(number).yaml"] = "include: \(number + 1).yaml\n" }
        files["998.yaml"] = Self.rule("last")
        #expect(ids(load("include: 0.yaml\n", files)) == ["last"])
        files["998.yaml"] = "include: home.yaml\n"
        #expect(load("include: 0.yaml\n", files).diagnostics.map(\.code) == ["E307"])
    }

    @Test("the zone of the location is asked for once all files are there, unless it is at hand")
    func zone() {
        let entry = Self.file("home.yaml", Self.head + "location: {timezone: Europe/Amsterdam}\n" + Self.rule("one"))
        #expect(RuleSetLoader(entry, in: LoadInputs()).nextRequest == .timeZone("Europe/Amsterdam"))
        let known = LoadInputs(timeZones: ["Europe/Amsterdam": []])
        #expect(RuleSetLoader(entry, in: known).nextRequest == nil)
    }

    @Test(
        "a zone whose name leads elsewhere is not asked for",
        arguments: ["../passwd", "/etc/passwd", "Europe//Amsterdam", "a/../b", ".hidden", "\"\"", "[a]"])
    func wrongZone(name: String) {
        let entry = Self.file("home.yaml", Self.head + "location: {timezone: \(name)}\n" + Self.rule("one"))
        #expect(RuleSetLoader(entry, in: LoadInputs()).nextRequest == nil)
    }

    private static let reloading = """
        tests:
          - name: another
            steps: [{reload: other.yaml}, {reload: other.yaml}, {reload: }]

        """

    @Test("a reloaded file brings a set of its own, with what it includes")
    func reload() throws {
        let loaded = load(
            Self.rule("one") + Self.reloading,
            ["other.yaml": Self.head + "include: more.yaml\n" + Self.rule("two"), "more.yaml": Self.rule("three")])
        #expect(loaded.diagnostics == [])
        let steps = try #require(loaded.value?.tests.first?.steps)
        guard case .reload(.set(let set)) = steps.first?.kind else {
            Issue.record("no set: \(steps)")
            return
        }
        #expect(set.rules.map(\.id) == ["two", "three"])
        #expect(steps.last?.kind == .reload(nil))
    }

    @Test("a reloaded file with errors is no error, and neither is a file that reloads itself")
    func wrongReload() throws {
        let wrong = load(Self.rule("one") + Self.reloading, ["other.yaml": "version: 1\nrulse: []\n"])
        #expect(wrong.diagnostics == [])
        #expect(wrong.value?.tests.first?.steps.first?.kind == .reload(.hasErrors(file: "other.yaml")))
        let itself = load(Self.rule("one") + Self.reloading.replacing("other", with: "home"), [:])
        #expect(itself.diagnostics == [])
    }

    @Test(
        "a pattern takes the names it stands for",
        arguments: [
            ("*.yaml", "a.yaml", true), ("*.yaml", ".yaml", false), ("*.yaml", "a.yml", false),
            ("*.yaml", "a/b.yaml", false), ("*/b.yaml", "a/b.yaml", true), ("?.yaml", "é.yaml", true),
            ("?.yaml", "ab.yaml", false), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true),
            ("[]x]", "]", true), ("[a", "[a", true), ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-b-b-d", false),
            (".*", ".a", true), ("**", "abc", true), ("[a-]", "-", true),
        ])
    func pattern(pattern: String, path: String, matches: Bool) {
        #expect(PathPattern(pattern).matches(path) == matches)
    }

    @Test("a pattern of many stars takes no time")
    func stars() {
        let pattern = String(repeating: "*a", count: 500) + "b"
        #expect(!PathPattern(pattern).matches(String(repeating: "a", count: 2000)))
    }

    @Test(
        "a path is found from where the file stands",
        arguments: [
            ("b.yaml", "home.yaml", "b.yaml"), ("b.yaml", "rules/home.yaml", "rules/b.yaml"),
            ("../b.yaml", "rules/rooms/a.yaml", "rules/b.yaml"), ("./x//b.yaml", "/r/home.yaml", "/r/x/b.yaml"),
            ("../../b.yaml", "r/a.yaml", "../b.yaml"), ("../../b.yaml", "/r/a.yaml", "/b.yaml"),
            ("/etc/b.yaml", "r/a.yaml", "/etc/b.yaml"),
        ])
    func path(path: String, file: String, found: String) {
        #expect(PathPattern.path(path, relativeTo: file) == found)
    }
}
