import ArgumentParser
import ButtonModel
import CommandSupport
import CommandText
import JSON
import Platform

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what happened before.",
        discussion: """
            Shows what tryck watch would have shown: presses, rules, messages and programs of the last days, with local \
            times. Reads the history in the state directory, and needs no daemon. What a running daemon did in the last \
            two seconds is shown later. Each down and up, and the messages that Tryck itself publishes, are shown with --all; \
            --json always has them. Parts that cannot be shown are named on the standard error. history: in \
            tryck.yaml says how long it is kept. The exit status is 69 if there is no history.

              tryck history --since 2h
              tryck history --button kitchen --since yesterday
              tryck history --json | jq 'select(.kind == "event")'
            """)

    @Flag(help: "Also show each down and up, and all messages of Tryck itself.")
    var all = false

    @OptionGroup var options: HistoryOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let beginning = try options.beginning(now: SystemEnvironment.wallClock)
        let files = try options.files()
        var run = HistoryRun(since: beginning, button: options.button)
        var screen = HistoryScreen()
        let output = Output.standardOutput
        try files.read(since: beginning) { (item) throws(Failure) in
            let (occurrences, isUsable) = run.take(item)
            for occurrence in occurrences {
                switch occurrence {
                case .gap(let reason): Output.standardError.write(line: "tryck history: \(reason)")
                case .line(let line, let time):
                    guard all || self.output.json || !StreamText.isDetail(line) else { continue }
                    let text =
                        self.output.json
                        ? ReplayJSON.line(.line(line, at: time)) : screen.text(line, at: time, style: output.style)
                    // The reader of the output is gone, as in `tryck history | head`.
                    guard text.isEmpty || output.write(text: text) else { throw Failure.silent(.success) }
                }
            }
            return isUsable
        }
        if let absence = run.absence { Output.standardError.write(line: "tryck history: \(absence)") }
        if let missing = run.missing { Output.standardError.write(line: "tryck history: \(missing)") }
    }
}

/// The lines of `tryck watch` with the local times of the history.
struct HistoryScreen: Sendable {
    /// The day that was shown last: `2026-11-21`.
    private var day = ""

    mutating func text(_ line: JSONValue, at time: UTCTime, style: Style) -> String {
        let isStart = line.text("kind") == "start"
        let texts =
            isStart ? [Line("tryckd \(line.text("version")) started", .faint)] : StreamText.lines(line, style: style)
        guard !texts.isEmpty else { return "" }
        let (day, clock) = HistoryTime.dayAndTime(time)
        let indent = Line(String(repeating: " ", count: Clock.columns + 2))
        var lines = day == self.day ? [] : [Line(day, .faint)]
        self.day = day
        for (index, text) in texts.enumerated() {
            lines.append((index == 0 ? Line("\(clock)  ", .faint) : indent) + text)
        }
        return lines.map { $0.rendered(style) + "\n" }.joined()
    }
}
