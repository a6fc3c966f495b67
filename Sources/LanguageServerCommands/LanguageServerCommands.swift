package import ArgumentParser

/// The commands that editors start.
package enum LanguageServerCommands {
    package static let languageServer: any ParsableCommand.Type = LanguageServerCommand.self
}
