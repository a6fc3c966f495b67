package import ButtonModel
package import JSON
import MQTTTopics
import Rules

/// The limits of a history.
package struct HistoryLimits: Hashable, Sendable {
    /// Segments that were written last before this time are removed.
    package var age: Duration
    /// The length of all segments together, in octets.
    package var length: Int

    package init(age: Duration, length: Int) {
        self.age = age
        self.length = length
    }

    /// A segment with more octets after its header is closed when no rule runs. Twice as many close it in any case.
    var segmentLength: Int { max(64 << 10, min(4 << 20, length / 16)) }
    /// A segment that began this long ago is closed when no rule runs.
    var segmentAge: Duration { min(.seconds(86_400), max(.seconds(3600), age / 8)) }
}

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

/// Decides which inputs of the hub a history contains, when a new segment begins, and which segments are removed.
///
/// | input | effects                                                                                             |
/// |-------|-----------------------------------------------------------------------------------------------------|
/// | begin | `remove` what is too old or too much, `open` a segment, `header`                                    |
/// | turn  | `line` if a replay of rules needs the input; then, if the segment is long or old and no rule runs:  |
/// |       | `remove`, `open`, `header`, `repeated` for what a reader needs that begins at this segment          |
///
/// A history leaves out inputs that only describe the broker's and the disk's answers, clients, and time that passes: a replay
/// answers for the broker and the disk, and has its own timers.
package struct HistoryWriter: Sendable {
    package enum Input: Sendable {
        /// - Parameter segments: the segments in the directory, in any order.
        case begin(RecordingHeader, segments: [HistorySegment])
        /// The hub has handled an input.
        ///
        /// - Parameters:
        ///   - line: the line of the recording for the input; `nil` if a recording has none.
        ///   - length: of the open segment, in octets.
        ///   - isState: true for a message that a state of the rules reads.
        ///   - isBetweenRuns: true if no rule runs.
        case turn(HubRunner.Turn, line: JSONValue?, length: Int, isState: Bool, isBetweenRuns: Bool)
    }

    package enum Effect: Hashable, Sendable {
        case remove(HistorySegment)
        /// Closes the open segment, and creates this one.
        case open(HistorySegment)
        case header(RecordingHeader)
        case repeated(Hub.Input)
        case line(JSONValue)
    }

    /// The limits for what is repeated at the beginning of a segment.
    private static let maximumTopicCount = 256
    private static let maximumTopicLength = 16 << 10

    private let limits: HistoryLimits
    private var closed: [HistorySegment] = []
    private var current: HistorySegment?
    /// When the open segment began, and the length of its beginning once that is known.
    private var beganAt = Instant(nanoseconds: 0)
    private var beginningLength: Int?
    /// The header of a segment that would begin now.
    private var header: RecordingHeader?
    private var isBrokerConnected = false
    /// The last messages on the topics of states.
    private var messages: [String: Hub.Input] = [:]

    package init(_ limits: HistoryLimits) { self.limits = limits }

    /// - Parameter wallClock: the time of the input.
    package mutating func handle(_ input: Input, at now: Instant, wallClock: UTCTime) -> [Effect] {
        switch input {
        case .begin(var header, let segments):
            header.isHistory = true
            self.header = header
            closed = segments.sorted { $0.number < $1.number }
            return beginSegment(at: now, wallClock)
        case .turn(let turn, let line, let length, let isState, let isBetweenRuns):
            follow(turn, isState: isState)
            guard let line, Self.isKept(turn.input, line) else { return [] }
            var effects: [Effect] = [.line(line)]
            if beginningLength == nil { beginningLength = length }
            let written = length - (beginningLength ?? 0)
            let isDue = written > limits.segmentLength || now - beganAt > limits.segmentAge
            guard isDue && isBetweenRuns || written > 2 * limits.segmentLength && turn.effects.last != .goOn
            else {
                return effects
            }
            current?.length = length
            effects += beginSegment(at: now, wallClock)
            effects += repeated(wallClock)
            return effects
        }
    }

    private mutating func beginSegment(at now: Instant, _ wallClock: UTCTime) -> [Effect] {
        guard var header else { return [] }
        if var current {
            current.modifiedAt = wallClock
            closed.append(current)
            header.continues = true
        }
        header.startedAt = wallClock
        self.header?.startedAt = wallClock
        // A file with the largest number was not written by this program. The numbers then begin again.
        let isExhausted = closed.last.map { $0.number >= HistorySegment.maximumNumber } ?? false
        let number = isExhausted ? 1 : (closed.last?.number ?? 0) + 1
        let segment = HistorySegment(number: number, length: 0, modifiedAt: wallClock)
        current = segment
        beganAt = now
        beginningLength = nil
        return prune(wallClock, all: isExhausted) + [.open(segment), .header(header)]
    }

    /// Removes segments, so that the next segment has space.
    private mutating func prune(_ wallClock: UTCTime, all: Bool) -> [Effect] {
        var total = closed.reduce(0) { $0 &+ $1.length } + 2 * limits.segmentLength
        let oldest = wallClock + (.zero - limits.age)
        let count = closed.prefix { segment in
            guard all || total > limits.length || segment.modifiedAt < oldest else { return false }
            total = max(0, total &- segment.length)
            return true
        }.count
        defer { closed.removeFirst(count) }
        return closed.prefix(count).map { .remove($0) }
    }

    private func repeated(_ wallClock: UTCTime) -> [Effect] {
        var inputs: [Hub.Input] = [.wallClock(wallClock), .start]
        if isBrokerConnected { inputs.append(.brokerConnected) }
        inputs += messages.sorted { $0.key < $1.key }.map(\.value)
        return inputs.map { .repeated($0) }
    }

    /// Follows what a segment that begins now has to contain.
    private mutating func follow(_ turn: HubRunner.Turn, isState: Bool) {
        for case .record(_, let changes) in turn.effects { header?.stored.apply(changes) }
        switch turn.input {
        case .brokerConnected: isBrokerConnected = true
        case .brokerDisconnected: isBrokerConnected = false
        case .rulesLoaded(_, let loaded): if let source = loaded.source { header?.rules = source }
        case .messageReceived(let topicName, let payload, _)
        where isState && payload.count <= Self.maximumTopicLength
            && (messages.count < Self.maximumTopicCount || messages[topicName] != nil):
            messages[topicName] = .messageReceived(topicName: topicName, payload: payload, retained: true)
        default: break
        }
    }

    /// True if a replay of rules needs the input.
    private static func isKept(_ input: Hub.Input, _ line: JSONValue) -> Bool {
        switch input {
        case .start, .wallClock, .received, .bus, .goOn, .source, .brokerConnected, .brokerDisconnected,
            .messageReceived, .processEnded, .webAnswered, .rulesLoaded, .transportOpened, .busOpened, .transportClosed,
            .stop:
            return true
        case .timerFired: return line["reports"] != nil || line["started"] != nil
        case .controlLine(_, let line):
            guard let name = (try? JSONValue(parsing: line))?["request"]?.stringValue else { return false }
            return keptRequests.contains(name)
        case .entropy, .brokerAddress, .brokerSentMalformedPacket, .published, .publishFailed, .messageDropped,
            .subscriptionRefused, .reloadRules, .logLevel, .firmwareFiles, .firmwareRead, .recordFailed, .reserveFault,
            .ringFault, .synced, .clientGone, .flicd:
            return false
        }
    }

    /// The requests that change what rules do.
    private static let keptRequests: Set<String> = [
        RuleRequestName.run.rawValue, RuleRequestName.enable.rawValue, RuleRequestName.disable.rawValue,
        RuleRequestName.setVariable.rawValue, ButtonRequestName.rename.rawValue, ButtonRequestName.options.rawValue,
    ]
}
