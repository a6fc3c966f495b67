import ButtonModel
import CommandSupport
import Platform
import Simulator

/// The presses in `--press`: actions of simulated buttons, one after another.
struct DemoScript: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        var button: String
        var action: SimulatedAction
    }

    var steps: [Step]

    /// Parses `kitchen:click,sofa:swipe_left,desk:turn_10`.
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
            guard let action = SimulatedAction(name: parts[1]) else {
                throw Failure(.usage, SimulatedAction.unknown(parts[1]))
            }
            steps.append(Step(button: parts[0], action: action))
        }
    }

    /// - Throws: `Failure` with status 64 when a button of this model cannot do its action.
    func check(models: [String: FlicModel]) throws(Failure) {
        for step in steps {
            guard let model = models[step.button],
                let complaint = step.action.reasonNotPossible(on: model, named: step.button)
            else { continue }
            throw Failure(.usage, complaint)
        }
    }

    /// - Throws: `Failure` with status 1 when a button is not among `names`.
    func check(buttons names: [String]) throws(Failure) {
        for step in steps where !names.contains(step.button) {
            throw Failure(.negativeResult, SimulatedAction.unknown(button: step.button, among: names))
        }
    }
}
