package import ButtonModel

/// A file of a history.
package struct HistorySegment: Hashable, Sendable {
    /// 1 or more. Segments are numbered in the order in which they were written.
    package var number: Int
    /// The length in octets.
    package var length: Int
    /// When the segment was written last.
    package var modifiedAt: UTCTime

    package init(number: Int, length: Int, modifiedAt: UTCTime) {
        self.number = number
        self.length = length
        self.modifiedAt = modifiedAt
    }

    /// `nil` for the name of another file.
    package init?(name: String, length: Int, modifiedAt: UTCTime) {
        let digits = name.dropLast(Self.nameEnd.count)
        guard name.hasSuffix(Self.nameEnd), digits.count == Self.digitCount, digits.utf8.allSatisfy(\.isDigit),
            let number = Int(digits), number > 0
        else { return nil }
        self.init(number: number, length: length, modifiedAt: modifiedAt)
    }

    package var name: String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, Self.digitCount - digits.count)) + digits + Self.nameEnd
    }

    package static let maximumNumber = 99_999_999
    private static let digitCount = 8
    private static let nameEnd = ".jsonl"
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
