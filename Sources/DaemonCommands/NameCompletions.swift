import ArgumentParser
import CommandSupport
import JSON
import MQTTTopics

/// Shell completions for arguments: the names that a running daemon knows, and none without a daemon.
enum NameCompletions {
    static let buttons = offering(ControlRequestName.buttons, "name")
    static let rules = offering(RuleRequestName.rules, "id")
    static let variables = offering(RuleRequestName.variables, "name")

    private static func offering(_ request: some RequestName, _ member: String) -> CompletionKind {
        .custom { words, _, _ in
            var control = ControlOptions()
            control.controlSocket = socket(in: words)
            let answer = try? control.ask(request, within: .seconds(1))
            return (answer?.arrayValue ?? []).compactMap { $0[member]?.stringValue }
        }
    }

    /// The value of `--control-socket` on a command line that is not finished.
    static func socket(in words: [String]) -> String? {
        let name = "--control-socket"
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == name { return next.isEmpty ? nil : next }
            if word.hasPrefix(name + "=") { return String(word.dropFirst(name.count + 1)) }
        }
        return nil
    }
}
