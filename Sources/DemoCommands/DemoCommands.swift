package import ArgumentParser

/// The commands that simulate buttons.
package enum DemoCommands {
    package static let demo: any ParsableCommand.Type = DemoCommand.self
    package static let press: any ParsableCommand.Type = PressCommand.self
    package static let simulate: any ParsableCommand.Type = SimulateCommand.self
}
