package import ArgumentParser
package import JSON
import Rules
package import Setup

/// The command that finds faults of an installation.
package enum DoctorCommands {
    package static let doctor: any ParsableCommand.Type = DoctorCommand.self

    /// What `tryck doctor --json` finds that the daemon's `status` does not say, for a program that runs beside the daemon: it
    /// does not open the adapter, connects to no broker, and cannot see the state directory as the daemon sees it.
    ///
    /// - Parameters:
    ///   - options: those of the daemon.
    ///   - candidates: the control sockets to try.
    package static func findingsBesideDaemon(_ options: DaemonOptions, candidates: [String]) -> JSONValue {
        let examination = Examination(options: options, candidates: candidates, mayConnect: false)
        let (observations, redaction) = examination.run()
        return redaction(FindingText.json(Diagnosis(observations).findings.filter(\.check.isSeenBesideDaemon)))
    }
}
