import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform

struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "List the rules of the daemon.",
        discussion: """
            Shows for each rule its last result, how often it matched, and how often it was stopped.

              tryck rules
              tryck rules --json | jq '.[] | select(.enabled | not) | .id'
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let rules = try control.ask(RuleRequestName.rules)
        output.write(rules) { RuleTable.lines($0.arrayValue ?? [], at: SystemEnvironment.wallClock) }
    }
}

struct RuleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rule",
        abstract: "Run, enable, disable or trace a rule.",
        usage: "tryck rule <id> <subcommand>",
        discussion: """
              tryck rule kitchen_toggle run --dry-run
              tryck rule guest_light disable
              tryck rule doorbell trace
            """,
        subcommands: [Run.self, Enable.self, Disable.self, Trace.self],
        defaultSubcommand: Trace.self)

    @Argument(help: "The rule's id; tryck rules lists them.", completion: NameCompletions.rules)
    var id: String

    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run the rule now, as if it had matched.",
            usage: "tryck rule <id> run [--dry-run] [--ignore-conditions] [--wait]",
            discussion: """
                The exit status is 1 if a gate stops the rule; with --wait, also if the run is not completed.

                  tryck rule goodnight run --dry-run
                  tryck rule goodnight run --wait
                """)

        @Flag(help: "Show what the rule would do, without doing it.")
        var dryRun = false
        @Flag(help: "Skip the conditions.")
        var ignoreConditions = false
        @Flag(help: "Wait for the end of the run.")
        var wait = false

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let data: JSONValue = [
                "id": .string(rule.id), "dry_run": .bool(dryRun), "conditions": .bool(!ignoreConditions),
            ]
            guard wait else {
                let answer = try control.ask(RuleRequestName.run, data)
                return output.write(answer) { $0["trace"].map { TraceText.lines($0) } ?? [] }
            }
            let output = output
            try RunGuide(rule: rule.id, request: .request(RuleRequestName.run, data)).run(control.candidates) { trace in
                output.write(trace) { TraceText.lines($0) }
            }
        }
    }

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Enable the rule, until its file changes this.",
            usage: "tryck rule <id> enable [--json] [--control-socket <path>]",
            discussion: """
                  tryck rule guest_light enable
                """)

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(RuleRequestName.enable, ["id": .string(rule.id)])
            output.write(answer) { [Line("\($0.text("id")) is enabled.")] }
        }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Disable the rule, until its file changes this.",
            usage: "tryck rule <id> disable [--json] [--control-socket <path>]",
            discussion: """
                  tryck rule guest_light disable
                """)

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(RuleRequestName.disable, ["id": .string(rule.id)])
            output.write(answer) { [Line("\($0.text("id")) is disabled.")] }
        }
    }

    struct Trace: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trace",
            abstract: "Show the last runs of the rule, step by step, and the gates that stopped it.",
            usage: "tryck rule <id> [trace]",
            discussion: """
                  tryck rule doorbell trace
                """)

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(RuleRequestName.trace, ["id": .string(rule.id)])
            output.write(answer) { answer in
                TraceText.lines(of: rule.id, answer)
            }
        }
    }
}
