import Almanac
import ButtonModel
import Expressions
import TestSupport
import Testing

@Suite("Zone files")
struct ZoneFileTests {
    static let seeds: [UInt64] = Array(1...8)

    @Test("a file of version 1 is read with its four-octet times, and its last offset stays")
    func versionOne() throws {
        let octets = ZoneFileTests.file(version: 0, changes: [(-86_400, 1), (86_400, 0)], offsets: [3600, 7200])
        let zone = try #require(TimeZone(named: "Test", octets))
        #expect(zone.name == "Test")
        #expect(zone.offset(at: UTCTime(seconds: -86_401)) == 3600)
        #expect(zone.offset(at: UTCTime(seconds: -86_400)) == 7200)
        #expect(zone.offset(at: UTCTime(seconds: 86_399)) == 7200)
        #expect(zone.offset(at: UTCTime(seconds: 1 << 40)) == 3600)
    }

    @Test("a file with two blocks is read from the second", arguments: [UInt8(ascii: "2"), UInt8(ascii: "4"), 0x39])
    func laterVersions(version: UInt8) throws {
        let first = ZoneFileTests.file(version: version, changes: [(0, 1)], offsets: [0, 60])
        let second = ZoneFileTests.file(
            version: version, changes: [(-10_000_000_000, 1)], offsets: [3600, 7200], footer: "\nXXX-3\n")
        let zone = try #require(TimeZone(named: "Test", first + second))
        #expect(zone.offset(at: UTCTime(seconds: -10_000_000_001)) == 3600)
        #expect(zone.offset(at: UTCTime(seconds: -10_000_000_000)) == 10_800)
    }

    @Test("a rule without changes always holds, and without a rule the last offset stays")
    func withoutRule() throws {
        #expect(try ZoneFileTests.zone(rule: "<+03>-3").offset(at: UTCTime(seconds: -(1 << 40))) == 10_800)
        #expect(try ZoneFileTests.zone(rule: "").offset(at: UTCTime(seconds: 1 << 40)) == 0)
    }

    @Test("a rule whose summer time lasts all year has one offset")
    func savingAllYear() throws {
        let zone = try ZoneFileTests.zone(rule: "EST5EDT,0/0,J365/25")
        for day in 0..<1500 {
            for hour in [4, 5, 6] {
                let moment = Int64(1_767_225_600 + day * 86_400 + hour * 3600)
                #expect(zone.offset(at: UTCTime(seconds: moment)) == -14_400)
                #expect(zone.offset(at: UTCTime(seconds: moment - 1)) == -14_400)
            }
        }
    }

    @Test("29 February does not count in a rule's Julian day (J), and counts in its zero-based day")
    func julianDays() throws {
        // With J60 summer time begins on 1 March in every year; with 59 it begins on the 60th day, which is 29 February
        // in leap years.
        let without = try ZoneFileTests.zone(rule: "AAA0BBB,J60,J365")
        let with = try ZoneFileTests.zone(rule: "AAA0BBB,59,J365")
        for (moment, expected) in [(1_772_330_400, [3600, 3600]), (1_835_402_400, [0, 3600])] as [(Int64, [Int])] {
            #expect([without, with].map { $0.offset(at: UTCTime(seconds: moment)) } == expected)
            #expect([without, with].map { $0.offset(at: UTCTime(seconds: moment - 1)) } == [0, 0])
        }
        #expect(without.offset(at: UTCTime(seconds: 1_835_488_800)) == 3600)
        #expect(without.offset(at: UTCTime(seconds: 1_835_488_799)) == 0)
    }

    @Test("the time of day of a rule may be negative or more than 24 hours")
    func longHours() throws {
        // 22 March 2026 is the fourth Sunday. 50 hours before its midnight is Thursday, 22:00.
        let zone = try ZoneFileTests.zone(rule: "AAA0BBB,M3.4.0/-50,M10.4.4/167:59:59")
        #expect(zone.offset(at: UTCTime(seconds: 1_773_957_599)) == 0)
        #expect(zone.offset(at: UTCTime(seconds: 1_773_957_600)) == 3600)
        // From 22 October, a Thursday, the rule counts 167 hours, in summer time.
        let end: Int64 = 1_792_627_200 + 604_799 - 3600
        #expect(zone.offset(at: UTCTime(seconds: end - 1)) == 3600)
        #expect(zone.offset(at: UTCTime(seconds: end)) == 0)
    }

    @Test("a rule without dates has those of the C library, from March to November")
    func assumedDays() throws {
        let zone = try ZoneFileTests.zone(rule: "EST5EDT")
        #expect(zone.offset(at: UTCTime(seconds: 1_772_953_199)) == -18_000)
        #expect(zone.offset(at: UTCTime(seconds: 1_772_953_200)) == -14_400)
    }

    @Test(
        "a file whose footer is no TZ string is refused",
        arguments: [
            "A0", "AAA", "AAA25", "AAA1:60", "AAA1:00:60", "<AAA0", ":Europe/Berlin", "AAA0BBB,", "AAA0BBB,J0,J365",
            "AAA0BBB,366,J1", "AAA0BBB,M13.1.0,J1", "AAA0BBB,M1.6.0,J1", "AAA0BBB,M1.1.7,J1", "AAA0BBB,J1",
            "AAA0BBB,J1/168,J2", "AAA0BBB,J1,J2,J3", "AAA0BBB,J1,J2x", "AAA0 ", "AAA99999999999999999999", "AAA--1",
        ])
    func badRules(rule: String) {
        #expect(TimeZone(named: "Test", ZoneFileTests.file(rule: rule)) == nil)
    }

    @Test("a file with disordered changes, leap seconds, too large an offset, or no types or footer is refused")
    func badFiles() {
        func isRead(
            _ changes: [(Int64, UInt8)] = [], _ offsets: [Int32] = [0, 3600], leaps: UInt32 = 0, footer: String = "\n\n"
        ) -> Bool {
            let block = ZoneFileTests.file(version: 0x32, changes: [], offsets: [0])
            let second = ZoneFileTests.file(
                version: 0x32, changes: changes, offsets: offsets, leaps: leaps, footer: footer)
            return TimeZone(named: "Test", block + second) != nil
        }
        #expect(isRead([(1, 1), (2, 0)]))
        #expect(!isRead([(2, 1), (1, 0)]), "in disorder")
        #expect(!isRead([(1, 1), (1, 0)]), "twice at once")
        #expect(!isRead([(1, 2)]), "a type that is not there")
        #expect(!isRead([], []), "no type")
        #expect(isRead([], [27 * 3600]))
        #expect(!isRead([], [27 * 3600 + 1]), "further east than the date line")
        #expect(!isRead([], [.min]))
        #expect(!isRead(leaps: 1), "leap seconds")
        #expect(!isRead(footer: ""))
        #expect(!isRead(footer: "\nUTC0"))
        #expect(TimeZone(named: "Test", []) == nil)
        #expect(TimeZone(named: "Test", Array("TZif".utf8)) == nil)
    }

    @Test("a file of 64 KiB is read, and a longer one is not")
    func bound() {
        let file = ZoneFileTests.file(rule: "UTC0")
        let filling = [UInt8](repeating: 0, count: 64 * 1024 - file.count)
        #expect(TimeZone(named: "Test", file + filling) != nil)
        #expect(TimeZone(named: "Test", file + filling + [0]) == nil)
    }

    @Test("a file that is cut short anywhere is refused", arguments: ["Europe/Amsterdam", "Africa/Monrovia", "UTC"])
    func cut(name: String) throws {
        let octets = try Resources.octets(ofZone: name)
        for count in octets.indices {
            #expect(TimeZone(named: name, Array(octets.prefix(count))) == nil, "\(count)")
        }
    }

    @Test("a damaged file is refused, or makes a zone that answers every question", arguments: seeds)
    func damaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let whole = try Resources.octets(ofZone: ["Asia/Gaza", "Europe/Dublin"].randomElement(using: &random) ?? "UTC")
        for _ in 0..<400 {
            var octets = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // Damage in the headers and in the rule reaches more of the reader than damage in the list of changes.
                let near = [0..<octets.count, max(0, octets.count - 40)..<octets.count, 0..<60]
                let index = Int.random(in: near.randomElement(using: &random) ?? 0..<1, using: &random)
                octets[index] = UInt8.random(in: 0...255, using: &random)
            }
            ZoneFileTests.askAnything(TimeZone(named: "Test", octets), &random)
        }
    }

    @Test("a random rule is refused, or makes a zone that answers every question", arguments: seeds)
    func randomRules(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = [
            "AAA", "<+01>", "0", "5", "-", "24", ",", "J", "M", "3", ".", "5", "/", "167", ":", "59", "365", "+",
        ]
        for _ in 0..<400 {
            let rule = (0..<Int.random(in: 1...24, using: &random)).map { _ in words.randomElement(using: &random) ?? ""
            }
            ZoneFileTests.askAnything(TimeZone(named: "Test", ZoneFileTests.file(rule: rule.joined())), &random)
            let octets = Array("TZif2".utf8) + random.bytes(Int.random(in: 0...200, using: &random))
            ZoneFileTests.askAnything(TimeZone(named: "Test", octets), &random)
        }
    }

    private static func askAnything(_ zone: TimeZone?, _ random: inout SeededGenerator) {
        guard let zone else { return }
        for scale in [Int64.max, 1 << 45, 1 << 20] {
            let time = UTCTime(milliseconds: Int64.random(in: -scale...scale, using: &random))
            #expect(abs(zone.offset(at: time)) <= 27 * 3600)
            let local = zone.localTime(at: time)
            let moments = zone.moments(
                year: local.year, month: local.month, day: local.day, hour: local.hour, minute: local.minute,
                second: local.second)
            if (1...9999).contains(local.year) { #expect(moments.contains(UTCTime(seconds: local.unix))) }
        }
    }
}

extension ZoneFileTests {
    private static func zone(rule: String) throws -> TimeZone {
        try #require(TimeZone(named: "Test", file(rule: rule)))
    }

    private static func file(rule: String) -> [UInt8] {
        file(version: 0x32, changes: [], offsets: [0])
            + file(version: 0x32, changes: [], offsets: [0], footer: "\n\(rule)\n")
    }

    /// A header and its block. A file of a later version has two of each, and the footer after the second.
    private static func file(
        version: UInt8, changes: [(moment: Int64, type: UInt8)], offsets: [Int32], leaps: UInt32 = 0,
        footer: String? = nil
    ) -> [UInt8] {
        func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
        var octets = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        for count in [0, 0, leaps, UInt32(changes.count), UInt32(offsets.count), 4] { octets += bigEndian(count) }
        for change in changes {
            octets += footer == nil ? bigEndian(Int32(truncatingIfNeeded: change.moment)) : bigEndian(change.moment)
        }
        octets += changes.map(\.type)
        for offset in offsets { octets += bigEndian(offset) + [0, 0] }
        octets += Array("AAA\0".utf8)
        octets += [UInt8](repeating: 0, count: Int(leaps) * (footer == nil ? 8 : 12))
        return octets + Array((footer ?? "").utf8)
    }
}
