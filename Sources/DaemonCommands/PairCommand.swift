import ArgumentParser
import CommandSupport
import CommandText
import ControlClient
import JSON
import Platform
import Reactor

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

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3600).contains(time) else { throw ValidationError("--time takes 1 to 3600 seconds.") }
    }

    func run() throws {
        let candidates = control.candidates
        let isJSON = output.json
        let guide = PairingGuide(seconds: time, pairsAll: all)
        try Conversation<Void>.run { conversation in
            let pairing = Pairing(conversation, guide, isJSON: isJSON)
            conversation.onInterrupt { pairing.take(.interrupted) }
            conversation.connect(candidates) { event in
                switch event {
                case .received(let line): pairing.take(.received(line))
                case .closed(let sentence): conversation.end(.failure(Failure(.unavailable, sentence)))
                }
            }
            pairing.take(.connected)
        }
    }
}

/// Carries out the effects of a `PairingGuide`.
@ReactorActor
private final class Pairing {
    private let conversation: Conversation<Void>
    private let isJSON: Bool
    private var guide: PairingGuide

    init(_ conversation: Conversation<Void>, _ guide: PairingGuide, isJSON: Bool) {
        self.conversation = conversation
        self.guide = guide
        self.isJSON = isJSON
    }

    func take(_ input: PairingGuide.Input) {
        for effect in guide.handle(input) {
            switch effect {
            case .send(let request): conversation.send(request)
            case .show(let step): show(step)
            case .finish: conversation.end(.success(()))
            case .fail(let failure): conversation.end(.failure(failure))
            }
        }
    }

    private func show(_ step: JSONValue) {
        let output = Output.standardOutput
        if isJSON {
            output.write(line: step.description)
        } else if let line = PairingText.line(step, style: output.style) {
            output.write(line)
        }
    }
}
