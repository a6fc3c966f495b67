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
        for line in String(decoding: maps.octets, as: UTF8.self).split(separator: "\n") {
            guard let range = codeRange(of: line), let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound)
            else {
                continue
            }
            madvise(start, Int(range.count), MADV_DONTNEED)
        }
    }

    /// The addresses of a mapping of a file's code.
    ///
    /// - Parameter line: a line of `/proc/PID/maps`: `START-END r-xp OFFSET DEVICE INODE PATH`.
    /// - Returns: `nil` for any other mapping. A private page that was written cannot be forgotten, so writable mappings are left
    ///   alone.
    package static func codeRange(of line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let ends = fields[0].split(separator: "-")
        guard ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16), start < end
        else {
            return nil
        }
        return start..<end
    }
}
