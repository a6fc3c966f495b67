/// Lines on their way to a descriptor that may take nothing, or only the beginning of a line.
///
/// A line that is not taken is left out and counted. The next line that is taken comes after a line with that count. What
/// is missing of a line whose beginning was taken comes before everything else, so that two lines never mix.
struct LogQueue {
    /// The end of a line whose beginning was taken.
    private var rest: [UInt8] = []
    private(set) var omitted = 0

    /// - Parameters:
    ///   - line: with its line feed.
    ///   - notice: makes the line that says how many were not written.
    ///   - take: writes the beginning of what it is given, without waiting; returns how many octets that were.
    mutating func write(_ line: String, notice: (Int) -> String, take: (UnsafeRawBufferPointer) -> Int) {
        guard takeRest(take), omitted == 0 || give(notice(omitted), take) else { return omitted += 1 }
        omitted = 0
        // The notice may have been taken in part.
        guard rest.isEmpty, give(line, take) else { return omitted += 1 }
    }

    /// - Returns: whether nothing is left of the line before.
    private mutating func takeRest(_ take: (UnsafeRawBufferPointer) -> Int) -> Bool {
        guard !rest.isEmpty else { return true }
        rest.removeFirst(rest.withUnsafeBytes(take))
        return rest.isEmpty
    }

    /// - Returns: whether at least the beginning was taken.
    private mutating func give(_ line: String, _ take: (UnsafeRawBufferPointer) -> Int) -> Bool {
        var line = line
        return line.withUTF8 { octets in
            let count = take(UnsafeRawBufferPointer(octets))
            guard count > 0 else { return false }
            if count < octets.count { rest = Array(octets[count...]) }
            return true
        }
    }
}
