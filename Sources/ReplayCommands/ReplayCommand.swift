import ArgumentParser
import CommandSupport
import Platform

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay a recording, and show what Tryck would do.",
        discussion: """
            Replays a recording of tryckd --record, and prints what tryck watch would have shown, with the recorded \
            times in UTC. Needs no daemon, no adapter and no broker. No message is sent and no program is started: \
            their results are in the recording. The exit status is 1 if the recording ends in the middle of a line, \
            and 78 if it cannot be read.

            A recording contains the text of the rules, the names and addresses of buttons, presses, received \
            messages, requests, and the output of programs. It contains no keys and no password of the broker. Of the \
            values of !secret and !env_var, it contains only those that identify buttons, and those of less than eight \
            octets that are part of received messages and requests. Read it before you send it.

              tryck run --record session.jsonl
              tryck replay session.jsonl
              tryck replay --json session.jsonl | jq 'select(.kind == "event")'
            """)

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
    var file: String

    @OptionGroup var output: OutputOptions

    func run() throws {
        var run = ReplayRun()
        var screen = ReplayScreen()
        let output = Output.standardOutput
        let style = output.style
        func text(_ occurrence: ReplayRun.Occurrence) -> String {
            self.output.json ? ReplayJSON.line(occurrence) : screen.text(occurrence, style: style)
        }
        var reader = try named { () throws(Failure) in try RecordingReader(file) }
        while let line = try named({ () throws(Failure) in try reader.next() }) {
            let text = try named { () throws(Failure) in try run.take(line) }.map(text).joined()
            // The reader of the output is gone, as in `tryck replay | head`.
            guard text.isEmpty || output.write(text: text) else { return }
        }
        let summary = try named { () throws(Failure) in try run.summary() }
        output.write(text: self.output.json ? ReplayJSON.line(summary) : ReplayScreen.text(summary, style: style))
        guard !summary.isCutOff else {
            throw Failure(
                .negativeResult, "\(file) ends in the middle of a line. Everything before that line was replayed.")
        }
    }

    private func named<Result: ~Copyable>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        do throws(Failure) {
            return try body()
        } catch {
            throw Failure(error.status, "\(file): \(error.sentence)")
        }
    }
}
