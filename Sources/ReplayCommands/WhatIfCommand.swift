import ArgumentParser
import ButtonModel
import CommandSupport
import Diagnostics
import Hub
import JSON
import Platform
import Rules
import Setup
import YAMLFiles

struct WhatIfCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "what-if",
        abstract: "Show what other rules would have done.",
        discussion: """
            Replays the history with these rules and with those that ran, and shows each event for which they would have \
            done something else: - what the rules did, + what these rules would have done. No message is sent, and no \
            program and no web request is started: their results are those of the history where the same was started, \
            else they are taken as good and marked with a question mark. Values of !secret and !env_var are not compared, \
            because a history has their names instead. Needs no daemon. The exit status is 0 if nothing differs, 1 if \
            something does, 69 if there is no history, if nothing of it can be compared, or if nothing differs and a part of it \
            cannot be read, and 78 if the rules have errors.

              tryck what-if --since yesterday
              tryck what-if rules/new.yaml --button kitchen
              tryck what-if --json | jq '.differ[].after'
            """)

    @Argument(
        help: ArgumentHelp(
            "The rules file to compare. The default is the one of the tryck.yaml that a daemon would use.",
            valueName: "rules"))
    var rules: String?

    @OptionGroup var options: HistoryOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let beginning = try options.beginning(now: SystemEnvironment.wallClock)
        let set = try loadRules()
        let files = try options.files()
        var comparison = Comparison(with: set, since: beginning, button: options.button)
        try files.read(since: beginning) { (item) throws(Failure) in comparison.take(item) }
        let result = comparison.result()
        let output = Output.standardOutput
        if self.output.json {
            output.write(line: WhatIfText.json(result).description)
        } else {
            output.write(WhatIfText.lines(result))
        }
        guard result.differences.isEmpty else { throw Failure.silent(.negativeResult) }
        if let failure = result.failure { throw failure }
    }

    /// Loads the rules twice: with secrets, to check them as `tryck check` does, and with placeholders, as a recording has them,
    /// because the rules that ran have no secrets here either.
    private func loadRules() throws(Failure) -> RuleSet {
        let loaded: LoadedRules
        do {
            let files = ConfigurationFiles(environment: SystemEnvironment.environmentVariables)
            let found = try files.configuration(at: options.paths.config)
            var onDisk = RulesOnDisk(found.configuration, in: found.directory, files: files)
            if let rules {
                onDisk.path = rules
                onDisk.isNamed = true
            }
            loaded = try onDisk.load()
        } catch let failure as Setup.Failure {
            throw Failure(failure.status, failure.text)
        } catch {
            throw Failure(.configuration, "\(error).")
        }
        guard let real = loaded.result.value else {
            let report = DiagnosticReport(loaded.result.diagnostics, sources: loaded.sources)
            throw Failure(
                .configuration, "The rules have errors.", problems: loaded.result.diagnostics.problemList,
                report: report.text(colour: Output.standardError.style.usesColour))
        }
        do throws(ReplayRun.UnreadableRules) {
            return try ReplayRun.load(loaded.recorded, as: real)
        } catch {
            throw Failure(
                .configuration,
                "The rules cannot be compared. In a replay, secrets have their names as values, and with these the rules have errors: "
                    + "\(error.reason)")
        }
    }
}
