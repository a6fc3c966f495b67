import ArgumentParser
import CommandSupport
import Glibc
import Platform
import Reactor
import Synchronization

extension BenchCommand {
    struct MQTT: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "mqtt",
            abstract: "Measure messages, and the announcement of many buttons.",
            discussion: """
                Sends messages to a private mosquitto and back, and compares this with libmosquitto alone: only the \
                ratios are meaningful. Then runs a tryckd that announces many buttons. Build for release first: swift \
                build -c release

                  tryck-bench mqtt
                  tryck-bench mqtt --only announce --buttons 100
                """)

        enum Part: String, CaseIterable {
            case publish, announce
        }

        @Option(help: "The number of messages of each kind.")
        var messages = 1000
        @Option(help: "The number of announced buttons.")
        var buttons = 1000
        @Option(help: "The number of announcements of each button.")
        var rounds = 5
        @OptionGroup var parts: PartOptions<Part>
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (10...100_000).contains(messages) else { throw ValidationError("--messages takes 10 to 100000") }
            guard (1...10_000).contains(buttons) else { throw ValidationError("--buttons takes 1 to 10000") }
            guard (1...1000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
        }

        func run() throws {
            try BenchTable.print(output) { table, directory in
                for part in parts.chosen { table.sections.append(try measure(part, in: directory)) }
            }
        }

        private func measure(_ part: Part, in path: String) throws(Failure) -> BenchTable.Section {
            let (messages, buttons, rounds) = (messages, buttons, rounds)
            let outcome = Mutex<Result<BenchTable.Section, Failure>>(.failure(.silent(.unavailable)))
            _ = EventLoop.run { @ReactorActor in
                let loop = EventLoop.shared
                let finish: @ReactorActor (Result<BenchTable.Section, Failure>) -> Void = { result in
                    outcome.withLock { $0 = result }
                    loop.stop()
                }
                switch part {
                case .publish:
                    let bench = BenchPublish(loop: loop, directory: path, count: messages, finished: finish)
                    loop.onSignals([SIGINT, SIGTERM]) { [bench] _ in bench.end() }
                    bench.start()
                case .announce:
                    let bench = BenchAnnounce(
                        loop: loop, directory: path, rounds: rounds, buttons: buttons, finished: finish)
                    loop.onSignals([SIGINT, SIGTERM]) { [bench] _ in bench.end() }
                    bench.start()
                }
            }
            return try outcome.withLock { result throws(Failure) in try result.get() }
        }
    }
}
