import CommandSupport
import Simulator

extension SimulatedAction {
    /// The sentences about a press that does not exist.
    static func unknown(_ name: String) -> String {
        "There is no press \"\(name)\"." + DidYouMean.sentence(name, among: examples)
            + " The presses are: \(exampleNames)."
    }

    /// The sentences about a simulated button that does not exist.
    static func unknown(button name: String, among names: [String]) -> String {
        "There is no button \"\(name)\"." + DidYouMean.sentence(name, among: names)
            + " The buttons are: \(names.joined(separator: ", "))."
    }
}
