package import ArgumentParser

/// The commands that replay recordings and the history.
package enum ReplayCommands {
    package static let history: any ParsableCommand.Type = HistoryCommand.self
    package static let whatIf: any ParsableCommand.Type = WhatIfCommand.self
    package static let replay: any ParsableCommand.Type = ReplayCommand.self
}
