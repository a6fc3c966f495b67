import ButtonModel
import Expressions
import JSON
import Rules
import Testing

@testable import Hub

@Suite("What a history contains")
struct HistoryWriterTests {
    /// A writer with a monotonic clock and a wall clock that the test advances, and an edge that only counts octets.
    private struct Transcript {
        var writer: HistoryWriter
        var now = Instant(sinceBoot: .seconds(1000))
        var clock = UTCTime(milliseconds: 1_795_000_000_000)
        var isBetweenRuns = true
        /// The length of the open segment.
        var length = 0

        init(age: Duration = .seconds(7 * 86_400), length: Int = 2 << 20) {
            writer = HistoryWriter(HistoryLimits(age: age, length: length))
        }

        mutating func begin(_ segments: [HistorySegment] = []) -> [HistoryWriter.Effect] {
            let header = RecordingHeader(
                startedAt: clock, configuration: HubConfiguration(version: "1"),
                stored: StoredState(installationID: "0123"))
            return give(.begin(header, segments: segments))
        }

        mutating func turn(
            _ input: Hub.Input, _ line: RecordedLine? = RecordedLine(octets: [0x78], hasConsequences: false),
            effects: [Hub.Effect] = [], isState: Bool = false, writes octets: Int = 0
        ) -> [HistoryWriter.Effect] {
            length += octets
            let turn = HubRunner.Turn(
                input: input, at: now, effects: effects, isState: isState, isBetweenRuns: isBetweenRuns)
            return give(.turn(turn, line: line, length: length))
        }

        mutating func give(_ input: HistoryWriter.Input) -> [HistoryWriter.Effect] {
            let effects = writer.handle(input, at: now, wallClock: clock)
            if effects.contains(where: { if case .open = $0 { true } else { false } }) { length = 0 }
            return effects
        }

        mutating func wait(_ time: Duration) {
            now = now + time
            clock = clock + time
        }
    }

    private static func segment(_ number: Int, _ length: Int = 100, daysAgo: Int64 = 0) -> HistorySegment {
        HistorySegment(
            number: number, length: length,
            modifiedAt: UTCTime(milliseconds: 1_795_000_000_000) + .seconds(-daysAgo * 86_400))
    }

    private static func name(of input: Hub.Input) -> String {
        let line = RecordedInput(at: Instant(nanoseconds: 0), input: input).json(hiding: Redaction([]))
        return line["input"]?.stringValue ?? ""
    }

    /// The effects in one word each, with the number of a segment.
    private static func words(_ effects: [HistoryWriter.Effect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .remove(let segment): "remove \(segment.number)"
            case .open(let segment): "open \(segment.number)"
            case .header(let header): header.continues ? "header, continues" : "header"
            case .repeated(let input, _): "repeated \(name(of: input))"
            case .line: "line"
            case .log(let level, _): "\(level.rawValue)"
            case .fault(let reason): reason == nil ? "mended" : "fault"
            }
        }
    }

    @Test("each start begins a segment with the next number, also after a kill in the middle of a line")
    func start() {
        var transcript = Transcript()
        #expect(Self.words(transcript.begin()) == ["open 1", "header"])
        #expect(Self.words(transcript.turn(.start)) == ["line"])
        transcript = Transcript()
        let effects = transcript.begin([Self.segment(7), Self.segment(3)])
        #expect(Self.words(effects) == ["open 8", "header"])
        #expect(effects.contains { if case .header(let header) = $0 { header.isHistory } else { false } })
    }

    @Test("answers of the broker and the disk, and timers without consequences, are left out")
    func kept() {
        var transcript = Transcript()
        _ = transcript.begin()
        for input: Hub.Input in [.published(1), .synced(4, true), .logLevel(.info), .timerFired] {
            #expect(transcript.turn(input) == [])
        }
        #expect(
            Self.words(transcript.turn(.timerFired, RecordedLine(octets: [0x78], hasConsequences: true))) == ["line"])
        #expect(Self.words(transcript.turn(.brokerConnected)) == ["line"])
        #expect(transcript.turn(.received([]), nil) == [])
        func request(_ text: String) -> Hub.Input { .controlLine(Hub.ClientID(rawValue: 1), Array(text.utf8)) }
        #expect(transcript.turn(request(#"{"request":"status"}"#)) == [])
        #expect(transcript.turn(request("{")) == [])
        #expect(Self.words(transcript.turn(request(#"{"request":"rules/disable","data":{"id":"a"}}"#))) == ["line"])
    }

    @Test("a long segment is followed by another when no rule runs, and at twice the length in any case")
    func length() {
        // A segment has 128 KiB.
        var transcript = Transcript()
        _ = transcript.begin()
        // The beginning does not count.
        #expect(Self.words(transcript.turn(.start, writes: 500_000)) == ["line"])
        #expect(Self.words(transcript.turn(.wallClock(transcript.clock), writes: 128 << 10)) == ["line"])
        transcript.isBetweenRuns = false
        #expect(Self.words(transcript.turn(.brokerConnected, writes: 1)) == ["line"])
        transcript.isBetweenRuns = true
        #expect(
            Self.words(transcript.turn(.start)) == [
                "line", "open 2", "header, continues", "repeated wall_clock", "repeated start",
                "repeated broker_connected",
            ])
        transcript.isBetweenRuns = false
        #expect(Self.words(transcript.turn(.start, writes: 1000)) == ["line"])
        #expect(Self.words(transcript.turn(.start, writes: 256 << 10)) == ["line"])
        #expect(Self.words(transcript.turn(.start, writes: 1)).contains("open 3"))
    }

    @Test("an old segment is followed by another with the next event, and what is older than the limit is removed")
    func age() {
        var transcript = Transcript(age: .seconds(2 * 86_400))
        #expect(
            Self.words(transcript.begin([Self.segment(1, daysAgo: 3), Self.segment(2, daysAgo: 1)])) == [
                "remove 1", "open 3", "header",
            ])
        transcript.wait(.seconds(86_400 / 4))
        #expect(Self.words(transcript.turn(.start)) == ["line"])
        transcript.wait(.seconds(86_400))
        // Time alone has no effect, so that an idle daemon does not wake up.
        #expect(transcript.turn(.timerFired) == [])
        #expect(Self.words(transcript.turn(.start)).prefix(4) == ["line", "remove 2", "open 4", "header, continues"])
    }

    @Test("the first segments are removed until the next one has space")
    func space() {
        var transcript = Transcript(length: 1 << 20)
        let segments = (1...9).map { Self.segment($0, 128 << 10) }
        // Two segments' lengths of 64 KiB are needed, so 7 of 128 KiB may stay.
        #expect(Self.words(transcript.begin(segments)) == ["remove 1", "remove 2", "open 10", "header"])
    }

    @Test("all segments together stay below the limit", arguments: [1 << 20, 3 << 20, 64 << 20])
    func bound(limit: Int) {
        var transcript = Transcript(length: limit)
        var lengths: [Int: Int] = [:]
        var open = 0
        func follow(_ effects: [HistoryWriter.Effect]) {
            for effect in effects {
                switch effect {
                case .remove(let segment): lengths[segment.number] = nil
                case .open(let segment): open = segment.number
                case .header, .repeated, .line, .log, .fault: break
                }
            }
        }
        follow(transcript.begin())
        for _ in 0..<5000 {
            transcript.wait(.seconds(60))
            let effects = transcript.turn(.start, writes: limit / 500)
            lengths[open] = max(lengths[open] ?? 0, transcript.length)
            follow(effects)
            #expect(lengths.values.reduce(0, +) <= limit)
        }
        #expect(lengths.count > 5)
    }

    @Test("a clock that is wrong at one start removes no segment of another")
    func wrongClock() {
        var transcript = Transcript()
        let old = HistorySegment(number: 2, length: 9, modifiedAt: UTCTime(milliseconds: 60_000))
        #expect(
            Self.words(transcript.begin([Self.segment(1, daysAgo: 1), old, Self.segment(3)])) == [
                "remove 2", "open 4", "header",
            ])
        transcript = Transcript()
        transcript.clock = UTCTime(milliseconds: 0)
        #expect(Self.words(transcript.begin([Self.segment(1), Self.segment(2)])) == ["open 3", "header"])
        // The clock is set while the daemon runs: the segment counts as written at the later time.
        transcript.clock = UTCTime(milliseconds: 1_795_000_000_000)
        #expect(Self.words(transcript.turn(.wallClock(transcript.clock))) == ["line"])
        transcript.wait(.seconds(90_000))
        #expect(Self.words(transcript.turn(.start)).prefix(3) == ["line", "open 4", "header, continues"])
    }

    @Test("a clock that is far ahead at one start removes nothing, and what is too old goes with the next segment")
    func clockAhead() {
        var transcript = Transcript()
        transcript.clock = UTCTime(milliseconds: 4_000_000_000_000)
        #expect(Self.words(transcript.begin([Self.segment(1, daysAgo: 1), Self.segment(2)])) == ["open 3", "header"])
        // The clock is set while the daemon runs.
        transcript.clock = UTCTime(milliseconds: 1_795_000_000_000)
        #expect(Self.words(transcript.turn(.wallClock(transcript.clock))) == ["line"])
        transcript.wait(.seconds(90_000))
        #expect(Self.words(transcript.turn(.start)).prefix(3) == ["line", "open 4", "header, continues"])
        // A daemon that was away for a month: the old segments go when the first new one is full.
        transcript = Transcript()
        #expect(Self.words(transcript.begin([Self.segment(1, daysAgo: 30)])) == ["open 2", "header"])
        transcript.wait(.seconds(90_000))
        #expect(Self.words(transcript.turn(.start)).prefix(3) == ["line", "remove 1", "open 3"])
    }

    @Test("a failure is logged once; a minute later the next event begins a segment that leaves out a number")
    func failure() {
        var transcript = Transcript()
        _ = transcript.begin()
        _ = transcript.turn(.brokerConnected)
        let failed = HistoryWriter.Input.failed(reason: "No space left on device", length: 100)
        let sentence = "no history is kept for now, because it cannot be written: No space left on device"
        #expect(transcript.give(failed) == [.log(.warning, sentence), .fault(sentence)])
        #expect(transcript.turn(.start) == [])
        // A helper thread that was still writing.
        #expect(transcript.give(.written) == [])
        transcript.wait(.seconds(59))
        #expect(transcript.turn(.start) == [])
        transcript.wait(.seconds(1))
        #expect(transcript.turn(.timerFired) == [])
        #expect(
            Self.words(transcript.turn(.start)) == [
                "open 3", "header, continues", "repeated wall_clock", "repeated start", "repeated broker_connected",
            ])
        // It fails again, and nothing is logged.
        #expect(transcript.give(failed) == [])
        transcript.wait(.seconds(60))
        #expect(Self.words(transcript.turn(.start)).first == "open 5")
        #expect(transcript.give(.written) == [.log(.info, "the history is kept again"), .fault(nil)])
        #expect(transcript.give(.written) == [])
        #expect(Self.words(transcript.turn(.start)) == ["line"])
    }

    @Test("a segment repeats the state, the rules and the last messages for states")
    func repeated() throws {
        var transcript = Transcript()
        _ = transcript.begin()
        func message(_ topicName: String, _ text: String) -> Hub.Input {
            .messageReceived(topicName: topicName, payload: Array(text.utf8), retained: false)
        }
        _ = transcript.turn(message("door", "open"), isState: true)
        _ = transcript.turn(message("door", "closed"), isState: true)
        _ = transcript.turn(message("command", "go"))
        let source = RecordedRules(files: [.init(name: "r.yaml", text: Array("version: 1\n".utf8))])
        let rules = RuleSet(states: [DeclaredState(name: "door", topicName: "door")])
        _ = transcript.turn(.rulesLoaded(1, RuleLoadReport(set: rules, source: source)))
        _ = transcript.turn(.rulesLoaded(2, RuleLoadReport(set: nil, summary: "unknown button")))
        _ = transcript.turn(.start, effects: [.record(1, [.rules(.variable("count", .number(3)))])])
        let effects = transcript.turn(.start, writes: 200 << 10)
        let header = try #require(
            effects.compactMap { if case .header(let header) = $0 { header } else { nil } }.first)
        #expect(header.rules == source)
        #expect(header.stored.rules.variables["count"] == .number(3))
        #expect(
            effects.last
                == .repeated(
                    .messageReceived(topicName: "door", payload: Array("closed".utf8), retained: true),
                    at: transcript.now))
        #expect(!Self.words(effects).contains("repeated broker_connected"))
    }

    @Test("a segment repeats no older message after one that is too long, and none that no state reads any more")
    func forgotten() {
        var transcript = Transcript()
        _ = transcript.begin()
        func message(_ topicName: String, _ count: Int) -> Hub.Input {
            .messageReceived(
                topicName: topicName, payload: [UInt8](repeating: 0x41, count: count), retained: false)
        }
        func repeated(_ effects: [HistoryWriter.Effect]) -> [String] {
            effects.compactMap { effect in
                guard case .repeated(.messageReceived(let topicName, _, _), _) = effect else { return nil }
                return topicName
            }
        }
        for topicName in ["door", "lamp", "windows/1"] { _ = transcript.turn(message(topicName, 4), isState: true) }
        _ = transcript.turn(message("door", 16_385), isState: true)
        #expect(repeated(transcript.turn(.start, writes: 200 << 10)) == ["lamp", "windows/1"])

        let states = [
            DeclaredState(name: "door", topicName: "door"),
            DeclaredState(name: "windows", topicName: "windows/+", combination: .count),
        ]
        _ = transcript.turn(.rulesLoaded(1, RuleLoadReport(set: nil, summary: "unknown button")))
        #expect(repeated(transcript.turn(.start, writes: 200 << 10)) == ["lamp", "windows/1"])
        _ = transcript.turn(.rulesLoaded(2, RuleLoadReport(set: RuleSet(states: states))))
        #expect(repeated(transcript.turn(.start, writes: 200 << 10)) == ["windows/1"])
    }

    @Test("a segment repeats when the clock was set, so that times of events stay the same")
    func clock() {
        var transcript = Transcript()
        _ = transcript.begin()
        let (utc, at) = (transcript.clock, transcript.now)
        _ = transcript.turn(.wallClock(utc))
        transcript.wait(.nanoseconds(3_000_000_001))
        #expect(transcript.turn(.start, writes: 200 << 10).contains(.repeated(.wallClock(utc), at: at)))
    }

    @Test("other files are no segments", arguments: ["1.jsonl", "00000000.jsonl", "0000000a.jsonl", "00000001.json"])
    func names(name: String) {
        #expect(HistorySegment(name: name, length: 1, modifiedAt: UTCTime(milliseconds: 0)) == nil)
        let segment = HistorySegment(name: "00000042.jsonl", length: 1, modifiedAt: UTCTime(milliseconds: 0))
        #expect(segment?.number == 42)
        #expect(segment?.name == "00000042.jsonl")
    }

    @Test("a file with the largest number is removed with all others, and the numbers begin again")
    func exhausted() {
        var transcript = Transcript()
        #expect(
            Self.words(transcript.begin([Self.segment(5), Self.segment(HistorySegment.maximumNumber)])) == [
                "remove 5", "remove 99999999", "open 1", "header",
            ])
    }
}
