/// A line exceeds the maximum length.
package struct LineTooLong: Error, Hashable, Sendable {}

/// Splits a stream of octets into lines, which end with a line feed. Empty lines are dropped.
package struct LineFramer: Sendable {
    private let maximumLength: Int
    private var pending: [UInt8] = []
    /// The number of octets of `pending` that were returned, and the number that were searched for a line feed.
    private var start = 0
    private var searched = 0

    /// - Parameter maximumLength: in octets, without the line feed.
    package init(maximumLength: Int) { self.maximumLength = maximumLength }

    package mutating func append(_ octets: [UInt8]) {
        pending.removeFirst(start)
        searched -= start
        start = 0
        pending.append(contentsOf: octets)
    }

    /// The next complete line without its line feed; `nil` if there is none yet.
    ///
    /// - Throws: `LineTooLong`, after all lines before it were returned, and for every later call.
    package mutating func next() throws(LineTooLong) -> [UInt8]? {
        while let end = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            guard end - start <= maximumLength else { throw LineTooLong() }
            let line = pending[start..<end]
            start = end + 1
            searched = start
            if !line.isEmpty { return Array(line) }
        }
        searched = pending.count
        guard pending.count - start <= maximumLength else { throw LineTooLong() }
        return nil
    }
}
