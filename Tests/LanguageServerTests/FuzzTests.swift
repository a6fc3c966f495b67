import Foundation
import JSON
import LanguageServer
import RuleLoader
import TestSupport
import Testing

/// Documents that are changed at random, with requests at random positions. Each seed is one session; a failure can be run
/// again by its seed.
@Suite("Random documents in an editor")
struct FuzzTests {
    private static let sessions = 50
    private static let documentsPerSession = 100

    private static let texts: [[UInt8]] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let files = ["rules/home.yaml", "rules/recipes"].flatMap { path -> [URL] in
            let url = root.appending(path: path)
            let inside = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
            return inside.isEmpty ? [url] : inside.filter { $0.pathExtension == "yaml" }
        }
        return files.sorted { $0.path < $1.path }.compactMap { try? Array(Data(contentsOf: $0)) }
    }()

    private static let pieces = [
        "{{", "}}", ": ", "- ", "\n", "\r", "\r\n", "\t", "  ", "&a ", "*a", "!secret ", "\"", "'", "[", "]", "{", "}",
        "|\n", ">\n", "# ", "𝄞", "é", "\u{FEFF}", "\0", "buttons:", "rules:\n", "states.", "id: ", "triggers:\n",
        "<<: ",
        "? ", "---\n", "...\n", "%TAG", "include: x.yaml\n", "cursor0mark0here",
    ]
    private static let requests = ["completion", "hover", "definition", "references", "prepareRename", "rename"]

    @Test("mutated documents and requests at random places end nothing", arguments: 0..<UInt64(sessions))
    func session(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        #expect(Self.texts.count > 3)
        var editor = Editor.ready(
            ["/r/x.yaml": "rules: []\n", "/r/tryck.yaml": "rules: home.yaml\n"],
            capabilities: [
                "general": ["positionEncodings": Bool.random(using: &random) ? ["utf-8"] : []],
                "textDocument": ["completion": ["completionItem": ["snippetSupport": true]]],
            ])
        editor.open("/r/home.yaml", "")
        for number in 0..<Self.documentsPerSession {
            var text = Self.texts[Int.random(in: 0..<Self.texts.count, using: &random)]
            // Most documents are short, because long ones are the same mistakes again.
            text = Array(text.prefix(Int.random(in: 1...2_000, using: &random)))
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.mutate(&text, &random) }
            editor.change(
                "/r/home.yaml", version: Int64(number * 2 + 2), ["text": .string(String(decoding: text, as: UTF8.self))]
            )
            let place = Self.position(&random)
            let piece = Self.pieces.randomElement(using: &random) ?? ""
            editor.change(
                "/r/home.yaml", version: Int64(number * 2 + 3),
                ["range": ["start": place, "end": Self.position(&random)], "text": .string(piece)])
            for _ in 0..<4 {
                _ = editor.ask(
                    Self.requests.randomElement(using: &random) ?? "", "/r/home.yaml",
                    Int.random(in: 0..<60, using: &random), Int.random(in: 0..<60, using: &random),
                    [.init("newName", "other")])
            }
            if number % 4 == 0 {
                editor.wait(.seconds(1))
                editor.request(
                    "textDocument/codeAction",
                    [
                        "textDocument": ["uri": "file:///r/home.yaml"],
                        "range": ["start": ["line": 0, "character": 0], "end": ["line": 999, "character": 0]],
                    ])
                let document: JSONValue.Member = .init("textDocument", ["uri": "file:///r/home.yaml"])
                for method in ["documentSymbol", "codeLens", "semanticTokens/full"] {
                    editor.request("textDocument/\(method)", .object([document]))
                }
                let range: JSONValue = ["start": Self.position(&random), "end": Self.position(&random)]
                editor.request("textDocument/inlayHint", .object([document, .init("range", range)]))
                editor.request("workspace/symbol", ["query": .string(piece)])
                editor.request(
                    "workspace/executeCommand",
                    ["command": "tryck.runTest", "arguments": ["file:///r/home.yaml", .string(piece)]])
            }
        }
        #expect(editor.exitStatus == nil)
    }

    private static func position(_ random: inout SeededGenerator) -> JSONValue {
        [
            "line": .integer(Int64.random(in: 0..<70, using: &random)),
            "character": .integer(Int64.random(in: 0..<90, using: &random)),
        ]
    }

    private static func mutate(_ text: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0...text.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: text.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: place)
        case 1: text.removeSubrange(place..<min(text.count, place + Int.random(in: 0...30, using: &random)))
        case 2:
            let other = texts[Int.random(in: 0..<texts.count, using: &random)]
            let start = Int.random(in: 0..<other.count, using: &random)
            text.insert(contentsOf: other[start..<min(other.count, start + 60)], at: place)
        default: if place < text.count { text[place] = UInt8.random(in: 0...255, using: &random) }
        }
    }
}
