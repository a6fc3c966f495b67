import Diagnostics
import Foundation
import JSON
import LanguageServer
import RuleLoader
import Testing
import YAMLFiles

/// The rules of this repository in an editor: what they contain is what completion offers in the same places.
@Suite("The recipes in an editor")
struct RecipeTests {
    private static let rules = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "rules")

    static let files: [String] = {
        let recipes = try? FileManager.default.contentsOfDirectory(atPath: rules.appending(path: "recipes").path)
        return ["home.yaml"] + (recipes ?? []).filter { $0.hasSuffix(".yaml") }.sorted().map { "recipes/\($0)" }
    }()

    /// An editor that has opened a file, and its outline.
    private static func open(_ name: String) throws -> (Editor, FileOutline, [Substring]) {
        let text = String(decoding: try Data(contentsOf: rules.appending(path: name)), as: UTF8.self)
        var editor = Editor.ready()
        editor.zones = [
            "Europe/Amsterdam": Array(
                try Data(
                    contentsOf: rules.deletingLastPathComponent().appending(
                        path: "Tests/AlmanacTests/Zones/Europe-Amsterdam")))
        ]
        editor.open("/home.yaml", text)
        let outline = try #require(FileOutline(SourceFile(name: "/home.yaml", text: Array(text.utf8))))
        return (editor, outline, text.split(separator: "\n", omittingEmptySubsequences: false))
    }

    /// The labels at a position of a diagnostic, for lines of ASCII before the position.
    private static func labels(_ editor: inout Editor, _ position: SourcePosition) -> [String] {
        let answer = editor.ask("completion", "/home.yaml", position.line - 1, position.column - 1)
        return (answer["result"]?["items"]?.arrayValue ?? []).compactMap { $0["label"]?.stringValue }
    }

    @Test("there are recipes")
    func count() { #expect(Self.files.count > 5) }

    @Test("each name is offered where it is used", arguments: files)
    func names(file: String) throws {
        var (editor, outline, _) = try Self.open(file)
        for name in outline.names where !name.isDeclaration && name.kind != .secret {
            let after = SourcePosition(line: name.start.line, column: name.start.column + 1)
            let labels = Self.labels(&editor, after)
            #expect(labels.contains(name.name), "\(file):\(name.start.line):\(name.start.column) \(labels)")
        }
    }

    @Test("each key is offered where it is written, and explained", arguments: files)
    func keys(file: String) throws {
        var (editor, outline, lines) = try Self.open(file)
        var count = 0
        for (number, line) in lines.enumerated() where line.utf8.allSatisfy({ $0 < 0x80 }) {
            for column in 1...max(1, line.count) {
                let position = SourcePosition(line: number + 1, column: column)
                guard case .key(let key)? = outline.element(at: position)?.element,
                    let start = outline.element(at: position)?.start, start == position
                else { continue }
                count += 1
                let labels = Self.labels(&editor, SourcePosition(line: number + 1, column: column + 1))
                #expect(labels.contains(key.name), "\(file):\(number + 1):\(column) \(labels)")
                let hover = editor.ask("hover", "/home.yaml", number, column - 1)["result"]
                #expect(hover?["contents"]?["value"]?.stringValue?.contains(key.summary) ?? false)
            }
        }
        #expect(count > 5)
    }

    @Test("each name leads to its declaration, and each declaration to all uses", arguments: files)
    func definitions(file: String) throws {
        var (editor, outline, _) = try Self.open(file)
        for name in outline.names where name.kind != .secret {
            let found = editor.ask("definition", "/home.yaml", name.start.line - 1, name.start.column - 1)["result"]
            #expect(found?.arrayValue?.count == 1, "\(name)")
            let uses = editor.ask("references", "/home.yaml", name.start.line - 1, name.start.column - 1)["result"]
            #expect(uses?.arrayValue?.count == outline.names.count { $0.means(name) }, "\(name)")
        }
    }
}
