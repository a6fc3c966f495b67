import ButtonModel
import CommandSupport
import Platform
import Simulator

/// The presses in `--press`: actions of simulated buttons, one after another, and waits between them.
struct DemoScript: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case press(String, SimulatedAction)
        case wait(Duration)
    }

    /// The longest `wait:` of a script.
    static let longestWait = Duration.seconds(3600)

    var steps: [Step]

    /// Parses `kitchen:click,wait:2s,sofa:swipe_left,desk:turn_10`.
    ///
    /// - Throws: `Failure` with status 64.
    init(parsing text: String) throws(Failure) {
        steps = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(
                    .usage, "\"\(item)\" is not BUTTON:PRESS. Write for example --press kitchen:click,hall:hold")
            }
            // A button may be called "wait", too. No press is written like a duration.
            if parts[0] == "wait", let wait = DurationArgument.parse(parts[1]) {
                guard wait <= DemoScript.longestWait else {
                    throw Failure(.usage, "\"\(item)\" is too long. A wait of the demo may take at most 1h.")
                }
                steps.append(.wait(wait))
                continue
            }
            guard let action = SimulatedAction(name: parts[1]) else {
                throw Failure(.usage, DemoScript.unknown(parts[1], after: parts[0]))
            }
            steps.append(.press(parts[0], action))
        }
    }

    private static func unknown(_ text: String, after word: String) -> String {
        guard word == "wait", text.utf8.first.map({ (0x30...0x39).contains($0) }) ?? true else {
            return SimulatedAction.unknown(text)
        }
        return "\"\(text)\" is not a duration. Write for example wait:2s or wait:500ms"
    }

    private var presses: [(button: String, action: SimulatedAction)] {
        steps.compactMap { if case .press(let button, let action) = $0 { (button, action) } else { nil } }
    }

    /// - Throws: `Failure` with status 64 when a button of this model cannot do its action.
    func check(models: [String: FlicModel]) throws(Failure) {
        for press in presses {
            guard let model = models[press.button],
                let complaint = press.action.reasonNotPossible(on: model, named: press.button)
            else { continue }
            throw Failure(.usage, complaint)
        }
    }

    /// - Throws: `Failure` with status 1 when a button is not among `names`.
    func check(buttons names: [String]) throws(Failure) {
        for press in presses where !names.contains(press.button) {
            throw Failure(.negativeResult, SimulatedAction.unknown(button: press.button, among: names))
        }
    }
}
