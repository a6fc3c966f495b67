package import ButtonModel
import JSON
import MQTTTopics
import Rules

/// Decides which inputs of the hub a history contains, when a new segment begins, and which segments are removed.
///
/// | input   | effects                                                                                            |
/// |---------|----------------------------------------------------------------------------------------------------|
/// | begin   | `remove` what is too old or too much, `open` a segment, `header`                                   |
/// | turn    | `line` if a replay of rules needs the input; then, if the segment is long or old and no rule runs: |
/// |         | `remove`, `open`, `header`, `repeated` for what a reader needs that begins at this segment         |
/// | failed  | `log` for the first failure. Then no line is written for a minute, and the next turn that has a    |
/// |         | line begins a segment. It leaves out a number, so that a reader knows that lines are lost          |
/// | written | `log` for the first success after a failure                                                        |
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
        case turn(HubRunner.Turn, line: RecordedLine?, length: Int)
        /// The open segment cannot be written, and is closed.
        ///
        /// - Parameters:
        ///   - reason: continues a sentence.
        ///   - length: of the segment, in octets.
        case failed(reason: String, length: Int)
        /// Lines were written.
        case written
    }

    package enum Effect: Hashable, Sendable {
        case remove(HistorySegment)
        /// Closes the open segment, and creates this one.
        case open(HistorySegment)
        case header(RecordingHeader)
        /// An earlier input, which a new segment repeats so that a replay can begin with it. The times of repeated inputs are in
        /// ascending order.
        case repeated(Hub.Input, at: Instant)
        case line(RecordedLine)
        case log(LogLevel, String)
        /// Why no history is kept, as a sentence for `status`; `nil`: it is kept again.
        case fault(String?)
    }

    /// The time after a failure before the next attempt.
    private static let pause = Duration.seconds(60)
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
    /// When the next attempt may begin, after a failure.
    private var pausedUntil: Instant?
    /// True if the last attempt failed.
    private var isFaulty = false
    /// The last `wallClock`. Its time is repeated with nanoseconds, because random numbers depend on the time of an event.
    private var wallClockSet: (utc: UTCTime, at: Instant)?
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
        case .failed(let reason, let length):
            close(length, wallClock)
            pausedUntil = now + Self.pause
            guard !isFaulty else { return [] }
            isFaulty = true
            let sentence = "no history is kept for now, because it cannot be written: \(reason)"
            return [.log(.warning, sentence), .fault(sentence)]
        case .written:
            guard isFaulty, pausedUntil == nil else { return [] }
            isFaulty = false
            return [.log(.info, "the history is kept again"), .fault(nil)]
        case .turn(let turn, let line, let length):
            follow(turn)
            guard let line, Self.keeps(turn.input, hasConsequences: line.hasConsequences) else { return [] }
            if let pausedUntil {
                guard now >= pausedUntil else { return [] }
                self.pausedUntil = nil
                return beginSegment(at: now, wallClock, afterLoss: true) + repeated(wallClock, at: now)
            }
            var effects: [Effect] = [.line(line)]
            if beginningLength == nil { beginningLength = length }
            let written = length - (beginningLength ?? 0)
            let isDue = written > limits.segmentLength || now - beganAt > limits.segmentAge
            guard isDue && turn.isBetweenRuns || written > 2 * limits.segmentLength && turn.effects.last != .goOn
            else {
                return effects
            }
            close(length, wallClock)
            effects += beginSegment(at: now, wallClock)
            effects += repeated(wallClock, at: now)
            return effects
        }
    }

    private mutating func close(_ length: Int, _ wallClock: UTCTime) {
        guard var current else { return }
        current.length = length
        current.modifiedAt = wallClock
        closed.append(current)
        self.current = nil
    }

    private mutating func beginSegment(
        at now: Instant, _ wallClock: UTCTime, afterLoss: Bool = false
    ) -> [Effect] {
        guard var header else { return [] }
        header.startedAt = wallClock
        self.header?.continues = true
        // A file with the largest number was not written by this program. The numbers then begin again.
        let isExhausted = closed.last.map { $0.number >= HistorySegment.maximumNumber - 1 } ?? false
        let number = isExhausted ? 1 : (closed.last?.number ?? 0) + (afterLoss ? 2 : 1)
        let segment = HistorySegment(number: number, length: 0, modifiedAt: wallClock)
        current = segment
        beganAt = now
        defer { beginningLength = nil }
        return prune(wallClock, all: isExhausted) + [.open(segment), .header(header)]
    }

    /// Removes segments that are too old, and then the first ones, until the next segment has space.
    private mutating func prune(_ wallClock: UTCTime, all: Bool) -> [Effect] {
        // The header of the next segment is about as long as that of the last one.
        let needed = 2 * limits.segmentLength + (beginningLength ?? 0)
        let oldest = wallClock + (.zero - limits.age)
        // Each segment has its own time: a clock that was wrong at one start must not remove the others. If all of them seem too
        // old, the clock may be wrong now, or the daemon was away. They then stay until this process has written a segment.
        let isClockPlausible = closed.contains { $0.modifiedAt >= oldest }
        var kept = closed.filter { !all && (!isClockPlausible || $0.modifiedAt >= oldest) }
        var total = kept.reduce(needed) { $0 &+ $1.length }
        let excess = kept.prefix { segment in
            guard total > limits.length else { return false }
            total = max(0, total &- segment.length)
            return true
        }
        kept.removeFirst(excess.count)
        defer { closed = kept }
        let numbers = Set(kept.map(\.number))
        return closed.filter { !numbers.contains($0.number) }.map { .remove($0) }
    }

    private func repeated(_ wallClock: UTCTime, at now: Instant) -> [Effect] {
        var inputs: [Hub.Input] = [.start]
        if isBrokerConnected { inputs.append(.brokerConnected) }
        inputs += messages.sorted { $0.key < $1.key }.map(\.value)
        let clock = wallClockSet ?? (wallClock, now)
        return [.repeated(.wallClock(clock.utc), at: clock.at)] + inputs.map { .repeated($0, at: now) }
    }

    /// Follows what a segment that begins now has to contain.
    private mutating func follow(_ turn: HubRunner.Turn) {
        for case .record(_, let changes) in turn.effects { header?.stored.apply(changes) }
        switch turn.input {
        case .wallClock(let utc): wallClockSet = (utc, turn.at)
        case .brokerConnected: isBrokerConnected = true
        case .brokerDisconnected: isBrokerConnected = false
        case .rulesLoaded(_, let loaded):
            guard let set = loaded.set else { break }
            header?.rules = loaded.source
            let filters = set.states.map { TopicFilter($0.topicName) }
            messages = messages.filter { message in filters.contains { $0.matches(message.key) } }
        case .messageReceived(let topicName, let payload, _):
            guard turn.isState, messages.count < Self.maximumTopicCount || messages[topicName] != nil else { break }
            // A new segment does not repeat a message that is too long. It does not repeat the earlier message of the topic either,
            // because that one is outdated.
            let isShort = payload.count <= Self.maximumTopicLength
            messages[topicName] =
                isShort ? .messageReceived(topicName: topicName, payload: payload, retained: true) : nil
        case .start, .entropy, .transportOpened, .busOpened, .transportClosed, .received, .bus, .goOn, .source,
            .brokerAddress, .brokerSentMalformedPacket, .published, .publishFailed, .messageDropped,
            .subscriptionRefused, .subscriptionGranted, .jobEnded, .reloadRules, .logLevel, .firmwareFiles,
            .firmwareRead,
            .recordFailed, .reserveFault, .ringFault, .historyFault, .synced, .controlLine, .clientGone, .flicd,
            .timerFired,
            .stop, .expiringMessageReceived, .uplink:
            break
        }
    }

    /// True if a replay of rules needs the input.
    ///
    /// - Parameter hasConsequences: true if the input has caused reports of buttons, or has started programs or web
    ///   requests.
    static func keeps(_ input: Hub.Input, hasConsequences: Bool) -> Bool {
        switch input {
        case .start, .wallClock, .received, .bus, .goOn, .source, .brokerConnected, .brokerDisconnected,
            .messageReceived, .jobEnded, .rulesLoaded, .transportOpened, .busOpened, .transportClosed,
            .stop, .expiringMessageReceived:
            return true
        case .timerFired: return hasConsequences
        case .controlLine(_, let line):
            guard let name = (try? JSONValue(parsing: line))?["request"]?.stringValue else { return false }
            return keptRequests.contains(name)
        case .entropy, .brokerAddress, .brokerSentMalformedPacket, .published, .publishFailed, .messageDropped,
            .subscriptionRefused, .subscriptionGranted, .reloadRules, .logLevel, .firmwareFiles, .firmwareRead,
            .recordFailed, .reserveFault, .ringFault, .historyFault, .synced, .clientGone, .flicd, .uplink:
            return false
        }
    }

    /// The requests that change what rules do.
    private static let keptRequests: Set<String> = [
        RuleRequestName.run.rawValue, RuleRequestName.enable.rawValue, RuleRequestName.disable.rawValue,
        RuleRequestName.setVariable.rawValue, ButtonRequestName.rename.rawValue, ButtonRequestName.options.rawValue,
    ]
}
