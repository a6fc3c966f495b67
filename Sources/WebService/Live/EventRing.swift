/// The latest lines of the live stream, for readers whose connection was interrupted. Lines are numbered from 1, and have
/// ids of the form `LIFE-N`, so that an id of an earlier stream is recognised.
package struct EventRing: Sendable {
    package static let maximumLines = 1_000
    /// The most octets. Older lines are dropped, even if there are fewer than `maximumLines`.
    package static let maximumCount = 1 << 20

    /// The lines that a reader has missed.
    package enum Missed: Hashable, Sendable {
        /// The lines after the one that it knows, with their numbers.
        case lines([Line])
        /// The reader knows no line of this ring, or too old a one.
        case unknown
    }

    package struct Line: Hashable, Sendable {
        package var number: Int
        package var octets: [UInt8]
    }

    /// Different for each ring.
    package let life: String
    /// The number of the latest line; 0 before the first.
    package private(set) var last = 0
    private var lines: [Line] = []
    /// The lines before this index are dropped. They are removed now and then.
    private var start = 0
    private var count = 0

    package init(life: String) { self.life = life }

    package func id(of number: Int) -> String { "\(life)-\(number)" }

    @discardableResult
    package mutating func append(_ octets: [UInt8]) -> Line {
        last += 1
        let line = Line(number: last, octets: octets)
        lines.append(line)
        count += octets.count
        while lines.count - start > Self.maximumLines || count > Self.maximumCount {
            count -= lines[start].octets.count
            lines[start].octets = []
            start += 1
        }
        if start > Self.maximumLines {
            lines.removeFirst(start)
            start = 0
        }
        return line
    }

    /// The lines after a number.
    package func lines(after number: Int) -> Missed {
        let kept = lines[start...]
        guard number >= last - kept.count, number <= last else { return .unknown }
        return .lines(Array(kept.suffix(last - number)))
    }

    /// The lines after an id that a reader sends back.
    package func lines(afterID id: String) -> Missed {
        guard id.hasPrefix(life + "-") else { return .unknown }
        let digits = id.dropFirst(life.utf8.count + 1)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(digits)
        else { return .unknown }
        return lines(after: number)
    }
}
