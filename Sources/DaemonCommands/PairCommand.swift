import ArgumentParser
import CommandSupport
import CommandText
import JSON
import Platform

struct PairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair a button.",
        discussion: """
            Searches for a new button, and says at each step what to do. At the end, shows the name, serial number, \
            battery and firmware of the button, or the reason why it could not be paired. Ctrl-C stops the search.

              tryck pair
              tryck pair --time 300 --all
            """)

    @Option(help: ArgumentHelp("The duration of the search, 1 to 3600.", valueName: "seconds"))
    var time = 60

    @Flag(help: "Continue the search after the first button.")
    var all = false

    @Option(help: ArgumentHelp("The radio that pairs the button; tryck radios lists them.", valueName: "name"))
    var radio: String?

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3600).contains(time) else { throw ValidationError("--time takes 1 to 3600 seconds.") }
    }

    func run() throws {
        let isJSON = output.json
        try PairingGuide(seconds: time, pairsAll: all, radio: radio).run(control.candidates) { step in
            let output = Output.standardOutput
            if isJSON {
                output.write(line: step.description)
            } else if let line = PairingText.line(step, style: output.style) {
                output.write(line)
            }
        }
    }
}
