import ArgumentParser
import CommandSupport
import JSON
import Reactor

extension BenchCommand {
    struct Rules: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rules",
            abstract: "Measure many rules, and how soon a program of a rule starts.",
            discussion: """
                Measures matching, loading and reloading of ten thousand rules, and the start of a program. The \
                measurements of each row alternate with those of its reference: only the ratios are meaningful. Build \
                for release first: swift build -c release

                  tryck-bench rules
                  tryck-bench rules --only matching,reload
                """)

        enum Part: String, CaseIterable {
            case matching, loading, reload, run
        }

        @Option(help: "The number of measurements of each row.")
        var rounds = 11
        @OptionGroup var parts: PartOptions<Part>
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...1000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
        }

        func run() throws {
            try BenchTable.print(output) { table, directory in
                for part in parts.chosen {
                    switch part {
                    case .matching: table.sections += try BenchMatching.run(rounds: rounds)
                    case .loading: table.sections.append(try BenchLoading.run(rounds: rounds, in: directory))
                    case .reload: table.sections.append(try BenchReload.run(rounds: rounds))
                    case .run: table.sections += try BenchProcess.measure(rounds: rounds * 20, in: directory)
                    }
                }
            }
        }
    }

    /// The process in which `rules` loads rules.
    struct Load: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load", abstract: "Run the process that loads rules for the measurement.", shouldDisplay: false
        )

        @Argument var part: String
        @Argument var path: String

        func run() throws {
            guard let part = BenchLoading.Part(rawValue: part) else { throw ValidationError("rules or events") }
            Output.standardOutput.write(line: try BenchLoading.measure(part, path: path).description)
        }
    }
}
