package import ArgumentParser

/// The commands that move pairings to another machine.
package enum ExportCommands {
    package static let export: any ParsableCommand.Type = ExportCommand.self
    package static let `import`: any ParsableCommand.Type = ImportCommand.self
}
