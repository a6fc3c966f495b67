/// The number of octets that are offered to a reader of the live stream and not written to it yet.
package struct ReaderBacklog: Hashable, Sendable {
    /// A reader that still has more unwritten octets than this when it gets new ones is cut off. The browser connects again
    /// by itself, and gets what it missed. A single snapshot of many buttons may be longer than this.
    package static let maximumLength = 1 << 20

    package private(set) var length = 0
    /// True if the reader was cut off.
    private var isCut = false

    package init() {}

    /// Adds octets.
    ///
    /// - Returns: false if the reader is too slow and has to be cut off, or was cut off before; the octets are not added then.
    package mutating func add(_ count: Int) -> Bool {
        guard !isCut, length <= Self.maximumLength else {
            isCut = true
            return false
        }
        length += count
        return true
    }

    package mutating func written(_ count: Int) { length -= count }
}
