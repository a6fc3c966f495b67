package import ArgumentParser

/// The command that finds faults of an installation.
package enum DoctorCommands {
    package static let doctor: any ParsableCommand.Type = DoctorCommand.self
}
