import ArgumentParser
import JSON

struct ButtonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "button",
        abstract: "Show or change one paired button.",
        usage: "tryck button <name> [<subcommand>]",
        discussion: """
            A button is named by its name, serial number or address; tryck buttons lists them.

              tryck button kitchen
              tryck button kitchen rename "by the stove"
              tryck button kitchen set --latency-mode low
            """,
        subcommands: [
            Show.self, Rename.self, Forget.self, Set.self, Connect.self, Disconnect.self, UpdateFirmware.self,
            LED.self, FactoryReset.self,
        ],
        defaultSubcommand: Show.self)

    @Argument(help: "The button's name, serial number or address.", completion: NameCompletions.buttons)
    var name: String
}
