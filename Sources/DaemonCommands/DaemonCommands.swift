package import ArgumentParser

/// The commands that ask a running daemon.
package enum DaemonCommands {
    package static let status: any ParsableCommand.Type = StatusCommand.self
    package static let watch: any ParsableCommand.Type = WatchCommand.self
    package static let buttons: any ParsableCommand.Type = ButtonsCommand.self
    package static let button: any ParsableCommand.Type = ButtonCommand.self
    package static let pair: any ParsableCommand.Type = PairCommand.self
    package static let rules: any ParsableCommand.Type = RulesCommand.self
    package static let rule: any ParsableCommand.Type = RuleCommand.self
    package static let variables: any ParsableCommand.Type = VariablesCommand.self
    package static let variable: any ParsableCommand.Type = VariableCommand.self
    package static let states: any ParsableCommand.Type = StatesCommand.self
    package static let radios: any ParsableCommand.Type = RadiosCommand.self
    package static let web: any ParsableCommand.Type = WebCommand.self
    package static let reload: any ParsableCommand.Type = ReloadCommand.self
}
