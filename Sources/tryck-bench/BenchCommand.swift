import ArgumentParser
import CommandSupport
import Glibc
import Platform
import Reactor
import Setup
import Synchronization

/// The root command of `tryck-bench`, which is built with the package and not installed.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tryck-bench",
        abstract: "Measure the performance on this machine.",
        version: Version.string,
        subcommands: [
            Press.self, Dial.self, Rules.self, MQTT.self, Reconnect.self, Pair.self, Scale.self, Flicd.self, Relay.self,
            Load.self, Complete.self,
        ])

    struct Press: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "press",
            abstract: "Measure the time from a press to its MQTT message.",
            discussion: """
                Runs a simulated button, tryckd and a private mosquitto, each in a process of its own. Compares every \
                press with a bare publish and receive, and with the same through a relay process: only the ratios are \
                meaningful. Build for release first: swift build -c release

                  tryck-bench press
                  tryck-bench press --presses 500
                  tryck-bench press --rules template --every 1000
                  tryck-bench press --rules none
                  tryck-bench press --cold --every 20000 --presses 10
                  tryck-bench press --runs 5
                  tryck-bench press --compare-history --runs 5

                tryckd and the relay have one processor, the broker and the subscriber another. With --runs, everything is \
                started anew for each run, and the medians and ranges over the runs are printed.
                Times depend on the load of the machine. --count counts instructions instead, which do not:

                  tryck-bench press --count --presses 16
                """)

        @Option(help: "The number of presses.")
        var presses = 2000

        @Option(
            help: """
                Milliseconds between two presses; by default they follow each other quickly. The messages that a press is \
                compared with come after a third and two thirds of this time.
                """)
        var every: Int?

        @Flag(
            help: """
                Drop the page cache before each message, so that each press is like the first one of a morning. With --every 20000 \
                also the processors have forgotten the last press. Needs root.
                """)
        var cold = false

        @Option(help: "The kind of rules that the presses trigger.")
        var rules = BenchPressRules.plain

        @Option(help: "The number of runs.")
        var runs = 1

        @Flag(help: "Measure with and without a history in turn, as often as --runs says.")
        var compareHistory = false

        @Flag(help: "Let Linux choose the processors, so that the times of a run also depend on that choice.")
        var anyProcessor = false

        @Flag(
            help: """
                Count what the daemon executes before the message, with valgrind, and exit with 1 if a count is above \
                its limit.
                """)
        var count = false

        @Flag(help: "With --count: list the functions with the most instructions.")
        var functions = false

        func validate() throws {
            guard (10...100_000).contains(presses) else { throw ValidationError("--presses takes 10 to 100000") }
            guard every.map({ (20...600_000).contains($0) }) ?? true else {
                throw ValidationError("--every takes 20 to 600000")
            }
            guard (1...100).contains(runs) else { throw ValidationError("--runs takes 1 to 100") }
            guard !count || runs == 1 && rules != .none && !compareHistory && !cold else {
                throw ValidationError("--count takes none of --runs, --rules none, --compare-history and --cold")
            }
        }

        func run() throws {
            let seconds = count ? presses * 3 + 60 : presses * (every ?? 18) / 1000 + 14
            Output.standardError.write(
                line: "\(presses) presses; this takes about \(runs * seconds * (compareHistory ? 2 : 1)) seconds")
            if compareHistory { return try compareHistories() }
            var reports: [BenchReport] = []
            for _ in 0..<runs { reports.append(try measure()) }
            if let counts = reports[0].counts {
                Output.standardOutput.write(text: counts.text(withFunctions: functions))
                guard counts.exceeded.isEmpty else { throw Failure.silent(.negativeResult) }
            } else {
                Output.standardOutput.write(text: runs == 1 ? reports[0].text : BenchReport.text(of: reports))
            }
        }

        /// Measures with and without a history. The order changes with each run, so that a load that grows or shrinks affects
        /// both alike.
        private func compareHistories() throws {
            var (with, without): ([BenchReport], [BenchReport]) = ([], [])
            for run in 0..<runs {
                if run.isMultiple(of: 2) { with.append(try measure()) }
                without.append(try measure(keepsHistory: false))
                if !run.isMultiple(of: 2) { with.append(try measure()) }
            }
            for (title, reports) in [("with a history", with), ("without a history", without)] {
                Output.standardOutput.write(text: "\(title)\n")
                Output.standardOutput.write(text: runs == 1 ? reports[0].text : BenchReport.text(of: reports))
            }
        }

        private func measure(keepsHistory: Bool = true) throws -> BenchReport {
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            // An installed daemon has its ring of records in a tmpfs, too.
            let runtime = try TemporaryDirectory(isInMemory: true)
            defer { runtime.remove() }
            let path = directory.path
            let (presses, rules, every, cold) = (presses, rules, every, cold)
            let counter = count ? InstructionCounter(directory: path) : nil
            let processors = anyProcessor || count ? nil : BenchProcessors.pair
            let outcome = Mutex<BenchReport?>(nil)
            let status = EventLoop.run { @ReactorActor in
                let loop = EventLoop.shared
                let bench = BenchPress(
                    loop: loop, directory: path, runtimeDirectory: runtime.path, presses: presses, rules: rules,
                    interval: every.map { Int64($0) * 1_000_000 }, dropsCaches: cold, keepsHistory: keepsHistory,
                    processors: processors, counter: counter
                ) { result in
                    switch result {
                    case .success(let report):
                        outcome.withLock { $0 = report }
                        loop.stop(status: ExitStatus.success.rawValue)
                    case .failure(let failure):
                        if !failure.sentence.isEmpty { Output.standardError.write(line: "tryck: \(failure.sentence)") }
                        loop.stop(status: failure.status.rawValue)
                    }
                }
                loop.onSignals([SIGINT, SIGTERM]) { _ in bench.stop() }
                bench.start()
            }
            guard status == 0, let report = outcome.withLock({ $0 }) else {
                throw Failure.silent(ExitStatus(rawValue: status) ?? .unavailable)
            }
            return report
        }
    }

    struct Reconnect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reconnect",
            abstract: "Measure how long a known button needs to become ready.",
            discussion: """
                A simulated button comes back into range. Its link has connection events, as a real one. The times are \
                simulated, so they do not depend on this machine.

                  tryck-bench reconnect
                """)

        @Option(help: "The number of measurements.")
        var times = 100

        func validate() throws { try BenchCommand.check(times) }
        func run() throws { Output.standardOutput.write(text: try BenchLink.run(.reconnect, count: times)) }
    }

    struct Pair: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pair",
            abstract: "Measure how long a new button needs to become ready.",
            discussion: """
                A simulated button is found, paired and verified. As for reconnect, the times are simulated.

                  tryck-bench pair
                """)

        @Option(help: "The number of measurements.")
        var times = 100

        func validate() throws { try BenchCommand.check(times) }
        func run() throws { Output.standardOutput.write(text: try BenchLink.run(.pair, count: times)) }
    }

    struct Scale: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "scale",
            abstract: "Measure the memory that many buttons need.",
            discussion: """
                Pairs many simulated buttons, and measures the memory that the daemon needs for each connected button \
                and for each known button.

                  tryck-bench scale
                  tryck-bench scale --connected 20
                """)

        @Option(help: "The number of connected buttons.")
        var connected = 100
        @Option(help: "The number of known buttons.")
        var known = 1000

        func validate() throws {
            guard (1...200).contains(connected) else { throw ValidationError("--connected takes 1 to 200") }
            guard (1...10_000).contains(known) else { throw ValidationError("--known takes 1 to 10000") }
        }

        func run() throws {
            Output.standardOutput.write(text: try BenchScale.run(connected: connected, known: known))
        }
    }

    struct Flicd: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "flicd",
            abstract: "Measure many clients of flicd.",
            discussion: """
                Fifty clients connect over TCP, each with a channel to each of a hundred buttons. Measures how long a \
                click needs to reach all of them, and how many packets are sent.

                  tryck-bench flicd
                """)

        @Option(help: "The number of presses.")
        var presses = 1000

        func validate() throws {
            guard (10...100_000).contains(presses) else { throw ValidationError("--presses takes 10 to 100000") }
        }

        func run() throws {
            let presses = presses
            let status = EventLoop.run { @ReactorActor in
                let loop = EventLoop.shared
                let bench = BenchFlicd(loop: loop, presses: presses) { result in
                    switch result {
                    case .success(let text):
                        Output.standardOutput.write(text: text)
                        loop.stop(status: ExitStatus.success.rawValue)
                    case .failure(let failure):
                        Output.standardError.write(line: "tryck: \(failure.sentence)")
                        loop.stop(status: failure.status.rawValue)
                    }
                }
                loop.onSignals([SIGINT, SIGTERM]) { [bench] _ in
                    withExtendedLifetime(bench) { loop.stop(status: ExitStatus.unavailable.rawValue) }
                }
                bench.start()
            }
            guard status == 0 else { throw Failure.silent(ExitStatus(rawValue: status) ?? .unavailable) }
        }
    }

    private static func check(_ times: Int) throws {
        guard (1...10_000).contains(times) else { throw ValidationError("--times takes 1 to 10000") }
    }

    /// The relay process, which `press` and `dial` start.
    struct Relay: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "relay", abstract: "Run the relay process of the measurement.", shouldDisplay: false)

        @Option var socket: String
        @Option var broker: String

        func run() throws {
            let (socket, broker) = (socket, broker)
            _ = EventLoop.run { @ReactorActor in
                let loop = EventLoop.shared
                let relay = BenchRelay(loop: loop, socket: socket, broker: broker) { loop.stop() }
                loop.onSignals([SIGTERM]) { [relay] _ in withExtendedLifetime(relay) { loop.stop() } }
            }
        }
    }
}
