import Almanac
import ArgumentParser
import ButtonModel
import CommandSupport
import Expressions
import JSON
import MQTTTopics
import Platform
import RuleTesting
import Rules

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show which rules an event would run, and why others would not run.",
        discussion: """
            Shows each gate of each rule, with the values in its conditions, and what the steps of a rule that runs \
            would do if nothing else happened. Performs no actions. Needs no daemon: a state has the value that is given \
            here, or else its default. With --live, states, variables, and whether rules are enabled are those of the \
            daemon, unless they are given here. The default for --at is the present time.

              tryck explain kitchen click
              tryck explain hall click --at 23:15 --state hall_light=OFF --state lux=3
              tryck explain garage clicks_3 --queued 2s
              tryck explain hall click --live
              tryck explain garage --pattern short,short,long
              tryck explain kitchen hold --held-for 3s
              tryck explain --chord bed_left,bed_right
              tryck explain desk rotate_clockwise --steps 5 --position 40 --slot 3
              tryck explain --due --at 21:00
              tryck explain --change door=open --state door=closed
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

    @Flag(
        help: """
            The next at triggers within a minute from the time of --at on, and when each rule with at comes next, without \
            button and event.
            """)
    var due = false

    @Option(
        help: ArgumentHelp(
            "A change of a state to this value, from that of --state, without button and event.",
            valueName: "name=value"))
    var change: String?

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

    @Flag(help: "Take the values of states and variables from the running daemon.")
    var live = false

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

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if due || change != nil {
            guard !due || change == nil, button == nil, event == nil, pattern == nil, heldFor == nil, queued == nil,
                part == nil, chord == nil
            else {
                throw ValidationError(
                    "--due and --change take no button, no event and no --chord. --at sets the time for them.")
            }
            return
        }
        if chord != nil {
            guard button == nil, event == nil, pattern == nil, heldFor == nil, queued == nil, part == nil else {
                throw ValidationError(
                    "--chord is given alone, with the names of its buttons, as in --chord left,right.")
            }
        } else {
            guard button != nil else {
                throw ValidationError("Give a button and an event, --chord, --due or --change.")
            }
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
        let set = try FileChecker.rules(in: FileChecker.here.check(rules.map { .file($0) }, option: "--rules "))
        var given = try GivenValues.given(at: at, states: state, variables: variable, in: set)
        if live { given.complete(with: try LiveValues(control), in: set) }
        let missing = live ? try missingButtons(in: set) : []
        let explainer = RuleExplainer(set, given: given)
        let explanation = try explain(explainer, in: set)
        if output.json {
            Output.standardOutput.write(line: explanation.json.description)
        } else {
            Output.standardOutput.write(
                ExplanationText.lines(
                    explanation, of: due ? "time" : change != nil ? "change" : "event",
                    style: Output.standardOutput.style)
                    + missing.map { Line("! \"\($0)\" is not paired, so it starts no rule: tryck pair", .doubtful) })
        }
    }

    /// The explained buttons that the daemon does not have.
    private func missingButtons(in set: RuleSet) throws(Failure) -> [String] {
        let named = [button].compactMap(\.self) + (chord?.split(separator: ",").map(String.init) ?? [])
        guard !named.isEmpty else { return [] }
        let paired = try control.ask(ControlRequestName.buttons).arrayValue ?? []
        return named.filter { name in
            guard let declared = set.buttons.first(where: { $0.name == name }) else { return false }
            // The rules of the daemon may give the button another name.
            return !paired.contains { button in
                ["name", "address", "serial", "uuid", "nickname"].contains {
                    [name, declared.hardware.text].contains(button[$0]?.stringValue)
                }
            }
        }
    }

    private func explain(_ explainer: RuleExplainer, in set: RuleSet) throws -> Explanation {
        if due { return explainer.explainTimes() }
        if let change { return try explain(change: change, explainer, in: set) }
        if let chord { return try explain(chord: chord, explainer, in: set) }
        return try explainEvent(explainer, in: set)
    }

    private func explain(change text: String, _ explainer: RuleExplainer, in set: RuleSet) throws -> Explanation {
        let assigned = try GivenValues.state(text, "--change", in: set)
        guard let explanation = explainer.explain(change: assigned.name, to: assigned.value) else {
            throw Failure(
                .usage,
                "A change starts rules only if the value before it is known: add --state \(assigned.name)=VALUE.")
        }
        return explanation
    }

    private func explainEvent(_ explainer: RuleExplainer, in set: RuleSet) throws -> Explanation {
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
