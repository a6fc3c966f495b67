import ArgumentParser
import CommandSupport
import Glibc
import JSON
import Platform
import Rules
import Setup

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find faults, and the commands that repair them.",
        discussion: """
            Checks the clock, the configuration, the rules, the state directory, the daemon, the adapter and the \
            broker, and names the command that repairs each fault. A running daemon keeps its adapter; without a \
            daemon, the adapter is opened for a moment, unless BlueZ uses it. Use the options with which the daemon is \
            started. The exit status is 0 if there is no fault (✗), and 1 if there is one; what only needs \
            attention (!) is no fault.

            A report is a text for a bug report: version, system, findings, status, the last lines of the log. It \
            contains no keys, no passwords and no values of !secret and !env_var in rules, but names and addresses of \
            buttons, and log lines of rules. Read it before you send it.

              tryck doctor
              sudo tryck doctor --report report.txt
              tryck doctor --config ~/tryck/tryck.yaml --json | jq .findings
            """)

    @Option(
        help: ArgumentHelp("Also write a report to a new file.", valueName: "file"),
        completion: .file())
    var report: String?

    @OptionGroup var paths: PathOptions
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let file = try report.map { path throws(Failure) in
            try NewFile(path, remedy: "Specify another file, or remove it.")
        }
        let examination = Examination(
            options: DaemonOptions(
                configuration: paths.config, stateDirectory: paths.stateDirectory,
                controlSocket: control.controlSocket), candidates: control.candidates)
        let (observations, redaction) = examination.run()
        let findings = Diagnosis(observations).findings
        let output = Output.standardOutput
        if self.output.json {
            output.write(line: redaction(FindingText.json(findings)).description)
        } else {
            // Lines are not cut off at the width of the terminal, because a command that is cut off is of no use.
            var style = output.style
            style.width = nil
            output.write(text: FindingText.lines(findings, style: style).map { $0.rendered(style) + "\n" }.joined())
        }
        if let file {
            let home = examination.environment["HOME"]
            let text = BugReport(findings, observations, redaction: redaction, home: home).text
            try file.write(Array(text.utf8))
            if !self.output.json { output.write(line: "\(file.path) has been written. Read it before you send it.") }
        }
        guard findings.allSatisfy({ $0.state != .problem }) else { throw Failure.silent(.negativeResult) }
    }
}
