/// A count from 0 to 2^53, the largest integer up to which JSON readers are exact.
///
/// It does not grow beyond its range, so that a count from a file cannot overflow.
package struct Tally: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    package static let range: ClosedRange<Int64> = 0...(1 << 53)

    package let value: Int64

    /// `nil` for a value outside of the range.
    package init?(_ value: Int64) {
        guard Self.range.contains(value) else { return nil }
        self.value = value
    }

    /// The nearest value in the range.
    package init(clamping value: some BinaryInteger) {
        self.value = min(max(Int64(clamping: value), Self.range.lowerBound), Self.range.upperBound)
    }

    package init(integerLiteral value: Int64) { self.init(clamping: value) }

    package var next: Tally { Tally(clamping: value + 1) }

    package static func < (left: Tally, right: Tally) -> Bool { left.value < right.value }
}
