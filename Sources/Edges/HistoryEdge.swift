import ButtonModel
import Glibc
package import Hub
package import JSON
import Platform
package import Reactor

/// Writes the files of a history, which `HistoryWriter` decides.
///
/// Everything happens on a helper thread, one second after the first of the changes that wait, or earlier if they are long, so
/// that a slow disk delays nothing else. The files are not synced, so up to two seconds are lost when the process is killed.
@ReactorActor
package final class HistoryEdge {
    package enum Event: Hashable, Sendable {
        /// Lines were written.
        case written
        /// The open segment cannot be written, and is closed. All orders that waited are dropped, except removals.
        ///
        /// - Parameters:
        ///   - reason: continues a sentence.
        ///   - length: of the segment, in octets.
        case failed(reason: String, length: Int)
    }

    package nonisolated static let directoryName = "history"
    /// The delay in nanoseconds before a helper thread writes.
    private static let delay: Int64 = 1_000_000_000
    /// The time after which an input is in a file, unless the disk is slow.
    package nonisolated static let longestDelay = Duration.seconds(2)
    /// The octets of lines that wait above which a helper thread writes without a delay, because clients of the broker can
    /// cause lines at any rate.
    nonisolated static let longestDelayed = 1 << 20
    /// The limit in octets for lines that wait while a helper thread is writing.
    private static let maximumWaiting = 4 << 20

    private let loop: EventLoop
    private let maximumLength: Int
    private let happened: @ReactorActor (Event) -> Void
    private let disk: HistoryDisk
    private var waiting: [HistoryDisk.Order] = []
    /// The lines that wait behind `waiting`. They become one order, so that a second of lines is one write.
    private var lines: [UInt8] = []
    /// The length of the lines that wait, in octets.
    private(set) var waitingLength = 0
    private var isWriting = false
    private var timer: Timer?
    /// True if lines are dropped until the next segment.
    private var isClosed = true

    /// The length of the open segment with the lines that wait, in octets.
    package private(set) var length = 0

    /// - Parameters:
    ///   - directory: absolute. It is created if necessary.
    ///   - maximumLength: the limit for one segment, in octets.
    ///   - leastFree: the octets of the disk that the history leaves to others.
    package init(
        loop: EventLoop, directory: String, maximumLength: Int, leastFree: UInt64 = 1 << 20,
        _ happened: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.maximumLength = maximumLength
        self.happened = happened
        disk = HistoryDisk(directory, leastFree: leastFree)
        timer = loop.timer { [weak self] in self?.startWriting() }
    }

    /// Removes a segment. A failure leaves it in place.
    package func remove(_ old: HistorySegment) { add(.remove(old.name)) }

    /// Closes the open segment, and creates another.
    package func open(_ new: HistorySegment) {
        length = 0
        isClosed = false
        add(.open(new.name))
    }

    package func write(_ line: JSONValue) { write(line.encoded()) }

    /// - Parameter line: without its line feed.
    package func write(_ line: [UInt8]) {
        guard !isClosed else { return }
        let isFirst = waiting.isEmpty && lines.isEmpty
        lines += line
        lines.append(UInt8(ascii: "\n"))
        let count = line.count + 1
        guard count <= Recording.maximumLineLength, length + count <= maximumLength else {
            return fail("a segment would be longer than history_size in tryck.yaml allows", length)
        }
        guard waitingLength + count <= Self.maximumWaiting || !isWriting else {
            return fail("the disk is too slow", length - waitingLength)
        }
        length += count
        waitingLength += count
        if isFirst { setTimer() }
        if waitingLength > Self.longestDelayed { startWriting() }
    }

    /// Writes everything that waits, closes the file, and waits until the disk has it.
    package func end() {
        timer?.cancel()
        disk.add(takeWaiting() + [.close])
        // A failure is not reported, because the daemon ends.
        _ = disk.carryOut()
        drop()
    }

    private func add(_ order: HistoryDisk.Order) {
        let isFirst = waiting.isEmpty && lines.isEmpty
        endLines()
        waiting.append(order)
        if isFirst { setTimer() }
    }

    private func endLines() {
        if !lines.isEmpty { waiting.append(.write(lines)) }
        lines = []
    }

    private func takeWaiting() -> [HistoryDisk.Order] {
        endLines()
        defer { (waiting, waitingLength) = ([], 0) }
        return waiting
    }

    private func setTimer() {
        if !isWriting { timer?.set(at: loop.nanosecondsSinceBoot + Self.delay) }
    }

    private func startWriting() {
        guard !isWriting, !waiting.isEmpty || !lines.isEmpty else { return }
        isWriting = true
        timer?.cancel()
        disk.add(takeWaiting())
        loop.offload { [disk] in
            disk.carryOut()
        } then: { [weak self] fault in
            self?.finishWriting(fault)
        }
    }

    private func finishWriting(_ fault: HistoryDisk.Fault?) {
        isWriting = false
        if let fault { fail(fault.reason, fault.length) }
        if waitingLength > Self.longestDelayed {
            startWriting()
        } else if !waiting.isEmpty || !lines.isEmpty {
            setTimer()
        }
        if fault == nil { happened(.written) }
    }

    private func fail(_ reason: String, _ length: Int) {
        guard !isClosed else { return }
        drop()
        happened(.failed(reason: reason, length: max(0, length)))
    }

    /// Drops the orders that wait, except removals: `HistoryWriter` has already forgotten those segments, and would not
    /// order their removal again.
    private func drop() {
        isClosed = true
        waiting.removeAll { !$0.isRemoval }
        (lines, waitingLength) = ([], 0)
    }

    /// Removes all segments in a directory.
    package nonisolated static func removeSegments(in directory: String) {
        for segment in segments(in: directory) { unlink("\(directory)/\(segment.name)") }
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
