import ArgumentParser
import CommandSupport
import Platform
import Setup
import Simulator

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run simulated buttons on another virtual controller.",
        discussion: """
            Each button of the file becomes a peripheral with its own connection to a virtual controller. Lines NAME \
            PRESS on standard input press the buttons. Prints the root key that a daemon must trust to pair them.

              tryck simulate rules/simulator.yaml --attach h4:tcp:127.0.0.1:6402
              kitchen double_click
            """)

    @Argument(help: ArgumentHelp("The simulated buttons.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("The controller: h4:tcp:HOST:PORT or h4:unix:PATH.", valueName: "controller"))
    var attach: String

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard Attachment.parse(attach) != nil else {
            throw ValidationError("--attach takes h4:tcp:HOST:PORT or h4:unix:PATH.")
        }
    }

    func run() throws {
        guard let endpoint = Attachment.parse(attach) else { return }
        let descriptions: [SimulatedButtonDescription]
        do throws(Setup.Failure) {
            descriptions = try ConfigurationFiles(environment: SystemEnvironment.environmentVariables).simulator(
                at: file)
        } catch {
            throw Failure(error.status, error.text)
        }
        let isJSON = output.json
        try Conversation<Void>.run { conversation in
            let session = SimulateSession(conversation, isJSON: isJSON)
            session.start(descriptions, at: endpoint)
        }
    }
}
