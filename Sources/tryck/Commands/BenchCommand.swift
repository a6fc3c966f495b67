import ArgumentParser
import Daemon
import Glibc
import Reactor

struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how long things take on this machine.",
        subcommands: [Press.self])

    struct Press: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "press",
            abstract: "Measure a press, from the radio's octets to a subscriber.",
            discussion: """
                A simulated button, tryckd and a private mosquitto, each in a process of its own. Beside every press \
                stands a bare publish and receive in the same run; what counts is the ratio. Build it for release \
                first: swift build -c release

                  tryck bench press
                  tryck bench press --presses 500
                """)

        @Option(help: "How many presses.")
        var presses = 2000

        func validate() throws {
            guard (10...100_000).contains(presses) else { throw ValidationError("--presses takes 10 to 100000") }
        }

        func run() throws {
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let path = directory.path
            let presses = presses
            Output.standardError.write(line: "\(presses) presses; this takes about \(presses * 13 / 1000 + 12) seconds")
            let status = EventLoop.run { @ReactorActor in
                let loop = EventLoop.shared
                let bench = BenchPress(loop: loop, directory: path, presses: presses) { result in
                    switch result {
                    case .success(let report):
                        Output.standardOutput.write(text: report.text)
                        loop.stop(status: ExitStatus.done.rawValue)
                    case .failure(let failure):
                        if !failure.sentence.isEmpty { Output.standardError.write(line: "tryck: \(failure.sentence)") }
                        loop.stop(status: failure.status.rawValue)
                    }
                }
                loop.onSignals([SIGINT, SIGTERM]) { _ in bench.stop() }
                bench.start()
            }
            guard status == 0 else { throw Failure.silent(ExitStatus(rawValue: status) ?? .unavailable) }
        }
    }
}
