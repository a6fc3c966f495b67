/// Cuts what a stream brings into lines.
struct LineBuffer: Hashable, Sendable {
    /// A longer line ends the conversation: a program's output of twice 64 KiB, every octet escaped, still fits.
    static let maximumLength = 1 << 20

    struct LineTooLong: Error, Hashable {}

    private var partial: [UInt8] = []

    /// The lines that are complete now, without their newlines; empty ones are left out.
    mutating func append(_ octets: some Sequence<UInt8>) throws(LineTooLong) -> [[UInt8]] {
        partial.append(contentsOf: octets)
        guard partial.contains(UInt8(ascii: "\n")) else {
            guard partial.count <= Self.maximumLength else { throw LineTooLong() }
            return []
        }
        var pieces = partial.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        partial = pieces.popLast().map(Array.init) ?? []
        guard partial.count <= Self.maximumLength, pieces.allSatisfy({ $0.count <= Self.maximumLength }) else {
            throw LineTooLong()
        }
        return pieces.filter { !$0.isEmpty }.map(Array.init)
    }
}
