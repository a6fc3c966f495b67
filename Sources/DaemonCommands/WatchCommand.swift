import ArgumentParser
import CommandSupport
import CommandText
import ControlClient
import JSON
import MQTTTopics
import Platform
import Reactor

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show presses, rules and messages as they happen.",
        discussion: """
            Shows presses, the rules that run, the gates that stop rules, messages, programs with their output, and \
            changes of the adapter, the broker and the buttons. One line each, until Ctrl-C. Each down and up, and the \
            messages that Tryck itself publishes, are shown with --all; --json always has them.

              tryck watch
              tryck watch --button kitchen
              tryck watch --json | jq 'select(.kind == "event")'
            """)

    @Option(
        help: ArgumentHelp("Only this button, and what its presses start: its name or id.", valueName: "name"),
        completion: NameCompletions.buttons)
    var button: String?

    @Flag(help: "Also show each down and up, and all messages of Tryck itself.")
    var all = false

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let candidates = control.candidates
        let isJSON = output.json
        let hidesDetails = !all && !isJSON
        var chosen = try button.map(lines)
        try Conversation<Void>.run { conversation in
            conversation.onInterrupt { conversation.end(.success(())) }
            conversation.connect(candidates) { event in
                switch event {
                case .received(let line) where line["kind"] == nil:
                    if case .failure(let failure) = line.requestOutcome { conversation.end(.failure(failure)) }
                case .received(let line):
                    guard chosen?.contains(line) ?? true, !hidesDetails || !StreamText.isDetail(line) else { return }
                    // The reader of the output is gone, as in `tryck watch | head`.
                    if !show(line, isJSON: isJSON) { conversation.end(.success(())) }
                case .closed(let sentence): conversation.end(.failure(Failure(.unavailable, sentence)))
                }
            }
            conversation.send(.request(ControlRequestName.watch))
        }
    }
}

extension WatchCommand {
    /// The lines about the button with this name or id.
    private func lines(of button: String) throws(Failure) -> ButtonLines {
        let known = try control.ask(ControlRequestName.buttons).arrayValue ?? []
        guard let found = known.first(where: { $0["name"]?.stringValue == button || $0["id"]?.stringValue == button })
        else { throw Failure(.usage, "no button has the name or id \"\(button)\": tryck buttons lists them") }
        return ButtonLines(of: found["name"]?.stringValue ?? button, id: found["id"]?.stringValue)
    }
}

/// - Returns: false when the output has no reader any more.
private func show(_ line: JSONValue, isJSON: Bool) -> Bool {
    let output = Output.standardOutput
    guard !isJSON else { return output.write(line: line.description) }
    let clock = Line("\(Clock.now())  ", .faint)
    let indent = Line(String(repeating: " ", count: Clock.columns + 2))
    let lines = StreamText.lines(line, style: output.style)
    return output.write(lines.enumerated().map { ($0.offset == 0 ? clock : indent) + $0.element })
}
