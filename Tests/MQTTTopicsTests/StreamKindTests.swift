import Foundation
import JSON
import MQTTTopics
import Testing

@Suite("Kinds of lines of the live stream")
struct StreamKindTests {
    @Test("programs that read the stream find these texts")
    func texts() {
        #expect(
            StreamKind.allCases.map(\.rawValue) == [
                "adapter", "space", "broker", "publish", "source", "button", "disconnected", "session_failed",
                "changed",
                "event", "pairing", "firmware", "rule", "variable", "log", "state_fault", "process", "http", "rules",
            ])
    }

    @Test(
        "a line has a kind, which may be unknown, and an answer has none",
        arguments: [
            (#"{"kind":"session_failed","button":"hall"}"#, StreamKind.sessionFailed),
            (#"{"kind":"of_a_newer_daemon"}"#, nil), (#"{"kind":7}"#, nil), (#"{"status":"ok","data":{}}"#, nil),
            (#""event""#, nil),
        ] as [(String, StreamKind?)])
    func lines(text: String, kind: StreamKind?) throws {
        #expect(StreamKind(try JSONValue(parsing: Array(text.utf8))) == kind)
    }

    @Test("the page has a reducer for each kind that it shows")
    func page() throws {
        // A link that ends also changes the state of its button, and the page shows no variables.
        let unread: Set<StreamKind> = [.disconnected, .variable]
        #expect(
            try Self.table("reducers", of: "state.js").map(\.key)
                == Set(StreamKind.allCases).subtracting(unread).map(\.rawValue).sorted())
    }

    @Test("the page has words for each kind of line that is a step of a run")
    func steps() throws {
        let kinds = try Self.table("reducers", of: "state.js").filter { $0.value == "reduceStep," }.map(\.key)
        #expect(!kinds.isEmpty)
        // A step that has failed is a line of a rule.
        #expect(try Self.table("steps", of: "words.js").map(\.key) == (kinds + ["step_failed"]).sorted())
    }

    /// The keys of a table in a script of the page, in alphabetical order, each with the rest of its line.
    private static func table(_ name: String, of script: String) throws -> [(key: String, value: String)] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/TryckWeb/Public")
        let text = try String(contentsOf: folder.appending(path: script), encoding: .utf8)
        let start = try #require(text.range(of: "\nconst \(name) = {\n")).upperBound
        let end = try #require(text.range(of: "\n};", range: start..<text.endIndex)).lowerBound
        return text[start..<end].split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/^  (\w+): (.*)/#).map { (String($0.1), String($0.2)) }
        }
        .sorted { $0.key < $1.key }
    }
}
