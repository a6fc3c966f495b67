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
        abstract: "Show which rules an event would run, and why others would not run.",
        discussion: """
            Shows each gate of each rule, with the values in its conditions, and what the steps of a rule that runs \
            would do if nothing else happened. Needs no daemon, and performs no actions. A state has the value that is \
            given here, or else its default. The default for --at is the present time.

              tryck explain kitchen click
              tryck explain hall click --at 23:15 --state hall_light=OFF --state lux=3
              tryck explain garage clicks_3 --queued 2s
              tryck explain garage --pattern short,short,long
              tryck explain kitchen hold --held-for 3s
              tryck explain --chord bed_left,bed_right
              tryck explain desk rotate_clockwise --steps 5 --position 40 --slot 3
            """)

    @Argument(help: "A button's name in the rules.")
    var button: String?

    @Argument(help: "The event: click, double_click, clicks_3, hold, hold_release, down, up, swipe_left …")
    var event: String?

    @Option(help: ArgumentHelp("Several presses in place of the event, as in short,long.", valueName: "presses"))
    var pattern: String?

    @Option(
        help: ArgumentHelp(
            "Two to four buttons that are pressed together, without button and event.", valueName: "buttons"))
    var chord: String?

    @Option(
        help: ArgumentHelp(
            "How long the button is held, for hold and hold_release. The last stage that is reached is explained.",
            valueName: "duration"))
    var heldFor: String?

    @Option(
        help: ArgumentHelp("A rules file, or a tryck.yaml. The default is what a daemon would use.", valueName: "path"))
    var rules: String?

    @Option(help: ArgumentHelp("The time of the event: 23:15, or 2026-01-10 23:15.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("The value of a state.", valueName: "name=value"))
    var state: [String] = []

    @Option(help: ArgumentHelp("The value of a variable.", valueName: "name=value"))
    var variable: [String] = []

    @Option(help: ArgumentHelp("The age of the event, if the button stored it.", valueName: "age"))
    var queued: String?

    @Option(help: "The part: big or small of a Duo; dial or push (turned while pressed) of a Twist.")
    var part: String?

    @Option(help: "The turn in hundredths of a whole turn.")
    var steps: Int = 1

    @Option(help: "The position of the dial after the turn, 0 to 100.")
    var position: Int?

    @Option(help: "The slot of a Twist, 1 to 12.")
    var slot: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if chord != nil {
            guard button == nil, event == nil, pattern == nil, heldFor == nil, queued == nil, part == nil else {
                throw ValidationError(
                    "--chord is given alone, with the names of its buttons, as in --chord left,right.")
            }
        } else {
            guard button != nil else { throw ValidationError("Give a button and an event, or --chord.") }
            guard (event == nil) != (pattern == nil) else {
                throw ValidationError("Give either an event, such as click, or --pattern.")
            }
        }
        guard pattern.map({ RuleExplainer.pattern($0) != nil }) ?? true else {
            throw ValidationError("--pattern takes 2 to 8 presses, such as short,long.")
        }
        guard heldFor == nil || event == "hold" || event == "hold_release" else {
            throw ValidationError("--held-for belongs to hold and hold_release.")
        }
        guard part == nil || part.flatMap(ButtonPart.init) != nil else {
            throw ValidationError("--part takes \(ButtonPart.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard (1...1000).contains(steps) else { throw ValidationError("--steps takes 1 to 1000.") }
        guard position.map((0...100).contains) ?? true else { throw ValidationError("--position takes 0 to 100.") }
        guard slot.map(Dial.slots.contains) ?? true else { throw ValidationError("--slot takes 1 to 12.") }
    }

    func run() throws {
        let set = try FileChecker.rules(in: FileChecker.here.check(rules.map { .file($0) }))
        let given = try GivenValues.given(at: at, states: state, variables: variable, in: set)
        let explainer = RuleExplainer(set, given: given)
        let explanation = try chord.map { try explain(chord: $0, explainer, in: set) } ?? explain(explainer, in: set)
        if output.json {
            Output.standardOutput.write(line: explanation.json.description)
        } else {
            Output.standardOutput.write(ExplanationText.lines(explanation, style: Output.standardOutput.style))
        }
    }

    private func explain(_ explainer: RuleExplainer, in set: RuleSet) throws -> Explanation {
        let word = event ?? pattern ?? ""
        var event = try EventArgument.event(word, of: button ?? "", queued: queued, in: set)
        event.heldFor = try heldFor.map(EventArgument.heldFor)
        event.part = part.flatMap(ButtonPart.init)
        (event.steps, event.position, event.slot) = (steps, position, slot)
        guard let explanation = explainer.explain(event) else {
            throw Failure(.usage, "explain takes a gesture, a turn or a swipe, not \(word)")
        }
        return explanation
    }

    private func explain(chord text: String, _ explainer: RuleExplainer, in set: RuleSet) throws -> Explanation {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (2...4).contains(names.count), Set(names).count == names.count else {
            throw Failure(.usage, "--chord takes two to four different buttons, such as left,right")
        }
        for name in names where !set.buttons.contains(where: { $0.name == name }) {
            throw Failure(.negativeResult, GivenValues.unknown("button", name, among: set.buttons.map(\.name)))
        }
        return explainer.explain(chord: names) ?? Explanation()
    }
}
