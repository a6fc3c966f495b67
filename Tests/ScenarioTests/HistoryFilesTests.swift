import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import JSON
import Rules
import TestSupport
import Testing

@testable import ReplayCommands

@Suite("The segments of a history that are read")
struct HistoryFilesTests {
    /// - Parameter continues: true for a segment that a process begins while it runs.
    private static func header(startedAt: UTCTime, continues: Bool = false) -> JSONValue {
        let configuration = HubConfiguration(version: "1")
        let stored = StoredState(installationID: "0123")
        var hub = Hub(configuration, stored: stored, rules: RuleSet())
        var header = RecordingHeader(startedAt: startedAt, configuration: configuration, stored: stored)
        if continues { (header.isHistory, header.continues) = (true, true) }
        return hub.beginRecording(header, at: Instant(nanoseconds: 0))
    }

    private static func time(_ hour: Int64) -> UTCTime { UTCTime(milliseconds: hour * 3_600_000) }

    /// The hours at which the segments that are read began.
    ///
    /// - Parameter segments: the hours at which each began, and at which it was written last.
    private static func read(_ segments: [(start: Int64, end: Int64)], since hour: Int64) throws -> [Int64] {
        let directory = TemporaryDirectory()
        for (index, segment) in segments.enumerated() {
            let path = "\(directory.path)/0000000\(index + 1).jsonl"
            writeFile(path, header(startedAt: time(segment.start)).encoded() + [UInt8(ascii: "\n")])
            let times = timeval(tv_sec: Int(segment.end) * 3600, tv_usec: 0)
            try #require(utimes(path, [times, times]) == 0)
        }
        var starts: [Int64] = []
        try HistoryFiles(directory.path).read(since: time(hour)) { item in
            if case .begin(let header) = item { starts.append(header.startedAt.milliseconds / 3_600_000) }
            return true
        }
        return starts
    }

    @Test("segments that ended before the time are not read")
    func order() throws {
        let segments: [(Int64, Int64)] = [(10, 20), (20, 30), (30, 40)]
        #expect(try Self.read(segments, since: 5) == [10, 20, 30])
        #expect(try Self.read(segments, since: 25) == [20, 30])
        #expect(try Self.read(segments, since: 50) == [30])
        // Copies of files without the times of the originals.
        #expect(try Self.read([(10, 0), (20, 0), (30, 0)], since: 25) == [20, 30])
    }

    @Test("no segment is left out because the clock went back at a start")
    func clockWentBack() throws {
        // A machine without a clock begins at 1970, or at the time that it saved at its last end.
        #expect(try Self.read([(0, 20), (0, 30), (0, 40)], since: 15) == [0, 0, 0])
        #expect(try Self.read([(0, 20), (0, 30), (0, 40)], since: 25) == [0, 0])
        #expect(try Self.read([(10, 30), (30, 40), (20, 50)], since: 25) == [10, 30, 20])
        #expect(try Self.read([(30, 0), (20, 0)], since: 25) == [30, 20])
    }

    @Test("after a full disk, a part of the history is missing, and a segment with another line is unreadable")
    func fullDisk() throws {
        func gaps(_ segments: [(number: Int, octets: [UInt8])]) throws -> [String] {
            let directory = TemporaryDirectory()
            for segment in segments { writeFile("\(directory.path)/0000000\(segment.number).jsonl", segment.octets) }
            var gaps: [String] = []
            try HistoryFiles(directory.path).read(since: nil) { item in
                if case .gap(let reason, let isUnreadable) = item { gaps.append(isUnreadable ? "unreadable" : reason) }
                return true
            }
            return gaps
        }
        let first = Self.header(startedAt: Self.time(1)).encoded() + [UInt8(ascii: "\n")]
        let next = Self.header(startedAt: Self.time(2), continues: true).encoded() + [UInt8(ascii: "\n")]
        let time = "\(Self.time(2))"
        #expect(try gaps([(1, first), (2, []), (4, next)]) == ["a part of the history is missing before \(time)"])
        #expect(try gaps([(2, []), (4, next)]) == ["the history has nothing of the time before \(time)"])
        #expect(try gaps([(1, first + Array("no line\n".utf8) + first)]) == ["unreadable"])
    }

    @Test("times at the limits of their type are read", arguments: 1...40 as ClosedRange<UInt64>)
    func extremes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Those of the years 1 and 9999 are the limits for a recording.
        let times: [Int64] = [
            .min, .min + 1, -62_135_596_800_000, -1, 0, 1, 1_795_000_000_000, 253_402_300_799_999, .max - 1, .max,
        ]
        func any() -> Int64 { times.randomElement(using: &random) ?? 0 }
        let directory = TemporaryDirectory()
        try #require(mkdir(directory.path + "/history", 0o700) == 0)
        let run = #""control_line","client":7,"line":"{\"request\":\"rules/run\",\"data\":{\"id\":\"slow\"}}""#
        for number in 1...4 {
            var lines = Self.header(startedAt: UTCTime(milliseconds: number == 1 ? 0 : any())).encoded()
            var now: Int64 = 0
            for _ in 0..<10 {
                now += Int64.random(in: 0...3_000_000_000, using: &random)
                let at = Int.random(in: 0..<20, using: &random) == 0 ? any() : now
                let repeated = Int.random(in: 0..<5, using: &random) == 0 ? #","repeated":true"# : ""
                let inputs = [#""wall_clock","utc_ms":\#(any())"#, #""start""#, #""broker_connected""#, run]
                let input = inputs.randomElement(using: &random) ?? ""
                lines += Array("\n{\"at_ns\":\(at),\"input\":\(input)\(repeated)}".utf8)
            }
            writeFile("\(directory.path)/history/0000000\(number).jsonl", lines + [UInt8(ascii: "\n")])
        }
        var count = 0
        let beginning = Bool.random(using: &random) ? UTCTime(milliseconds: any()) : nil
        try Past.forEach(in: directory.path, from: beginning) { _ in
            count += 1
            return true
        }
        if beginning == nil { #expect(count > 0) }
        let rules = """
            version: 1
            location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
            variables: {count: {initial: 0, reset: "04:00"}}
            rules:
              - id: slow
                triggers: {at: "12:00"}
                actions: [{delay: 1s}, {set: {count: "{{ variables.count + 1 }}"}}]
              - {id: dusk, triggers: {at: sunset}, actions: {publish: {topic: a, payload: "{{ now.hour }}"}}}
            """
        _ = try Past.comparison(in: directory.path, with: ["rules.yaml": Array(rules.utf8)], since: beginning)
    }
}
