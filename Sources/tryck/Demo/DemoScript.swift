import Daemon
import Simulator

/// What `--press` says: presses of simulated buttons, one after another.
struct DemoScript: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        var button: String
        var press: SimulatedPress
    }

    var steps: [Step]

    /// Reads `kitchen:click,hall:hold`.
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
            guard let press = SimulatedPress(rawValue: parts[1]) else {
                let words = SimulatedPress.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(.usage, "There is no press \"\(parts[1])\". The presses are: \(words).")
            }
            steps.append(Step(button: parts[0], press: press))
        }
    }

    /// - Throws: `Failure` with status 64 when a button is not among `names`.
    func check(buttons names: [String]) throws(Failure) {
        for step in steps where !names.contains(step.button) {
            throw Failure(
                .usage, "There is no button \"\(step.button)\". The buttons are: \(names.joined(separator: ", ")).")
        }
    }
}
