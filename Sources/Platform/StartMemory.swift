import CLinux
import Glibc

/// The memory that only the start of the program needed.
package enum StartMemory {
    /// Gives free memory back to the system, and forgets the pages of code that the start has executed.
    ///
    /// The kernel maps 64 KiB around each page of code that is executed, and most of the code of a start is never executed again.
    /// Code that is executed later is mapped again from the page cache. This takes less than a millisecond.
    package static func release() {
        linux_trim_heap()
        guard let maps = try? FileText(reading: "/proc/self/maps") else { return }
        for line in maps.octets.split(separator: UInt8(ascii: "\n")) {
            guard let range = codeRange(of: line), let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound)
            else {
                continue
            }
            madvise(start, Int(range.count), MADV_DONTNEED)
        }
    }

    /// The addresses of a mapping of a file's code. The line is read as octets, because the daemon is not ready before it has read
    /// about eighty of them.
    ///
    /// - Parameter line: a line of `/proc/PID/maps`: `START-END r-xp OFFSET DEVICE INODE PATH`.
    /// - Returns: `nil` for any other mapping. A private page that was written cannot be forgotten, so writable mappings are left
    ///   alone.
    package static func codeRange(of line: ArraySlice<UInt8>) -> Range<UInt>? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count == 6, fields[1].elementsEqual("r-xp".utf8),
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
