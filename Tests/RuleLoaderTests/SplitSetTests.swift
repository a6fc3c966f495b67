import Diagnostics
import Foundation
import RuleLoader
import Rules
import TestSupport
import Testing
import YAMLFiles

/// The same set in one file, and in several files.
@Suite("A set in several files")
struct SplitSetTests {
    /// The entries under a key.
    private struct Section {
        var key: String
        var entries: [String]
    }

    private let head: String
    private let sections: [Section]
    private let environment: LoadInputs

    init() throws {
        let file = try Project.file("Tests/RuleLoaderTests/Examples/house.yaml")
        // An anchor is good for one file.
        let text = String(decoding: file.text, as: UTF8.self)
            .replacing("*night", with: "{time: {after: sunset - 30m, before: sunrise}}")
        var head: [String] = []
        var sections: [Section] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) {
            switch line.prefix(3) {
            case let start where !start.hasPrefix(" "):
                if line.hasPrefix("location:") || line.hasPrefix("version:") {
                    head.append(line)
                } else if let colon = line.firstIndex(of: ":"), !line.hasPrefix("#") {
                    sections.append(Section(key: String(line[..<colon]), entries: []))
                }
            case let start where start.hasPrefix("  ") && start != "   ":
                sections[sections.count - 1].entries.append(line)
            default:
                let last = sections[sections.count - 1].entries.count - 1
                sections[sections.count - 1].entries[last] += "\n" + line
            }
        }
        head += sections.filter { $0.key == "defaults" }.map { SplitSetTests.text(of: $0) }
        self.head = head.joined(separator: "\n")
        self.sections = sections.filter { $0.key != "defaults" && !$0.key.hasPrefix("x-") }
        environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: Array("ntfy_token: Bearer abc\n".utf8)),
            timeZones: ["Europe/Amsterdam": try Project.zone("Europe/Amsterdam")])
    }

    private static func text(of section: Section) -> String {
        ([section.key + ":"] + section.entries).joined(separator: "\n")
    }

    private func load(_ files: [[Section]]) -> LoadResult<RuleSet> {
        var environment = environment
        let texts = files.map { $0.filter { !$0.entries.isEmpty }.map(SplitSetTests.text).joined(separator: "\n") }
        for (number, text) in texts.enumerated().dropFirst() {
            let name = "rooms/\(number + 100).yaml"
            environment.files[name] = SourceFile(name: name, text: Array(text.utf8))
        }
        let include = files.count > 1 ? "include: rooms/*.yaml\n" : ""
        let entry = "\(head)\n\(include)\(texts[0])\n"
        return FileLoader.rules(SourceFile(name: "house.yaml", text: Array(entry.utf8)), in: environment)
    }

    @Test("it does not matter how a set is cut into files", arguments: 0..<40 as Range<UInt64>)
    func cut(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...6, using: &generator)
        var files = [[Section]](repeating: [], count: count)
        for section in sections {
            let cuts = (1..<count).map { _ in Int.random(in: 0...section.entries.count, using: &generator) }.sorted()
            for (file, (start, end)) in zip([0] + cuts, cuts + [section.entries.count]).enumerated() {
                files[file].append(Section(key: section.key, entries: Array(section.entries[start..<end])))
            }
        }
        let whole = load([sections])
        let cut = load(files)
        #expect(cut.diagnostics == [])
        #expect(whole.value != nil)
        let isSame = cut.value == whole.value
        #expect(isSame)
    }

    @Test("what is declared by name may stand in any order", arguments: 0..<20 as Range<UInt64>)
    func shuffled(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shuffled = sections.map { section in
            guard section.key != "rules", section.key != "tests" else { return section }
            return Section(key: section.key, entries: section.entries.shuffled(using: &generator))
        }.shuffled(using: &generator)
        let set = try #require(load([shuffled]).value)
        let whole = try #require(load([sections]).value)
        #expect(set.fingerprint == whole.fingerprint)
        #expect(set.rules.map(\.fingerprint) == whole.rules.map(\.fingerprint))
    }

    @Test("a rule's fingerprint changes with the rule, and with the scripts it calls, and with nothing else")
    func fingerprints() throws {
        let text = { (first: String, dim: String, all: String, second: String) in
            """
            scripts:
              dim: {actions: {log: \(dim)}}
              all_dim: {actions: [{log: \(all)}, {script: dim}]}
            rules:
              - {id: first, triggers: {button: any, event: click}, actions: [{log: \(first)}, {script: all_dim}]}
              - {id: second, triggers: {button: any, event: click}, actions: {log: \(second)}}
            """
        }
        let set = try LoadedText.good(text("a", "a", "a", "a"))
        let changes = try [
            text("b", "a", "a", "a"), text("a", "b", "a", "a"), text("a", "a", "b", "a"), text("a", "a", "a", "b"),
        ].map { text in
            let changed = try LoadedText.good(text)
            #expect(changed.fingerprint != set.fingerprint)
            return zip(set.rules, changed.rules).map { $0.fingerprint != $1.fingerprint }
        }
        #expect(changes == [[true, false], [true, false], [true, false], [false, true]])
        let moved = try LoadedText.good("# elsewhere\n" + text("a", "a", "a", "a") + " # with a word")
        #expect(moved.fingerprint == set.fingerprint)
        #expect(moved.rules.map(\.fingerprint) == set.rules.map(\.fingerprint))
    }

    @Test("a name is declared once in the whole set, and the message says where before")
    func twice() {
        var environment = environment
        environment.files["more.yaml"] = SourceFile(
            name: "more.yaml",
            text: Array(
                """
                buttons: {kitchen: BF12-C34568}
                states: {lamp: {topic: b}}
                scripts: {dim: {actions: {log: a}}}
                rules: [{id: one, triggers: {button: any, event: click}, actions: {log: a}}]
                """.utf8))
        let complaints = LoadedText.complaints(
            """
            include: more.yaml
            groups: {kitchen: [hall]}
            buttons: {hall: BF12-C34568}
            states: {lamp: {topic: a}}
            scripts: {dim: {actions: {log: a}}}
            rules: [{id: one, triggers: {button: kitchen, event: click}, actions: {log: a}}]
            """, in: environment)
        #expect(
            complaints == [
                "E303 \"kitchen\" is already the name of a button, at more.yaml:1:11",
                "E303 the button declared as \"kitchen\" already has a name, at home.yaml:4:11",
                "E303 \"lamp\" is already the name of a state, at home.yaml:5:10",
                "E303 \"dim\" is already the name of a script, at home.yaml:6:11",
                "E303 rule id \"one\" is already used at home.yaml:7:14",
            ])
    }

    @Test("what is for the whole set stands in the entry file only")
    func entry() {
        var environment = environment
        environment.files["more.yaml"] = SourceFile(
            name: "more.yaml",
            text: Array("version: 1\nlocation: {latitude: 1, longitude: 2}\ndefaults: {mode: parallel}\n".utf8))
        let complaints = LoadedText.complaints(
            "include: more.yaml\n\(LoadedText.rules(with: "conditions: sun.is_up"))", in: environment)
        #expect(
            complaints == [
                "E210 \"version\" belongs in the entry file only", "E210 \"location\" belongs in the entry file only",
                "E210 \"defaults\" belongs in the entry file only",
            ])
    }

    @Test("where a file is missing, nothing is said of names that may be in it")
    func missing() {
        let complaints = LoadedText.complaints(
            """
            include: rooms.yaml
            rules: [{id: one, triggers: {button: attic, event: click}, conditions: states.lamp, actions: {script: dim}}]
            """, in: environment)
        #expect(complaints.map { $0.prefix(4) } == ["E308"])
    }
}
