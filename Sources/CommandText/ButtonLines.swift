package import JSON

/// Chooses the lines of the live stream that are about one button: its own, and those of the runs that it starts.
package struct ButtonLines: Sendable {
    /// The runs that are kept. A message of a run may be reported after its end.
    static let maximumRuns = 1000

    private let name: String
    private let id: String?
    private var runs: [Int64] = []

    /// - Parameter id: as the daemon lists it. Lines about rules have only the name of the button.
    package init(of name: String, id: String? = nil) {
        self.name = name
        self.id = id
    }

    package mutating func contains(_ line: JSONValue) -> Bool {
        let isButton = line["button"]?.stringValue == name || id != nil && line["id"]?.stringValue == id
        guard let run = line["run"]?.integerValue else { return isButton }
        if isButton, !runs.contains(run) {
            runs.append(run)
            if runs.count > Self.maximumRuns { runs.removeFirst() }
        }
        return isButton || runs.contains(run)
    }
}
