package import JSON
import MQTTTopics

/// Chooses the lines of the live stream that are about one button: its own, and those of the runs that it starts.
package struct ButtonLines: Sendable {
    /// The runs that are kept. A message of a run may be reported after its end.
    static let maximumRuns = 1000

    private let button: String
    private var runs: [Int64] = []

    /// - Parameter button: its name or id.
    package init(of button: String) { self.button = button }

    package mutating func contains(_ line: JSONValue) -> Bool {
        let isButton = line["button"]?.stringValue == button || line["id"]?.stringValue == button
        guard let run = line["run"]?.integerValue else { return isButton }
        if isButton, !runs.contains(run) {
            runs.append(run)
            if runs.count > Self.maximumRuns { runs.removeFirst() }
        }
        return isButton || runs.contains(run)
    }
}
