/// A line that is longer than lines may be.
package struct LineTooLong: Error, Hashable, Sendable {}

/// Cuts a stream into lines, which end with a line feed. Empty lines are dropped.
package struct LineFramer: Sendable {
    private let maximumLength: Int
    private var pending: [UInt8] = []
    /// How much of `pending` has been given out, and how much has been searched.
    private var start = 0
    private var searched = 0

    /// - Parameter maximumLength: octets of a line, without its end.
    package init(maximumLength: Int) { self.maximumLength = maximumLength }

    package mutating func append(_ octets: [UInt8]) {
        pending.removeFirst(start)
        searched -= start
        start = 0
        pending.append(contentsOf: octets)
    }

    /// The next line that is complete, without its end.
    ///
    /// - Throws: `LineTooLong`, now and ever after, once the lines before it have been given out.
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
