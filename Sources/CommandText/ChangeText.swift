package import JSON

/// The change of a state that has started a run, as text.
package enum ChangeText {
    /// A longer value is cut, so that the line stays readable.
    private static let maximumLength = 40

    /// `mode from day to away`, or `mode became away` if the old value is not known, or `mode has changed` if the line has no
    /// values because they are too long; `nil` if the line has no state.
    package static func text(_ line: JSONValue) -> String? {
        guard let state = line["state"]?.stringValue else { return nil }
        guard let new = line["new"]?.stringValue else { return "\(state) has changed" }
        let old = line["old"]?.stringValue ?? ""
        return old.isEmpty ? "\(state) became \(short(new))" : "\(state) from \(short(old)) to \(short(new))"
    }

    private static func short(_ text: String) -> String {
        text.count <= maximumLength ? text : text.prefix(maximumLength) + "…"
    }
}
