import ArgumentParser
import ButtonModel
import CommandSupport
import Glibc
import JSON

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
        let rules = try control.ask("rules")
        if output.json {
            Output.standardOutput.write(line: rules.description)
        } else {
            let now = UTCTime(milliseconds: Int64(time(nil)) * 1000)
            Output.standardOutput.write(RuleTable.lines(rules.arrayValue ?? [], at: now))
        }
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

    @Argument(help: "The rule's id; tryck rules lists them.", completion: DaemonWords.rules)
    var id: String

    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run the rule now, as if it had matched.",
            usage: "tryck rule <id> run [--dry-run] [--ignore-conditions]",
            discussion: """
                  tryck rule goodnight run --dry-run
                """)

        @Flag(help: "Show what the rule would do, without doing it.")
        var dryRun = false
        @Flag(help: "Skip the conditions.")
        var ignoreConditions = false

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(
                "rules/run",
                [
                    "id": .string(rule.id), "dry_run": .bool(dryRun), "conditions": .bool(!ignoreConditions),
                ])
            if output.json {
                Output.standardOutput.write(line: answer.description)
            } else if let trace = answer["trace"] {
                Output.standardOutput.write(TraceText.lines(trace))
            }
        }
    }

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Enable the rule, until its file changes this.",
            usage: "tryck rule <id> enable",
            discussion: """
                  tryck rule guest_light enable
                """)

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions

        func run() throws {
            _ = try control.ask("rules/enable", ["id": .string(rule.id)])
            Output.standardOutput.write(line: "\(rule.id) is enabled.")
        }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Disable the rule, until its file changes this.",
            usage: "tryck rule <id> disable",
            discussion: """
                  tryck rule guest_light disable
                """)

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions

        func run() throws {
            _ = try control.ask("rules/disable", ["id": .string(rule.id)])
            Output.standardOutput.write(line: "\(rule.id) is disabled.")
        }
    }

    struct Trace: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trace",
            abstract: "Show the last runs of the rule, step by step.",
            usage: "tryck rule <id> [trace]",
            discussion: """
                  tryck rule doorbell trace
                """)

        @ParentCommand var rule: RuleCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask("rules/trace", ["id": .string(rule.id)])
            if output.json {
                Output.standardOutput.write(line: answer.description)
            } else {
                let runs = answer["runs"]?.arrayValue ?? []
                Output.standardOutput.write(
                    runs.isEmpty
                        ? [Line("\(rule.id) has not run since the start.")] : runs.flatMap(TraceText.lines))
            }
        }
    }
}
