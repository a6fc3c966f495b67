import CLinux
import Glibc

/// The memory that only the start of the program needed.
package enum StartMemory {
    /// Gives free memory back to the system, and forgets the pages of programs and libraries that have been used and not changed.
    ///
    /// The kernel maps 64 KiB around each page of a file that is used, and most of the code of a start is never executed again.
    /// What is used later is mapped again from the page cache. This takes about a millisecond.
    package static func release() {
        linux_trim_heap()
        guard let mappings = try? FileText(reading: "/proc/self/smaps") else { return }
        for range in unchangedRanges(mappings.octets) {
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), Int(range.count), MADV_DONTNEED)
        }
    }

    /// The addresses of the mappings of files that contain nothing but the contents of their files: code, and constants that the
    /// dynamic linker did not have to relocate. The text is read as octets, because the daemon is not ready before it has read
    /// about a hundred mappings.
    ///
    /// - Parameter mappings: the text of `/proc/PID/smaps`: for each mapping a line `START-END r-xp OFFSET DEVICE INODE PATH`, and
    ///   lines such as `Anonymous: 4 kB`, which says how much of a private mapping was written. A page that was written cannot be
    ///   forgotten, also if the mapping is not writable any longer.
    package static func unchangedRanges(_ mappings: [UInt8]) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        /// The range of the present mapping, if it is a file's and cannot be written.
        var present: Range<UInt>?
        for line in mappings.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "Anonymous:".utf8) {
                let amount = line.drop { !digits.contains($0) }.prefix { digits.contains($0) }
                if amount.elementsEqual("0".utf8), let range = present { ranges.append(range) }
                present = nil
            } else if let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
                present = readOnlyFile(line)
            }
        }
        return ranges
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private static func readOnlyFile(_ line: ArraySlice<UInt8>) -> Range<UInt>? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count == 6, fields[1].elementsEqual("r-xp".utf8) || fields[1].elementsEqual("r--p".utf8),
            fields[5].first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "/")
        else { return nil }
        let ends = fields[0].split(separator: UInt8(ascii: "-")).map { String(decoding: $0, as: UTF8.self) }
        guard ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16), start < end
        else {
            return nil
        }
        return start..<end
    }
}
