import ArgumentParser
import CommandSupport
import Glibc
import Platform
import Reactor
import Synchronization

extension BenchCommand {
    struct Dial: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dial",
            abstract: "Measure the turns of a Duo.",
            discussion: """
                Runs a simulated Duo, tryckd with a rule in mode single, and a private mosquitto. In each round many \
                turns reach tryckd at once; the round is over when every step has arrived. Then the same number of \
                packets goes through a relay process: only the ratios are meaningful. Build for release first: swift \
                build -c release

                  tryck-bench dial
                  tryck-bench dial --turns 1000 --json
                  tryck-bench dial --turns 1000 --no-history
                """)

        @Option(help: "The number of rounds.")
        var rounds = 10
        @Option(help: "The number of turns in each round.")
        var turns = 200
        @Flag(help: "Keep no history.")
        var noHistory = false
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...1000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
            guard (1...2000).contains(turns) else { throw ValidationError("--turns takes 1 to 2000") }
        }

        func run() throws {
            try BenchTable.print(output) { table, directory in
                table.sections.append(try measure(in: directory))
            }
        }

        private func measure(in path: String) throws(Failure) -> BenchTable.Section {
            let (rounds, turns, keepsHistory) = (rounds, turns, !noHistory)
            let outcome = Mutex<Result<BenchTable.Section, Failure>>(.failure(.silent(.unavailable)))
            _ = EventLoop.run { @ReactorActor in
                let loop = EventLoop.shared
                let bench = BenchDial(
                    loop: loop, directory: path, rounds: rounds, turns: turns, keepsHistory: keepsHistory
                ) { result in
                    outcome.withLock { $0 = result }
                    loop.stop()
                }
                loop.onSignals([SIGINT, SIGTERM]) { [bench] _ in bench.stop() }
                bench.start()
            }
            return try outcome.withLock { result throws(Failure) in try result.get() }
        }
    }
}
