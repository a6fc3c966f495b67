package import ArgumentParser

/// The commands for radios.
package enum RadioCommands {
    package static let hci: any ParsableCommand.Type = HCICommand.self
}
