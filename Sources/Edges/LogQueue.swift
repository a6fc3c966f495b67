/// Writes lines to a descriptor that may accept nothing, or only the beginning of a line.
///
/// A line of which nothing is accepted is discarded and counted. Before the next line, a line with the count is
/// written. The remainder of a line that was accepted in part is written before everything else, so that lines are
/// never mixed.
struct LogQueue {
    /// The remainder of a line that was accepted in part.
    private var remainder: [UInt8] = []
    private(set) var omitted = 0

    /// - Parameters:
    ///   - line: a line with its line feed.
    ///   - notice: makes the line with the number of discarded lines.
    ///   - take: writes as much as possible without blocking, and returns the number of octets written.
    mutating func write(_ line: String, notice: (Int) -> String, take: (UnsafeRawBufferPointer) -> Int) {
        guard writeRemainder(take), omitted == 0 || begin(notice(omitted), take) else { return omitted += 1 }
        omitted = 0
        // The notice may have been accepted in part.
        guard remainder.isEmpty, begin(line, take) else { return omitted += 1 }
    }

    /// - Returns: whether there is no remainder any more.
    private mutating func writeRemainder(_ take: (UnsafeRawBufferPointer) -> Int) -> Bool {
        guard !remainder.isEmpty else { return true }
        remainder.removeFirst(remainder.withUnsafeBytes(take))
        return remainder.isEmpty
    }

    /// - Returns: whether at least the beginning was accepted.
    private mutating func begin(_ line: String, _ take: (UnsafeRawBufferPointer) -> Int) -> Bool {
        var line = line
        return line.withUTF8 { octets in
            let count = take(UnsafeRawBufferPointer(octets))
            guard count > 0 else { return false }
            if count < octets.count { remainder = Array(octets[count...]) }
            return true
        }
    }
}
