import DiskTestSupport
import Glibc
import Hub
import Rules
import Testing

@testable import Setup

@Suite("Rule files")
struct RuleFilesTests {
    // MARK: Includes

    @Test("a path is read from the directory of the file it stands in, and called as that one is")
    func path() throws {
        let tree = Tree(["rooms/hall.yaml": "hall", "rooms/more/attic.yaml": "attic"])
        let hall = try #require(tree.files("rooms/hall.yaml").first)
        #expect(hall.name == tree.path + "/rooms/hall.yaml")
        #expect(hall.octets == Array("hall".utf8))
        #expect(!hall.isReadableByOthers)
        #expect(tree.files("more/attic.yaml", besides: "rooms/hall.yaml").map(\.octets) == [Array("attic".utf8)])
        #expect(tree.files("../home.yaml", besides: "rooms/hall.yaml").map(\.path) == [tree.path + "/home.yaml"])
        #expect(tree.files(tree.path + "/rooms/hall.yaml").map(\.path) == [hall.path])
    }

    @Test("a pattern finds files in the order of their octets, and neither directories nor hidden files")
    func pattern() {
        let tree = Tree([
            "rooms/b.yaml": "", "rooms/B.yaml": "", "rooms/ä.yaml": "", "rooms/a.yml": "", "rooms/.c.yaml": "",
            "rooms/d.yaml/e": "", "attic/f.yaml": "",
        ])
        #expect(tree.names("rooms/*.yaml") == ["rooms/B.yaml", "rooms/b.yaml", "rooms/ä.yaml"])
        #expect(tree.names("*/?.yaml") == ["attic/f.yaml", "rooms/B.yaml", "rooms/b.yaml"])
        #expect(tree.names("[r]ooms/[a-b].*") == ["rooms/a.yml", "rooms/b.yaml"])
        #expect(tree.names("./rooms/b*") == ["rooms/b.yaml"])
        #expect(tree.names("cellar/*.yaml") == [])
    }

    @Test("what is not there is not found, and what leads out is outside")
    func outside() throws {
        let other = Tree(["secret.yaml": "secret"])
        let tree = Tree(["rooms/hall.yaml": "hall"])
        symlink(other.path + "/secret.yaml", tree.path + "/link.yaml")
        symlink(other.path, tree.path + "/linked")
        symlink("rooms", tree.path + "/inside")
        symlink("nowhere", tree.path + "/dangling.yaml")
        #expect(tree.answer("none.yaml") == .noSuchFile)
        #expect(tree.answer("home.yaml/x") == .noSuchFile)
        #expect(tree.answer("dangling.yaml") == .noSuchFile)
        #expect(tree.answer("a\0b") == .noSuchFile)
        #expect(tree.answer("/etc/passwd") == .isOutside)
        #expect(tree.answer("../\(other.path.split(separator: "/").last ?? "")/secret.yaml") == .isOutside)
        #expect(tree.answer("link.yaml") == .isOutside)
        #expect(tree.answer("linked/secret.yaml") == .isOutside)
        #expect(tree.answer("link*.yaml") == .isOutside)
        #expect(tree.answer("linked/*.yaml") == .isOutside)
        #expect(tree.answer("/etc/pass*") == .isOutside)
        #expect(tree.files("inside/hall.yaml").map(\.path) == [tree.path + "/rooms/hall.yaml"])
        #expect(tree.names("inside/*.yaml") == ["inside/hall.yaml"])
    }

    @Test("a sibling whose name begins like the directory's is outside")
    func sibling() {
        let tree = Tree(["rules/home.yaml": "", "rules-old/home.yaml": ""])
        let answer = RuleFiles.files(
            matching: "../rules-old/home.yaml", relativeTo: tree.path + "/rules/home.yaml",
            entry: tree.path + "/rules/home.yaml", matches: fits)
        #expect(answer == .isOutside)
    }

    @Test("a directory, a pipe and a device are no files of a set")
    func notRegular() {
        let tree = Tree([:])
        mkdir(tree.path + "/rooms", 0o700)
        mkfifo(tree.path + "/pipe.yaml", 0o600)
        #expect(tree.answer("rooms") == .cannotBeRead("it is not a regular file"))
        #expect(tree.answer("pipe.yaml") == .cannotBeRead("it is not a regular file"))
        #expect(tree.names("p*.yaml") == [])
        #expect(RuleFiles.file("/dev/zero") == .cannotBeRead("it is not a regular file"))
    }

    @Test("sixteen mebibytes are read, and an octet more is not")
    func length() {
        let tree = Tree([:])
        writeFile(tree.path + "/whole.yaml", [UInt8](repeating: 0x20, count: RuleFiles.maximumLength))
        #expect(tree.files("whole.yaml").first?.octets.count == RuleFiles.maximumLength)
        writeFile(tree.path + "/more.yaml", [UInt8](repeating: 0x20, count: RuleFiles.maximumLength + 1))
        #expect(tree.answer("more.yaml") == .cannotBeRead("it is longer than 16 MiB"))
    }

    @Test("an entry file that is too long is read, so that the loader can report its length")
    func lengthOfEntry() throws {
        let tree = Tree([:])
        let path = tree.path + "/long.yaml"
        writeFile(path, [UInt8](repeating: 0x20, count: RuleFiles.maximumLength + 1))
        let rules = RulesOnDisk(path: path, files: ConfigurationFiles(environment: [:]))
        #expect(try rules.load().report.summary == "\(path):1:1: longer than 16 MiB")
    }

    @Test("the report of a set with errors has each hint, for the answer to a reload")
    func hints() throws {
        let rule = "{id: a, triggers: {button: any, event: click}, actions: {enable: night_ligt}}"
        let other = "{id: night_light, triggers: {button: any, event: tap}, actions: {log: x}}"
        let tree = Tree(["faulty.yaml": "version: 1\nrules: [\(rule), \(other)]\n"])
        let rules = RulesOnDisk(path: tree.path + "/faulty.yaml", files: ConfigurationFiles(environment: [:]))
        let problems = try rules.load().report.problems.map { "\($0)" }
        let hints = [#""hint":"did you mean \"night_light\"?""#, #""hint":"use click""#]
        #expect(problems.count == hints.count)
        for hint in hints { #expect(problems.contains { $0.contains(hint) }, "\(problems)") }
    }

    @Test(
        "a set that is refused has its secrets in the report and in the first configuration, also if it is no YAML",
        arguments: ["actions: {lgo: !secret word}", "actions: {log: !secret word}, {", "actions: [!secret 'word'"])
    func refusedSecrets(actions: String) throws {
        let rule = "{id: a, triggers: {button: any, event: click}, actions: {log: !env_var WORD}}"
        let tree = Tree([
            "faulty.yaml": "version: 1\nrules:\n  - \(rule)\n  - \(actions)\n",
            "secrets.yaml": "word: copper-4711\nother: brass-0815\n",
        ])
        let files = ConfigurationFiles(environment: ["WORD": "iron-7777"])
        let rules = RulesOnDisk(path: tree.path + "/faulty.yaml", files: files)
        let report = try rules.load().report
        #expect(report.set == nil)
        #expect(report.refusedValues.marks["copper-4711"] == "***word***")
        // Other programs may use the file, and their values may be common words.
        #expect(!report.refusedValues.values.contains("brass-0815"))
        #expect(files.initialRules(rules, stateDirectory: tree.path).refusedValues == report.refusedValues)
    }

    @Test("in a set that is refused, a value is secret also if a variable has it, too, and an empty one is none")
    func refusedValues() throws {
        let rule = "{id: a, triggers: {button: any, event: click}, actions: {log: !env_var WORD}}"
        let tree = Tree([
            "faulty.yaml": "version: 1\nrules:\n  - \(rule)\n  - {lgo: [!secret word, !secret empty]}\n",
            "secrets.yaml": "word: copper-4711\nempty: ''\n",
        ])
        let files = ConfigurationFiles(environment: ["WORD": "copper-4711"])
        let report = try RulesOnDisk(path: tree.path + "/faulty.yaml", files: files).load().report
        #expect(report.set == nil)
        #expect(report.refusedValues.values == ["copper-4711"] && report.refusedValues.open == [])
    }

    @Test(
        "a name after !secret may have spaces, a colon or a quote, be in quotes, in the next line, or after another tag",
        arguments: [
            #"{log: !secret "two words"}"#, "{log: !secret\n      'two words'}", "[!secret !secret 'two words'",
            "{log: !secret two words}", "[!secret  two words  # why", "[!secret 'it''s', x", "{log: !secret a:b}",
        ])
    func refusedSecretOfSeveralWords(actions: String) throws {
        let tree = Tree([
            "faulty.yaml": "version: 1\nrules:\n  - {id: a, actions: \(actions), {\n",
            "secrets.yaml": "two words: copper-4711\nit's: copper-4711\na:b: copper-4711\ntwo: brass-0815\n",
        ])
        let rules = RulesOnDisk(path: tree.path + "/faulty.yaml", files: ConfigurationFiles(environment: [:]))
        let report = try rules.load().report
        #expect(report.set == nil && report.refusedValues.values.contains("copper-4711"))
    }

    @Test("a set that is taken, and one that fails its tests, has the secrets of the set")
    func takenSecrets() throws {
        let text = """
            version: 1
            buttons: {kitchen: BF12-C34567}
            rules: [{id: a, triggers: {button: kitchen, event: click}, actions: {log: !secret word}}]
            tests: [{name: b, steps: [{event: {button: kitchen, event: click}}, {expect: [{log: c}]}]}]

            """
        let tree = Tree(["tested.yaml": text, "secrets.yaml": "word: copper-4711\n"])
        let rules = RulesOnDisk(
            path: tree.path + "/tested.yaml", files: ConfigurationFiles(environment: [:]))
        let taken = try rules.load()
        #expect(taken.report.set?.confidential == ["copper-4711"] && taken.report.refusedValues.values.isEmpty)
        let failed = try rules.load(withTests: true).report
        #expect(failed.set == nil && failed.failing != nil && failed.refusedValues.values == ["copper-4711"])
    }

    @Test("a pattern finds a thousand files, and of one more none")
    func count() {
        let tree = Tree([:])
        for number in 1...RuleFiles.maximumFiles { writeFile("\(tree.path)/\(number).yml", []) }
        #expect(tree.files("*.yml").count == RuleFiles.maximumFiles)
        writeFile(tree.path + "/more.yml", [])
        #expect(tree.answer("*.yml") == .tooManyFiles)
    }

    @Test("a file that other users may read is marked")
    func mode() {
        let tree = Tree([:])
        for (mode, expected) in [(0o600, false), (0o640, true), (0o604, true)] as [(mode_t, Bool)] {
            chmod(tree.path + "/home.yaml", mode)
            #expect(tree.files("home.yaml").map(\.isReadableByOthers) == [expected])
        }
    }

    @Test("a file by itself is read wherever it is")
    func single() {
        let tree = Tree([:])
        symlink("home.yaml", tree.path + "/link.yaml")
        guard case .files(let files) = RuleFiles.file(tree.path + "/link.yaml") else { return #expect(Bool(false)) }
        #expect(files.map(\.name) == [tree.path + "/link.yaml"])
        #expect(files.map(\.path) == [tree.path + "/home.yaml"])
        #expect(RuleFiles.file(tree.path + "/none.yaml") == .noSuchFile)
    }

    // MARK: Programs

    @Test("programs are the executable files of the directories")
    func programs() {
        let tree = Tree(["bin/one": "", "bin/data": "", "sbin/two": "", "sbin/one": ""])
        for name in ["bin/one", "sbin/two", "sbin/one"] { chmod("\(tree.path)/\(name)", 0o700) }
        mkdir(tree.path + "/bin/folder", 0o700)
        symlink("one", tree.path + "/bin/linked")
        symlink("none", tree.path + "/bin/dangling")
        let found = ["one", "two", "data", "folder", "linked", "dangling", "none"].filter { name in
            RuleFiles.isProgram(name, in: ["bin", "sbin", "none"].map { "\(tree.path)/\($0)" })
        }
        #expect(found == ["one", "two", "linked"])
        #expect(RuleFiles.isProgram("env"))
    }
}

@Suite("Time zones of the system")
struct ZoneFilesTests {
    @Test("a zone is a file below the directory, and nothing else is")
    func zones() {
        let tree = Tree(["zoneinfo/Europe/Amsterdam": "TZif", "zoneinfo/GMT+1": "TZif", "secret": "no"])
        let zones = tree.zones
        #expect(zones.zone("Europe/Amsterdam") == Array("TZif".utf8))
        #expect(zones.zone("GMT+1") == Array("TZif".utf8))
        for name in [
            "", "Europe", "Europe/", "/Europe/Amsterdam", "../secret", "Europe/../../secret", "Europe/./Amsterdam",
            "Europe//Amsterdam", "Europe/Amsterdam\0", "Europe/Atlantis", "Europe/Amster dam",
        ] {
            #expect(zones.zone(name) == nil, "\(name)")
        }
        writeFile(tree.path + "/zoneinfo/Large", [UInt8](repeating: 0, count: ZoneFiles.maximumLength + 1))
        #expect(zones.zone("Large") == nil)
    }

    @Test("the system's zone is what /etc/localtime leads to, by that name")
    func link() {
        let tree = Tree(["zoneinfo/Europe/Amsterdam": "TZif"])
        #expect(tree.zones.system(nil) == nil)
        for folder in ["./zoneinfo", tree.path + "/zoneinfo"] {
            symlink(folder + "/Europe/Amsterdam", tree.path + "/localtime")
            #expect(tree.zones.system(nil) == .init(name: "Europe/Amsterdam", octets: Array("TZif".utf8)))
            unlink(tree.path + "/localtime")
        }
    }

    @Test("a copy has the name that stands in /etc/timezone, if it is one")
    func copy() {
        let tree = Tree(["localtime": "TZif"])
        #expect(tree.zones.system(nil)?.name == "localtime")
        writeFile(tree.path + "/timezone", "Europe/Amsterdam\n".utf8)
        #expect(tree.zones.system(nil)?.name == "Europe/Amsterdam")
        writeFile(tree.path + "/timezone", "../secret\n".utf8)
        #expect(tree.zones.system(nil)?.name == "localtime")
    }

    @Test("TZ wins: a name, a path, a rule, or nothing for UTC")
    func variable() {
        let tree = Tree(["zoneinfo/Asia/Tokyo": "TZif", "localtime": "TZif local"])
        let tokyo = ZoneFiles.Zone(name: "Asia/Tokyo", octets: Array("TZif".utf8))
        for text in [
            "Asia/Tokyo", ":Asia/Tokyo", tree.path + "/zoneinfo/Asia/Tokyo", ":" + tree.path + "/zoneinfo/Asia/Tokyo",
        ] {
            #expect(tree.zones.system(text) == tokyo, "\(text)")
        }
        #expect(tree.zones.system(":" + tree.path + "/localtime")?.octets == Array("TZif local".utf8))
        for text in ["", ":", "Asia/Atlantis", "/no/such/file"] { #expect(tree.zones.system(text) == nil, "\(text)") }
        let rule = tree.zones.system("CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(rule?.name == "CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(rule?.octets.prefix(5) == ArraySlice("TZif2".utf8))
        #expect(rule?.octets.suffix(28) == ArraySlice("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8))
        // Two headers of 44 octets, each with a block of one type and one octet of names.
        #expect(rule?.octets.count == 2 * (44 + 7) + 28)
    }
}

/// A directory with `home.yaml` and other files, gone with the last reference.
private final class Tree {
    private let directory = TemporaryDirectory()
    var path: String { directory.path }

    init(_ files: [String: String]) {
        for (name, text) in files.merging(["home.yaml": "home"], uniquingKeysWith: { own, _ in own }) {
            let steps = name.split(separator: "/")
            for count in 1..<max(1, steps.count) {
                mkdir(path + "/" + steps.prefix(count).joined(separator: "/"), 0o700)
            }
            writeFile("\(path)/\(name)", text.utf8)
        }
    }

    func answer(_ pattern: String, besides file: String = "home.yaml") -> RuleFiles.FileResult {
        RuleFiles.files(
            matching: pattern, relativeTo: "\(path)/\(file)", entry: path + "/home.yaml", matches: fits)
    }

    func files(_ pattern: String, besides file: String = "home.yaml") -> [RuleFiles.File] {
        if case .files(let files) = answer(pattern, besides: file) { files } else { [] }
    }

    /// Without the directory.
    func names(_ pattern: String) -> [String] { files(pattern).map { String($0.name.dropFirst(path.count + 1)) } }

    var zones: ZoneFiles {
        ZoneFiles(directory: path + "/zoneinfo", localTime: path + "/localtime", timeZone: path + "/timezone")
    }
}

private func fits(_ name: Substring, _ pattern: Substring) -> Bool {
    fnmatch(String(pattern), String(name), FNM_PERIOD) == 0
}
