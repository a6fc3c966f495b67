import Almanac
import ArgumentParser
import ButtonModel
import CommandSupport
import Expressions
import JSON
import Platform
import RuleLoader
import RuleTesting
import Rules

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Tell which rules an event would run, and what would stop the others.",
        discussion: """
            Gate by gate, with the values each condition saw. It needs no daemon and does nothing. States are as given \
            here, else their default; the clock is that of the machine, else as given.

              tryck explain kitchen click
              tryck explain hall click --at 23:15 --state hall_light=OFF --state lux=3
              tryck explain garage clicks_3 --queued 2s
              tryck explain desk rotate_clockwise --steps 5 --position 40 --slot 3
            """)

    @Argument(help: "A button's name in the rules.")
    var button: String

    @Argument(help: "What it does: click, double_click, clicks_3, hold, hold_release, down, up, swipe_left …")
    var event: String

    @Option(
        help: ArgumentHelp("The rules, or a tryck.yaml. Otherwise those of a daemon started here.", valueName: "path"))
    var rules: String?

    @Option(help: ArgumentHelp("When it happens: 23:15, or 2026-01-10 23:15.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("The value of a state.", valueName: "name=value"))
    var state: [String] = []

    @Option(help: ArgumentHelp("The value of a variable.", valueName: "name=value"))
    var variable: [String] = []

    @Option(help: ArgumentHelp("The button had stored it for so long.", valueName: "age"))
    var queued: String?

    @Option(help: "Of a Duo: big or small. Of a Twist that is turned: dial, or push while it is pressed.")
    var part: String?

    @Option(help: "By how many hundredths of a whole turn.")
    var steps: Int = 1

    @Option(help: "Where the dial stands then, 0 to 100.")
    var position: Int?

    @Option(help: "Of a Twist, 1 to 12.")
    var slot: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard part == nil || part.flatMap(ButtonPart.init) != nil else {
            throw ValidationError("--part takes \(ButtonPart.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard (1...1000).contains(steps) else { throw ValidationError("--steps takes 1 to 1000.") }
        guard position.map((0...100).contains) ?? true else { throw ValidationError("--position takes 0 to 100.") }
        guard slot.map(Dial.slots.contains) ?? true else { throw ValidationError("--slot takes 1 to 12.") }
    }

    func run() throws {
        let set = try FileChecker.here.rules(rules)
        var event = try EventWord.event(event, of: button, queued: queued, in: set)
        event.part = part.flatMap(ButtonPart.init)
        (event.steps, event.position, event.slot) = (steps, position, slot)
        let given = try GivenValues.given(at: at, states: state, variables: variable, in: set)
        guard let explanation = RuleExplainer(set, given: given).explain(event) else {
            throw Failure(.usage, "explain knows gestures, turns and swipes; \(self.event) is none of them")
        }
        if output.json {
            Output.standardOutput.write(line: ExplanationText.json(explanation).description)
        } else {
            Output.standardOutput.write(ExplanationText.lines(explanation, style: Output.standardOutput.style))
        }
    }
}
