package import ArgumentParser
import Glibc
import Platform

extension ParsableCommand {
    /// Parses the arguments, runs the command and ends the process with its status.
    ///
    /// The status is 74 if standard output could not be written, for example because the disk is full.
    package nonisolated static func runAndExit() -> Never {
        var ending = CommandEnding.success
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            ending = CommandEnding(error, arguments: Array(CommandLine.arguments.dropFirst()), of: self)
        }
        if !ending.text.isEmpty { (ending.isError ? Output.standardError : .standardOutput).write(text: ending.text) }
        if let reason = Output.failureOfStandardOutput {
            Output.standardError.write(
                line: "\(configuration.commandName ?? "tryck"): standard output could not be written: \(reason)")
            Glibc.exit(ExitStatus.inputOutput.rawValue)
        }
        Glibc.exit(ending.status)
    }
}
