import ArgumentParser
import Daemon
import JSON

/// What a shell offers for an argument: what a running daemon knows, and nothing where none runs.
enum DaemonWords {
    static let buttons = offering("buttons", "name")
    static let rules = offering("rules", "id")

    private static func offering(_ request: String, _ member: String) -> CompletionKind {
        .custom { words, _, _ in
            var control = ControlOptions()
            control.controlSocket = socket(in: words)
            let answer = try? control.ask(request, within: .seconds(1))
            return (answer?.arrayValue ?? []).compactMap { $0[member]?.stringValue }
        }
    }

    /// What `--control-socket` says on a line that is not finished.
    static func socket(in words: [String]) -> String? {
        let name = "--control-socket"
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == name { return next.isEmpty ? nil : next }
            if word.hasPrefix(name + "=") { return String(word.dropFirst(name.count + 1)) }
        }
        return nil
    }
}
