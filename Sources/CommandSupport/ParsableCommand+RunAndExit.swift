package import ArgumentParser
import Glibc
import Platform

extension ParsableCommand {
    /// Parses the arguments, runs the command and ends the process with its status.
    package nonisolated static func runAndExit() -> Never {
        do {
            var command = try parseAsRoot()
            try command.run()
            Glibc.exit(ExitStatus.success.rawValue)
        } catch let failure as Failure {
            if !failure.sentence.isEmpty {
                Output.standardError.write(line: "\(configuration.commandName ?? "tryck"): \(failure.sentence)")
            }
            Glibc.exit(failure.status.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
