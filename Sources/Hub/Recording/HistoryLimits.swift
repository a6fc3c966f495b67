/// The limits of a history.
package struct HistoryLimits: Hashable, Sendable {
    /// When a segment begins, those that were written last before this time are removed.
    package let age: Duration
    /// The length of all segments together, in octets.
    package let length: Int
    /// A segment with more octets after its header is closed when no rule runs. Twice as many close it in any case.
    let segmentLength: Int
    /// A segment that began this long ago is closed when no rule runs.
    let segmentAge: Duration

    package init(age: Duration, length: Int) {
        self.age = age
        self.length = length
        segmentLength = max(64 << 10, min(4 << 20, length / 16))
        segmentAge = min(.seconds(86_400), max(.seconds(3600), age / 8))
    }
}
