import ButtonModel
import Glibc
package import Hub
package import JSON
import Platform
package import Reactor

/// Writes the files of a history, which `HistoryWriter` decides.
///
/// The files promise nothing: they are not synced, and a failure ends the history until the next start.
@ReactorActor
package final class HistoryEdge {
    package nonisolated static let directoryName = "history"

    private let loop: EventLoop
    private let directory: String
    private let maximumLength: Int
    private let ended: @ReactorActor (String) -> Void
    private var segment: RecordEdge?
    private var hasEnded = false

    /// - Parameters:
    ///   - directory: absolute. It is created if necessary.
    ///   - maximumLength: the limit for one segment, in octets. A segment that would exceed it ends the history.
    ///   - ended: called once, with a sentence for users, if the history ends before `end`.
    package init(
        loop: EventLoop, directory: String, maximumLength: Int, _ ended: @escaping @ReactorActor (String) -> Void
    ) {
        self.loop = loop
        self.directory = directory
        self.maximumLength = maximumLength
        self.ended = ended
        SystemEnvironment.makeDirectory(directory)
    }

    /// The length of the open segment with the lines that wait, in octets.
    package var length: Int { segment?.totalLength ?? 0 }

    /// Removes a segment. A failure leaves it in place.
    package func remove(_ old: HistorySegment) { unlink("\(directory)/\(old.name)") }

    /// Closes the open segment, and creates another.
    package func open(_ new: HistorySegment) {
        guard !hasEnded else { return }
        segment?.end()
        let path = "\(directory)/\(new.name)"
        do throws(RecordFailure) {
            // A file that is there was not written by this program, because the number of a segment is new.
            unlink(path)
            segment = try RecordEdge(loop: loop, path: path, maximumLength: maximumLength, writesLater: true) {
                [weak self] in self?.fail($0)
            }
        } catch {
            fail(error.reason)
        }
    }

    package func write(_ line: JSONValue) { segment?.write(line) }

    package func end() {
        hasEnded = true
        segment?.end()
        segment = nil
    }

    private func fail(_ reason: String) {
        guard !hasEnded else { return }
        hasEnded = true
        segment = nil
        ended("no history is kept until the next start: \(reason)")
    }

    /// The segments in a directory, in no order. Other files, links and directories are ignored.
    package nonisolated static func segments(in directory: String) -> [HistorySegment] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var segments: [HistorySegment] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let modifiedAt = UTCTime(milliseconds: Int64(status.st_mtim.tv_sec) &* 1000)
            if let segment = HistorySegment(name: name, length: status.st_size, modifiedAt: modifiedAt) {
                segments.append(segment)
            }
        }
        return segments
    }
}
