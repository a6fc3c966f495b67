import ArgumentParser
import ButtonModel
import CommandSupport
import Glibc
import Platform
import RuleCommands
import Rules
import Setup
import Simulator
import TrialEdges

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Try Tryck with simulated buttons.",
        discussion: """
            Runs a daemon, a private broker and the rules with simulated buttons. Needs no Bluetooth adapter, no \
            network and no privileges, and keeps no data. Keys on the terminal press the buttons. Shows the presses, the \
            rules that run and what they do; each message is shown as a subscriber receives it.

              tryck demo
              tryck demo --web
              tryck demo --all
              tryck demo --rules rules/home.yaml --simulator rules/simulator.yaml
              tryck demo --press kitchen:click,kitchen:double_click,hall:hold --json
              tryck demo --press sofa:swipe_left,desk:turn_10
              tryck demo --rules home.yaml --press garage:click,wait:2s,garage:click

            With --sites, runs several daemons on one broker: sites with a button each, and engines with the rules. The \
            buttons are pressed in turn; the leading engine is killed, and another one takes over while presses go on.

              tryck demo --sites 3 --engines 2
            """)

    @Option(
        help: ArgumentHelp(
            """
            Perform these presses in order, and end when the last effect is completed. A press follows when the one \
            before is decided; runs of rules may wait for it. wait:2s between presses waits. The presses are click, \
            double_click, hold, down, up, make_public; for a Duo also swipe_left, swipe_right, swipe_up, swipe_down, \
            push_turn_10, all of them also with the prefix small_; for a Twist also turn_10, turn_-10, push_turn_10, \
            in hundredths of a whole turn.
            """, valueName: "button:press,..."))
    var press: [String] = []

    @Option(help: ArgumentHelp("The rules. The default is the example.", valueName: "file"))
    var rules: String?

    @Option(
        help: ArgumentHelp(
            "The simulated buttons. The default is those that --rules declares, or the example.", valueName: "file"))
    var simulator: String?

    @Option(
        help: ArgumentHelp(
            "Write the simulated Bluetooth traffic to a file, for Wireshark or btmon -r.", valueName: "file"))
    var capture: String?

    @Flag(help: "Also serve the page, and open it in the browser of this desktop. The buttons are pressed there, too.")
    var web = false

    @Flag(
        help: """
            Also show the rest: each down and up, the messages of Tryck itself, and the states of buttons and broker.
            """)
    var all = false

    @Flag(
        help: """
            Print one JSON object on each line: event, rule, publish, process; with --all, of every kind. Needs --press.
            """)
    var json = false

    @Option(help: ArgumentHelp("Show sites and engines on one broker: 1 to 9 sites.", valueName: "number"))
    var sites: Int?

    @Option(help: ArgumentHelp("The number of engines with --sites, 2 to 5. The default is 2.", valueName: "number"))
    var engines: Int?

    func validate() throws {
        if sites == nil, engines != nil { throw ValidationError("--engines needs --sites, for example --sites 3") }
        if let sites, !(1...9).contains(sites) { throw ValidationError("--sites must be from 1 to 9") }
        if let engines, !(2...5).contains(engines) { throw ValidationError("--engines must be from 2 to 5") }
        if sites != nil, !press.isEmpty || rules != nil || simulator != nil || capture != nil || web || all || json {
            throw ValidationError("--sites has no other option than --engines")
        }
        if web, !press.isEmpty {
            throw ValidationError("--web is without --press: the presses are made on the page or the terminal")
        }
        if json, press.isEmpty {
            throw ValidationError("--json needs --press, for example --press kitchen:click")
        }
    }

    func run() throws {
        if let sites { return try SitesSession.run(siteCount: sites, engineCount: engines ?? 2) }
        // Several options are one list.
        let script = press.isEmpty ? nil : try DemoScript(parsing: press.joined(separator: ","))
        guard script != nil || web || isatty(STDIN_FILENO) == 1 else {
            throw Failure(
                .usage, "Standard input is not a terminal. Name the presses: tryck demo --press kitchen:click")
        }
        if let capture { _ = try NewFile(capture, remedy: "Specify another file, or remove it.") }
        let program = try DaemonProgram.locate("tryck")
        let page = try web ? DaemonProgram.locate("tryck-web") : nil
        let files = try DemoFiles(rules: rules, simulator: simulator, pagePort: web ? LoopbackPort.free() : nil)
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
                program: program, files: files, models: models, script: script, isJSON: json, showsAll: all,
                capture: capture, page: page))
    }

    private func models(_ files: DemoFiles) throws(Failure) -> [String: FlicModel] {
        do throws(Setup.Failure) {
            let buttons = try ConfigurationFiles(environment: SystemEnvironment.environmentVariables).simulator(
                at: files.simulator
            ).map { SimulatedButtonDescription($0) }
            return Dictionary(buttons.map { ($0.name, $0.model) }) { first, _ in first }
        } catch {
            throw Failure(error.status, error.text)
        }
    }

    /// Reports errors in the rules and fails, because the daemon would run without these rules and the demo would show
    /// nothing. Without errors, writes the simulator file for the buttons of the rules, unless `--simulator` names one.
    private func check(_ files: DemoFiles) throws(Failure) {
        let checker = FileChecker(
            environment: SystemEnvironment.environmentVariables, workingDirectory: SystemEnvironment.workingDirectory,
            heedsConfiguration: false)
        let checked = try checker.check(.file(files.rules))
        let rules = try FileChecker.rules(in: checked)
        if files.simulatesDeclaredButtons { try files.simulate(rules.buttons) }
    }
}
