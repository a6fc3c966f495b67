package import ArgumentParser

/// The command that replays a recording.
package enum ReplayCommands {
    package static let replay: any ParsableCommand.Type = ReplayCommand.self
}
