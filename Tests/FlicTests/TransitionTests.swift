import ButtonModel
import Foundation
import Testing

@testable import Flic

/// Writes a table of every state of a session and every input to `Golden/transitions.md`, and compares it.
/// `UPDATE_GOLDEN=1` updates the file.
@Suite("State transitions of a session")
struct TransitionTests {
    @Test("every input in every state leads to the state and effects of the golden table")
    func table() throws {
        let text = try Self.document()
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/transitions.md")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
    }

    @Test("a closed session stays closed and sends nothing")
    func closed() throws {
        let closed = try #require(Situation.all().last)
        #expect(closed.name == "closed")
        for stimulus in Stimulus.all {
            var situation = closed
            let effects = situation.take(stimulus)
            #expect(Situation.name(of: situation.session.state) == "closed")
            for case .send in effects { Issue.record("\(stimulus.name) made it send") }
        }
    }

    private static func document() throws -> String {
        var text = "# What a button session does\n\n"
        text +=
            "Written by a test. Each state, what comes in, what becomes of it where that is another one, and what it asks for.\n"
        for situation in try Situation.all() {
            var rows = ""
            var ignored: [String] = []
            for stimulus in Stimulus.all {
                var after = situation
                let effects = after.take(stimulus)
                let state = Situation.name(of: after.session.state)
                let isSame = state == Situation.name(of: situation.session.state)
                if isSame, effects.allSatisfy({ if case .ignored = $0 { true } else { false } }) {
                    if !stimulus.isFromButton { ignored.append(stimulus.name) }
                } else {
                    rows += "| \(stimulus.name) | \(isSame ? "" : state) | \(describe(effects)) |\n"
                }
            }
            text += "\n## \(situation.name)\n\n"
            if !rows.isEmpty { text += "| on | becomes | and we |\n| --- | --- | --- |\n\(rows)\n" }
            text += "Nothing at once on: \(ignored.joined(separator: "; ")); any other packet.\n"
        }
        return text
    }

    private static func describe(_ effects: [ButtonSession.Effect]) -> String {
        effects.map { effect in
            switch effect {
            case .send(let value):
                (try? HostPacket(decoding: Array(value.dropFirst()))).map { "send \(caseName($0))" } ?? "send"
            case .failed(let failure): "failed \(failure.detail ?? failure.name)"
            case .firmwareUpdate(let progress): "firmwareUpdate \(caseName(progress))"
            case .unanswered(let name): "unanswered \(name)"
            default: caseName(effect)
            }
        }.joined(separator: ", ")
    }

    static func caseName(_ value: some Any) -> String {
        let text = String(describing: value)
        return String(text.prefix { $0 != "(" }.split(separator: ".").last ?? "")
    }
}
