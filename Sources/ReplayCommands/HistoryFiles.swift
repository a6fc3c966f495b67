import ButtonModel
import CommandSupport
import Edges
import Glibc
import Hub
import Platform
import Setup

/// Reads the segments of a history in order. A daemon may write and remove segments meanwhile.
struct HistoryFiles {
    enum Item: Hashable, Sendable {
        /// A daemon starts, or the history begins in the middle of its life.
        case begin(RecordingHeader)
        /// An input. It is repeated if it happened before the beginning.
        case input(RecordedInput)
        /// The process of the last `begin` has no more inputs.
        case end(End)
        /// A part of the history is missing or cannot be read; a sentence without its full stop.
        case gap(String, isUnreadable: Bool)
    }

    /// The state of a process after its last input, unless it ended in order (`stop`).
    enum End: Hashable, Sendable {
        /// The process runs, and the history has everything until this time.
        case running(UTCTime)
        /// The process was killed, and this is the next start. Its state tells what had ended before the kill.
        case restarted(RecordingHeader)
        /// Nothing: inputs are missing, or the process was killed and did not start again.
        case unknown
    }

    let directory: String
    let segments: [HistorySegment]
    /// The time until which a daemon that runs has written its inputs; `nil` if none runs.
    private let runningUntil: UTCTime?

    /// The history in a state directory, which a daemon may use at this time.
    ///
    /// - Throws: `Failure` with status 69 if there is no history.
    init(ofStateDirectory directory: String) throws(Failure) {
        let now = SystemEnvironment.wallClock
        let isInUse = StateDirectoryReport.isInUse(directory)
        try self.init(
            Setup.historyDirectory(in: directory), runningUntil: isInUse ? now - HistoryEdge.longestDelay : nil)
    }

    /// - Parameters:
    ///   - directory: of the segments.
    ///   - time: until which a daemon that runs has written its inputs; `nil` if none runs.
    /// - Throws: `Failure` with status 69 if there is no history.
    init(_ directory: String, runningUntil time: UTCTime? = nil) throws(Failure) {
        self.directory = directory
        runningUntil = time
        segments = HistoryEdge.segments(in: directory).sorted { $0.number < $1.number }
        guard !segments.isEmpty else {
            throw Self.absence(in: directory, isHidden: access(directory, R_OK) != 0 && errno == EACCES)
        }
    }

    /// - Parameter isHidden: true if this user may not read the directory. That of the service has keys, and the mode 0700.
    static func absence(in directory: String, isHidden: Bool) -> Failure {
        Failure(
            .unavailable,
            isHidden
                ? "The history in \(directory) can be read only by root and the user of the daemon: sudo tryck history"
                : "There is no history in \(directory). A daemon with history: in tryck.yaml (the default) keeps one; "
                    + "--state-directory names its directory.")
    }

    /// The segments that contain everything since a time: those from the first on that can have an event since then.
    ///
    /// A segment can have one if it was written since then, or if it or the next one began since then. No condition is enough by
    /// itself: a clock can go back at a start, as that of a machine without a battery does, and copies of files have other times.
    private func segments(since time: UTCTime?) -> ArraySlice<HistorySegment> {
        guard let time else { return segments[...] }
        var first = segments.startIndex
        for (index, segment) in segments.enumerated() {
            let beginning = beginning(of: segment)
            if let beginning, beginning >= time { break }
            if beginning != nil { first = index }
            // The time of a file has no fraction of a second.
            if segment.modifiedAt + .seconds(1) >= time {
                first = index
                break
            }
        }
        return segments[first...]
    }

    /// `nil` if the header cannot be read.
    private func beginning(of segment: HistorySegment) -> UTCTime? {
        guard var reader = try? RecordingReader("\(directory)/\(segment.name)"), let line = try? reader.next(),
            case .header(let header)? = try? RecordingLine(parsing: line.octets)
        else { return nil }
        return header.startedAt
    }

    /// The rules at the end of the history; `nil` if there were none. A segment that cannot be read is passed over.
    func lastRules() -> RecordedRules? {
        for segment in segments.reversed() {
            guard var reader = try? RecordingReader("\(directory)/\(segment.name)") else { continue }
            var header: RecordingHeader?
            var reloaded: RecordedRules?
            while let line = try? reader.next() {
                switch try? Self.parse(line) {
                case .header(let next): header = next
                case .input(let input): reloaded = input.rulesToLoad ?? reloaded
                case nil: break
                }
            }
            if let header { return reloaded ?? header.rules }
        }
        return nil
    }

    /// - Returns: `nil` for an incomplete line.
    private static func parse(_ line: RecordingReader.Line) throws(Failure) -> RecordingLine? {
        do throws(RecordingFailure) {
            return try RecordingLine(parsing: line.octets)
        } catch {
            if !line.isWhole { return nil }
            throw Failure(.configuration, "line \(line.number): \(error)")
        }
    }

    /// - Parameter body: returns false if the rest of the segment cannot be used.
    func read(since time: UTCTime?, _ body: (Item) throws(Failure) -> Bool) throws(Failure) {
        var previous: Int?
        var isOpen = false
        // True if a segment before had a header, so that a part is missing between two others.
        var hasRead = false
        // True if the last line of the segment before is incomplete, because the process was killed while it wrote.
        var isTorn = false
        for segment in segments(since: time) {
            let (wasOpen, wasTorn) = (isOpen, isTorn)
            let isNext = previous.map { $0 + 1 } == segment.number
            // `isOpen` becomes true again if the segment is read to its end.
            (isOpen, isTorn) = (false, false)
            var isContinued = false
            var hasBegun = false
            do throws(Failure) {
                var reader = try RecordingReader("\(directory)/\(segment.name)")
                while !isTorn, let line = try reader.next() {
                    switch try Self.parse(line) {
                    case nil: isTorn = true
                    case .header(let header):
                        guard !hasBegun else { throw Failure(.configuration, "line \(line.number): a second header") }
                        hasBegun = true
                        isContinued = header.continues && wasOpen && !wasTorn && isNext
                        guard !isContinued else { continue }
                        if wasOpen {
                            _ = try body(.end(isNext && !header.continues ? .restarted(header) : .unknown))
                        }
                        if header.continues, let previous, previous + 1 < segment.number {
                            let sentence =
                                hasRead
                                ? "a part of the history is missing before \(header.startedAt)"
                                : "the history has nothing of the time before \(header.startedAt)"
                            _ = try body(.gap(sentence, isUnreadable: false))
                        }
                        hasRead = true
                        guard try body(.begin(header)) else { throw .silent(.configuration) }
                    case .input(let input):
                        guard hasBegun else { throw Failure(.configuration, "line \(line.number): there is no header") }
                        guard !isContinued || !input.isRepeated else { continue }
                        guard try body(.input(input)) else { throw .silent(.configuration) }
                    }
                }
                isOpen = hasBegun
                if !hasBegun, wasOpen { _ = try body(.end(.unknown)) }
            } catch {
                // Failures of `body` that end the command have another status.
                guard error.status == .configuration else { throw error }
                if !error.sentence.isEmpty {
                    _ = try body(
                        .gap(
                            "\(segment.name): \(error.sentence): the rest of this segment is left out",
                            isUnreadable: true))
                }
                if hasBegun || wasOpen { _ = try body(.end(.unknown)) }
            }
            previous = segment.number
        }
        if isOpen { _ = try body(.end(runningUntil.map { .running($0) } ?? .unknown)) }
    }
}

extension HistoryFiles.Item {
    /// Why the history cannot be replayed from this item on: a sentence without its full stop.
    ///
    /// - Parameters:
    ///   - error: the error of loading the rules of that time, or of the house.
    ///   - house: the house that was to take the item; `nil` if there is none.
    func gap(_ error: any Error, in house: ReplayedHouse?) -> String {
        let time: UTCTime? = if case .begin(let header) = self { header.startedAt } else { house?.time }
        let part = "the history from \(time.map { "\($0)" } ?? "its beginning") on is left out"
        return switch error {
        case let rules as ReplayRun.UnreadableRules:
            "\(part), because this version cannot read the rules of that time: \(rules.reason)"
        case ReplayedHouse.Failure.badTime: "\(part), because its times are not in order"
        case ReplayedHouse.Failure.endless: "\(part), because its rules would never come to an end"
        default: "\(part): \(error)"
        }
    }
}
