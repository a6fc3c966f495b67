import ArgumentParser
import CommandSupport
import Platform
import Setup
import Simulator
import TrialEdges

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run simulated buttons outside the daemon.",
        discussion: """
            With --attach, each button of the file becomes a peripheral with its own connection to a virtual controller. \
            With --listen, this command is the controller, too, for the transport h4:unix:PATH. Lines NAME PRESS on \
            standard input press the buttons. Prints the root key that a daemon must trust to pair them.

              tryck simulate rules/simulator.yaml --attach h4:tcp:127.0.0.1:6402
              kitchen double_click
            """)

    @Argument(help: ArgumentHelp("The simulated buttons.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("The controller: h4:tcp:HOST:PORT or h4:unix:PATH.", valueName: "controller"))
    var attach: String?

    @Option(help: ArgumentHelp("The socket on which a daemon finds a controller with the buttons.", valueName: "path"))
    var listen: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (attach == nil) != (listen == nil) else { throw ValidationError("Name --attach or --listen.") }
        guard attach.map({ Attachment.parse($0) != nil }) ?? true else {
            throw ValidationError("--attach takes h4:tcp:HOST:PORT or h4:unix:PATH.")
        }
    }

    func run() throws {
        let descriptions: [SimulatedButtonDescription]
        do throws(Setup.Failure) {
            descriptions = try ConfigurationFiles(environment: SystemEnvironment.environmentVariables).simulator(
                at: file
            ).map { SimulatedButtonDescription($0) }
        } catch {
            throw Failure(error.status, error.text)
        }
        let (isJSON, endpoint, listen) = (output.json, attach.flatMap(Attachment.parse), listen)
        try Conversation<Void>.run { conversation in
            let session = SimulateSession(conversation, isJSON: isJSON)
            session.start(descriptions)
            if let endpoint { session.attach(descriptions, to: endpoint) }
            if let listen { session.serve(descriptions, at: listen) }
        }
    }
}
