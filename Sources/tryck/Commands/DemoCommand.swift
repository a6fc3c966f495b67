import ArgumentParser
import ButtonModel
import CommandSupport
import Diagnostics
import Glibc
import Platform
import Setup
import Simulator

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Press simulated buttons and see what happens.",
        discussion: """
            Everything is real but the buttons and the air: a daemon of its own, a private broker, rules. It needs no \
            Bluetooth, no network and no rights, and leaves nothing behind. Keys on the terminal press the buttons; \
            each message is shown as a subscriber received it.

              tryck demo
              tryck demo --rules rules/home.yaml --simulator rules/simulator.yaml
              tryck demo --press kitchen:click,kitchen:double_click,hall:hold --json
              tryck demo --press sofa:swipe_left,desk:turn_10
            """)

    @Option(
        help: ArgumentHelp(
            """
            Press these, one after another, and end when the last effect is done. The presses: click, double_click, \
            hold, down, up, make_public; of a Duo also swipe_left, _right, _up, _down, push_turn_10, and small_ before \
            any of them; of a Twist turn_10, turn_-10, push_turn_10, in hundredths of a whole turn.
            """, valueName: "button:press,..."))
    var press: String?

    @Option(help: ArgumentHelp("Other rules than the example's.", valueName: "file"))
    var rules: String?

    @Option(help: ArgumentHelp("Other simulated buttons than the example's.", valueName: "file"))
    var simulator: String?

    @Option(
        help: ArgumentHelp(
            "Write the simulated Bluetooth traffic there, for Wireshark or btmon -r.", valueName: "file"))
    var capture: String?

    @Flag(help: "Print one JSON object a line: event, rule, publish, process. Needs --press.")
    var json = false

    func validate() throws {
        if json, press == nil {
            throw ValidationError("--json needs --press: say what to press, for example --press kitchen:click")
        }
    }

    func run() throws {
        let script = try press.map { (text) throws(Failure) in try DemoScript(parsing: text) }
        guard script != nil || isatty(STDIN_FILENO) == 1 else {
            throw Failure(
                .usage, "There is no terminal for the keys. Say what to press: tryck demo --press kitchen:click")
        }
        if let capture { _ = try NewFile(capture, remedy: "Name another file, or remove it.") }
        let program = try DaemonProgram.locate()
        let files = try DemoFiles(rules: rules, simulator: simulator)
        let models: [String: FlicModel]
        do {
            try check(files)
            models = try self.models(files)
            try script?.check(models: models)
        } catch {
            files.remove()
            throw error
        }
        try DemoSession.run(
            .init(
                program: program, files: files, models: models, script: script, isJSON: json, capture: capture))
    }

    private func models(_ files: DemoFiles) throws(Failure) -> [String: FlicModel] {
        do throws(Setup.Failure) {
            let buttons = try ConfigurationFiles(environment: SystemEnvironment.environment).simulator(
                at: files.simulator)
            return Dictionary(buttons.map { ($0.name, $0.model) }) { first, _ in first }
        } catch {
            throw Failure(error.status, error.text)
        }
    }

    /// Reports errors in the rules and fails. A daemon would run without these rules, and the demo would show nothing.
    private func check(_ files: DemoFiles) throws(Failure) {
        let checker = FileChecker(
            environment: SystemEnvironment.environment, workingDirectory: SystemEnvironment.workingDirectory)
        let checked = try checker.check(files.rules)
        guard checked.contains(where: { $0.diagnostics.contains { $0.severity == .error } }) else { return }
        let output = Output.standardError
        output.write(text: CheckedFile.report(checked, style: output.style))
        throw .silent(.configuration)
    }
}
