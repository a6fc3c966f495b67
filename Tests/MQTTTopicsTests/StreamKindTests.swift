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
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let script = try String(contentsOf: root.appending(path: "Sources/TryckWeb/Public/state.js"), encoding: .utf8)
        let table = try #require(script.firstMatch(of: /\nconst reducers = \{\n(.*?)\n\};/.dotMatchesNewlines())).1
        let names = table.split(separator: "\n").compactMap { $0.firstMatch(of: #/^  (\w+): /#)?.1 }
        // A link that ends also changes the state of its button, and the page shows no variables.
        let unread: Set<StreamKind> = [.disconnected, .variable]
        #expect(
            names.map(String.init).sorted() == Set(StreamKind.allCases).subtracting(unread).map(\.rawValue).sorted())
    }
}
