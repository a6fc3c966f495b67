/// The state of the metrics that no other part of the hub holds.
struct MetricsState: Sendable {
    /// True if the file is written.
    let isEnabled: Bool
    /// Gestures that came too late to count.
    private(set) var stale: Int64 = 0

    /// True if a value may differ from the file.
    private(set) var isOutdated = false
    /// The text that was written last.
    private var written: [UInt8] = []

    init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// A value may have changed.
    mutating func invalidate() { isOutdated = true }

    mutating func countStale() {
        stale += 1
        isOutdated = true
    }

    /// The text of the file was made from the current values.
    ///
    /// - Returns: whether it has to be written, because it differs from the text before.
    mutating func rendered(_ text: [UInt8]) -> Bool {
        isOutdated = false
        guard text != written else { return false }
        written = text
        return true
    }
}
