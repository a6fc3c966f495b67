/// The limits of a history.
package struct HistoryLimits: Hashable, Sendable {
    /// When a segment begins, those that were written last before this time are removed.
    package var age: Duration
    /// The length of all segments together, in octets.
    package var length: Int

    package init(age: Duration, length: Int) {
        self.age = age
        self.length = length
    }

    /// A segment with more octets after its header is closed when no rule runs. Twice as many close it in any case.
    var segmentLength: Int { max(64 << 10, min(4 << 20, length / 16)) }
    /// A segment that began this long ago is closed when no rule runs.
    var segmentAge: Duration { min(.seconds(86_400), max(.seconds(3600), age / 8)) }
}
