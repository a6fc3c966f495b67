import ConfigurationLoader
import Diagnostics
import Foundation
import JSON
import LanguageServer
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// The files with mistakes from the tests of the loader, each opened in an editor: the editor gets the same codes at the
/// same places as the command line.
@Suite("The loader's files with mistakes in an editor")
struct GoldenTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "RuleLoaderTests/Golden")

    static let files: [String] = {
        let names = try? FileManager.default.subpathsOfDirectory(atPath: golden.path)
        return (names ?? []).filter { name in
            name.hasSuffix(".yaml") && (name.hasPrefix("rules/") || name.hasPrefix("configuration/"))
        }.sorted()
    }()

    static let sets: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: golden.appending(path: "sets").path)
        return (names ?? []).filter { !$0.hasSuffix(".txt") }.sorted()
    }()

    /// Where a file with mistakes is on the disk of the editor.
    static func path(of name: String) -> String {
        name.hasPrefix("configuration/")
            ? "/etc/tryck.yaml" : "/etc/rules/\(name.split(separator: "/").last ?? "")"
    }

    private static func secrets(of name: String) -> SourceFile {
        SourceFile(
            name: name.hasPrefix("configuration/") ? "/etc/secrets.yaml" : "/etc/rules/secrets.yaml",
            text: Array("token: hunter2\n".utf8), isReadableByOthers: name.contains("W703"))
    }

    private static func zones() throws -> [String: [UInt8]] {
        let tests = golden.deletingLastPathComponent().deletingLastPathComponent()
        let zone = try Data(contentsOf: tests.appending(path: "AlmanacTests/Zones/Europe-Amsterdam"))
        return ["Europe/Amsterdam": Array(zone)]
    }

    /// An editor that has opened a file with mistakes; `nil` if its text is not UTF-8, which no editor sends.
    static func editor(opening name: String) throws -> Editor? {
        let text = try Data(contentsOf: golden.appending(path: name))
        guard let string = String(validating: text, as: UTF8.self) else { return nil }
        let path = path(of: name)
        let secrets = secrets(of: name)
        var editor = Editor.ready()
        editor.zones = try zones()
        editor.disk[secrets.name] = secrets
        editor.disk[path] = SourceFile(name: path, text: Array(text))
        if name.contains("forbidden") || name.contains("W710") {
            let configuration =
                name.contains("W710") ? "mqtt: {broker: none}\n" : "actions: {shell: false, http: false}\n"
            editor.disk["/etc/tryck.yaml"] = SourceFile(
                name: "/etc/tryck.yaml", text: Array((configuration + "rules: \(path)\n").utf8))
        }
        editor.open(path, string)
        return editor
    }

    /// An editor that has opened the entry file of a set with mistakes.
    static func editor(openingSet name: String) throws -> (editor: Editor, entry: String) {
        let folder = golden.appending(path: "sets/\(name)")
        var editor = Editor.ready()
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".yaml") {
            let path = "/set/\(file)"
            let text = Array(try Data(contentsOf: folder.appending(path: file)))
            editor.disk[path] = SourceFile(name: path, text: text, isReadableByOthers: true)
        }
        let entry = try #require(
            editor.disk.keys.filter { $0.hasSuffix("home.yaml") }.min { $0.utf8.count < $1.utf8.count })
        editor.open(entry)
        return (editor, entry)
    }

    /// The codes and ranges of the last diagnostics of a file, as the editor has them: `E301 4:10-4:16`, from 0.
    private static func ranges(_ editor: Editor, _ path: String) -> [String] {
        (editor.diagnostics[Editor.uri(path)]?["diagnostics"]?.arrayValue ?? []).map { diagnostic in
            func text(_ position: JSONValue?) -> String {
                "\(position?["line"]?.integerValue ?? -1):\(position?["character"]?.integerValue ?? -1)"
            }
            let range = diagnostic["range"]
            return "\(diagnostic["code"]?.stringValue ?? "") \(text(range?["start"]))-\(text(range?["end"]))"
        }
    }

    /// The same of a diagnostic. Its column in characters is counted in UTF-16 units of its line.
    private static func range(_ diagnostic: Diagnostic, in text: String) -> String {
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
        func place(_ position: SourcePosition) -> String {
            guard position.line <= lines.count else {
                return "\(lines.count - 1):\(lines.last?.utf16.count ?? 0)"
            }
            let line = lines[position.line - 1]
            let mark = position.line == 1 && line.unicodeScalars.first == "\u{FEFF}" ? 1 : 0
            let before = line.unicodeScalars.prefix(position.column - 1 + mark)
            return "\(position.line - 1):\(String(String.UnicodeScalarView(before)).utf16.count)"
        }
        return "\(diagnostic.code) \(place(diagnostic.start))-\(place(max(diagnostic.start, diagnostic.end)))"
    }

    @Test("columns after characters of two UTF-16 units and of several octets")
    func wideText() {
        var editor = Editor.ready()
        editor.open(
            "/home.yaml",
            "version: 1\nbuttons: {hall: {nickname: \"😀é\", serial: nothing}}\nrules:\n"
                + "  - {alias: \"𝄞 ü\", id: a, triggers: {button: kitchn, event: click}, actions: {log: a}}\n")
        #expect(Self.ranges(editor, "/home.yaml") == ["E210 1:34-1:40", "E301 3:46-3:52"])
    }

    @Test("there are files")
    func count() {
        #expect(Self.files.count > 50)
        #expect(Self.sets.count > 3)
    }

    @Test("a file has the same codes at the same places", arguments: files)
    func file(name: String) throws {
        let text = try Data(contentsOf: Self.golden.appending(path: name))
        guard let editor = try Self.editor(opening: name), let string = String(validating: text, as: UTF8.self) else {
            return
        }
        let isConfiguration = name.hasPrefix("configuration/")
        let path = Self.path(of: name)
        let secrets = Self.secrets(of: name)
        let zones = try Self.zones()

        let source = SourceFile(name: path, text: Array(text))
        let inputs = LoadInputs(
            secrets: secrets, variables: ["HOME": "/root"],
            forbiddenSteps: name.contains("forbidden") ? [.shell, .http] : [], timeZones: zones,
            hasNoBroker: name.contains("W710"))
        var expected: [Diagnostic]
        if isConfiguration {
            expected = FileLoader.configuration(source, in: inputs.fileInputs).diagnostics
        } else {
            var loaded = FileLoader.rules(source, in: inputs)
            loaded.report(missing: loaded.programs.subtracting(["mpc"]))
            expected = loaded.diagnostics
        }
        expected = expected.filter { $0.file == path }
        #expect(Self.ranges(editor, path) == expected.map { Self.range($0, in: string) })
        let code = String(name.split(separator: "/").last?.prefix(4) ?? "")
        let all = editor.diagnostics.values.description
        #expect(all.contains(code))
        #expect(!all.contains("hunter2"))
    }

    @Test("a set has the same codes in the same files", arguments: sets)
    func set(name: String) throws {
        let (editor, path) = try Self.editor(openingSet: name)
        let files = editor.disk
        let entry = try #require(files[path])
        let secrets = files.values.first { $0.name.hasSuffix("secrets.yaml") }
        let beside = secrets?.name == PathPattern.path("secrets.yaml", relativeTo: entry.name) ? secrets : nil
        let expected = FileLoader.rules(entry, in: LoadInputs(secrets: beside, files: files)).diagnostics
        for path in files.keys {
            let own = expected.filter { $0.file == path }
            let text = String(decoding: files[path]?.text ?? [], as: UTF8.self)
            #expect(Self.ranges(editor, path) == own.map { Self.range($0, in: text) }, "\(path)")
        }
    }
}
