import ButtonModel
import DiskTestSupport
import Expressions
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Rules
import TestSupport
import Testing

@testable import Edges

@Suite("The records of a ring")
struct RecordRingTests {
    private static let button = StoredButton.example(1).id

    /// A change of each kind, with extreme values.
    private static let changes: [StoreChange] = [
        .progress(
            button, EventCursor(bootID: .max, eventCount: .max, smallEventCount: 3), recogniser: "d\"1\u{0}",
            pressCount: Tally(clamping: Int64.max), sequence: 0, publishWatermark: -4,
            seen: UTCTime(milliseconds: .min)),
        .progress(button, EventCursor(), recogniser: "", pressCount: 0, sequence: 1, publishWatermark: 0),
        .publishWatermark(button, 5), .runStarted(.example(7, button)),
        .runStarted(
            StoredRun(id: 8, rule: "é", button: nil, event: EventCursor(), startedAt: UTCTime(milliseconds: .min))),
        .runEnded(7),
        .battery(button, millivolts: 2500, measuredAt: UTCTime(milliseconds: 3), isLow: true),
        .batteryPercentage(button, 7, measuredAt: UTCTime(milliseconds: -3), isLow: false),
        .rules(.variable("a", .string("b"))), .rules(.variable("a", nil)),
        .rules(.cooldown(Cooldown(rule: "r", button: button, endsAt: UTCTime(milliseconds: 1)))),
        .putButton(.example(1, name: "\"", nickname: "n", battery: 2900, triggerMode: .click, isWanted: false)),
        .removeButton(button), .settings(button, ButtonSettings()),
        .fact(button, .lastSeen(UTCTime(milliseconds: 1))), .fact(button, .firmware(1)), .fact(button, .model(.duo)),
        .fact(button, .isAdvertisingConfigured(true)), .fact(button, .name(nil)), .fact(button, .name("n")),
        .fact(button, .source("flicd://attic:1")), .fact(button, .dials([.slot(1): 4])), .fact(button, .dials([:])),
        .fact(button, .nickname("")), .fact(button, .triggerMode(nil)),
    ]

    @Test("every change has an encoding, alone and together with others")
    func roundTrip() {
        for change in Self.changes {
            #expect(RingRecord(decoding: RingRecord([change]).encoded())?.changes == [change], "\(change)")
        }
        let octets = RingRecord(Self.changes).encoded()
        #expect(RingRecord(decoding: octets)?.changes == Self.changes)
        for length in 0..<octets.count {
            let found = RingRecord(decoding: Array(octets.prefix(length)))?.changes
            #expect(found == nil || found == Array(Self.changes.prefix(found?.count ?? 0)), "\(length)")
        }
    }

    @Test("the octets of a press do not change, because the next version reads them")
    func format() {
        let cursor = EventCursor(bootID: 0x0403_0201, eventCount: 0x0807_0605, smallEventCount: 9)
        let progress = StoreChange.progress(
            ButtonID(BluetoothAddress(rawValue: 0x8090_A0B0_C0D0)), cursor, recogniser: "a\u{E9}", pressCount: 1,
            sequence: 2, publishWatermark: -1, seen: UTCTime(milliseconds: 0x0102))
        let button: [UInt8] = [0xD0, 0xC0, 0xB0, 0xA0, 0x90, 0x80, 0, 0]
        let counters: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]
        let zeros = [UInt8](repeating: 0, count: 7)
        let minusOne = [UInt8](repeating: 0xFF, count: 8)
        var expected: [UInt8] = [1] + button + counters
        expected += [3, 0, 0, 0, 0x61, 0xC3, 0xA9, 1] + zeros + [2] + zeros + minusOne
        expected += [1, 2, 1, 0, 0, 0, 0, 0, 0]
        #expect(RingRecord([progress]).encoded() == expected)
        let run = StoredRun(
            id: 0x0A0B, rule: "r", button: nil, event: cursor, startedAt: UTCTime(milliseconds: -1))
        expected = [3, 0x0B, 0x0A, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x72, 0] + counters + minusOne
        #expect(RingRecord([.runStarted(run)]).encoded() == expected)
    }

    @Test("a text of any length is encoded", arguments: [0, 1, 60, 61, 62, 63, 64, 200, 300, 5000])
    func longTexts(length: Int) {
        let text = String(repeating: "r", count: length)
        let changes: [StoreChange] = [
            .runStarted(.example(1, Self.button, rule: text)), .runEnded(1), .fact(Self.button, .nickname(text)),
            .runStarted(.example(2, Self.button, rule: text)),
        ]
        for count in 1...changes.count {
            let changes = Array(changes.prefix(count))
            #expect(RingRecord(decoding: RingRecord(changes).encoded())?.changes == changes)
        }
    }

    @Test("random octets are no record that an encoder did not make", arguments: 0..<50 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 { _ = RingRecord(decoding: random.bytes(Int.random(in: 0...60, using: &random))) }
    }

    private static let epoch: UInt64 = 0xFEDC_BA98_7654_3210
    /// Records of one slot and of several.
    private static let records: [[StoreChange]] = (0..<6).map { number in
        [
            .runStarted(.example(UInt64(number) + 1, button, rule: String(repeating: "r", count: number * 160))),
            .publishWatermark(button, Int64(number)),
        ]
    }

    /// A ring in a file, at the end of which the records begin again at the first slot.
    private static func ring(
        in directory: TemporaryDirectory, isMappable: Bool, from number: UInt64 = 1018
    ) throws -> [UInt8] {
        let path = directory.path + "/ring"
        let ring = try RecordRing(
            path, at: RingPosition(epoch: epoch, number: number), after: number, isMappable: isMappable)
        #expect(ring.isMapped == isMappable && ring.isComplete)
        var last = number
        for record in records {
            let place = ring.append(RingRecord(record).encoded(), after: number)
            #expect(place.isInRing && place.number > last)
            last = place.number
        }
        return readFile(path)
    }

    private static func found(_ octets: [UInt8], after number: UInt64 = 1018) -> [[StoreChange]] {
        RingContents(octets).records(after: number).records.map(\.changes)
    }

    @Test(
        "a mapped ring and a written one have the same octets, and their records are found", arguments: [true, false])
    func written(isMappable: Bool) throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let octets = try Self.ring(in: directory, isMappable: isMappable)
        #expect(octets.count == RingContents.length)
        #expect(Self.found(octets) == Self.records)
        #expect(try octets == Self.ring(in: TemporaryDirectory(in: "/dev/shm"), isMappable: !isMappable))
        let contents = RingContents(octets)
        let numbers = contents.records(after: 1018).records.map(\.number)
        #expect(contents.records(after: numbers[2]).records.map(\.changes) == Array(Self.records[3...]))
        #expect(contents.records(after: numbers[5]).records == [] && !contents.records(after: 1018).isDamaged)
        for number in [0, 5000, UInt64(Int64.max), .max] { #expect(contents.records(after: number).records == []) }
    }

    @Test("a record of one slot that is written in its place has the octets of one that is copied there")
    func inPlace() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let ring = try RecordRing(
            directory.path + "/ring", at: RingPosition(epoch: Self.epoch, number: 1020), after: 1020)
        var (number, records): (UInt64, [[StoreChange]]) = (1020, [])
        // The payloads have 42 octets more than the text, and a slot has room for 232.
        for length in [0, 100, 189, 190, 191, 1000, 3] {
            let changes: [StoreChange] = [
                .runStarted(
                    StoredRun(
                        id: UInt64(length), rule: String(repeating: "r", count: length), button: Self.button,
                        event: EventCursor(), startedAt: UTCTime(milliseconds: 1)))
            ]
            let record = RingRecord(changes)
            let payload = record.encoded()
            #expect(payload.count == 42 + length)
            let slotCount = RingContents.slotCount(of: payload)
            let place = ring.appendInPlace(record, after: 1020)
            #expect(place == (slotCount == 1 ? RingPlace(number: number + 1, isInRing: true) : nil))
            let start = RingContents.offset(of: number + 1)
            number = (place ?? ring.append(payload, after: 1020)).number
            records.append(changes)
            let octets = readFile(directory.path + "/ring")
            #expect(Self.found(octets, after: 1020) == records)
            guard place != nil else { continue }
            #expect(
                Array(octets[start..<start + RingContents.slotLength])
                    == RingContents.encoded(payload, first: number, epoch: Self.epoch))
        }
    }

    @Test("a record is not written in its place if the ring is full, or is not mapped")
    func notInPlace() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let ring = try RecordRing(directory.path + "/ring", at: RingPosition(epoch: 1, number: 0), after: 0)
        let record = RingRecord([.runEnded(1)])
        for _ in 0..<RingContents.slotCount { #expect(ring.appendInPlace(record, after: 0)?.isInRing == true) }
        let octets = readFile(directory.path + "/ring")
        #expect(ring.appendInPlace(record, after: 0) == nil && readFile(directory.path + "/ring") == octets)
        #expect(ring.appendInPlace(record, after: 1) == RingPlace(number: 1024, isInRing: true))
        let written = try RecordRing(
            directory.path + "/written", at: RingPosition(epoch: 1), after: 0, isMappable: false)
        #expect(written.appendInPlace(record, after: 0) == nil)
        #expect(written.append(record.encoded(), after: 0) == RingPlace(number: 1, isInRing: true))
    }

    @Test("every prefix of a ring and every flipped octet leaves the first records, and never another one")
    func damaged() throws {
        let octets = try Self.ring(in: TemporaryDirectory(in: "/dev/shm"), isMappable: false)
        for length in stride(from: 0, to: octets.count, by: 61) {
            // The file may be too short, or the rest of it lost.
            #expect(Self.found(Array(octets.prefix(length))) == [])
            let lost = octets.prefix(length) + [UInt8](repeating: 0, count: octets.count - length)
            let found = Self.found(Array(lost))
            #expect(found == Array(Self.records.prefix(found.count)))
        }
        var counts: Set<Int> = []
        for index in octets.indices where octets[index] != 0 || index % 256 < 40 && index < 16_384 {
            var flipped = octets
            flipped[index] ^= 1 << (index % 8)
            let found = Self.found(flipped)
            guard found != Array(Self.records.prefix(found.count)) || found.count == Self.records.count else {
                counts.insert(found.count)
                continue
            }
            // Slots before and after the records are empty.
            #expect(found == Self.records && octets[index] == 0, "octet \(index)")
        }
        #expect(counts == Set(0..<Self.records.count))
    }

    @Test("a ring of another epoch, of another version, of another length, or of random octets has no records")
    func foreign() throws {
        var octets = try Self.ring(in: TemporaryDirectory(in: "/dev/shm"), isMappable: false)
        #expect(RingContents(octets).header == .epoch(Self.epoch))
        #expect(RingContents(octets + [0]).header == .unknown)
        octets[7] += 1
        #expect(RingContents(octets).header == .unknown && Self.found(octets) == [])
        octets[7] -= 1
        octets[8] ^= 1
        #expect(Self.found(octets) == [])
        var random = SeededGenerator(seed: 1)
        #expect(Self.found(random.bytes(RingContents.length)) == [])
        let empty = RingContents([UInt8](repeating: 0, count: RingContents.length))
        #expect(empty.header == .empty && RingContents([]).header == .empty)
        #expect(empty.records(after: 0).records == [])
    }

    @Test("a record is not overwritten before it is covered, and a number is not used twice")
    func full() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let path = directory.path + "/ring"
        let ring = try RecordRing(path, at: RingPosition(epoch: 1, number: 0), after: 0)
        let payload = RingRecord([.runEnded(1)]).encoded()
        for number in 1...UInt64(RingContents.slotCount) {
            #expect(ring.append(payload, after: 0) == RingPlace(number: number, isInRing: true))
        }
        #expect(!ring.hasRoom(for: payload, after: 0))
        #expect(ring.append(payload, after: 0) == RingPlace(number: 1024, isInRing: false))
        #expect(RingContents(readFile(path)).records(after: 0).records.count == RingContents.slotCount)
        #expect(ring.append(payload, after: 1024) == RingPlace(number: 1025, isInRing: true))
        #expect(RingContents(readFile(path)).records(after: 1024).records.map(\.number) == [1025])
        let last = RingPosition(epoch: 1, number: UInt64(Int64.max) - 2)
        let old = try RecordRing(directory.path + "/old", at: last, after: last.number)
        #expect(old.append(payload, after: last.number).isInRing)
        #expect(!old.append(payload, after: .max).isInRing)
    }

    @Test("a write that fails uses up its number")
    func failedWrite() async throws {
        // Tests that watch a disk take turns on the reactor.
        try await withReactor {
            let directory = TemporaryDirectory(in: "/dev/shm")
            let disk = WatchedDisk(directory.path)
            let ring = try RecordRing(
                directory.path + "/ring", at: RingPosition(epoch: 1), after: 0, isMappable: false)
            let payload = RingRecord([.runEnded(1)]).encoded()
            disk.begin(.callsFrom(0, errno: EIO))
            defer { disk.end() }
            #expect(ring.append(payload, after: 0) == RingPlace(number: 1, isInRing: false))
            disk.mend()
            #expect(ring.append(payload, after: 0) == RingPlace(number: 2, isInRing: true))
            let contents = RingContents(readFile(directory.path + "/ring"))
            #expect(contents.records(after: 0) == ([], true))
            #expect(contents.records(after: 1).records.map(\.number) == [2])
        }
    }

    @Test("a ring that goes on keeps the records that the database lacks, and nothing else")
    func continued() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let octets = try Self.ring(in: directory, isMappable: true, from: 0)
        let numbers = RingContents(octets).records(after: 0).records.map(\.number)
        let path = directory.path + "/ring"
        // The fourth record is damaged, so the fifth and the sixth are lost.
        var damaged = octets
        damaged[RingContents.offset(of: numbers[3]) + 30] ^= 1
        writeFile(path, damaged)
        let position = RingPosition(epoch: Self.epoch, number: numbers[2])
        let ring = try RecordRing(path, at: position, after: numbers[0])
        #expect(ring.isComplete)
        let place = ring.append(RingRecord(Self.records[0]).encoded(), after: numbers[0])
        #expect(place.number == numbers[2] + 1)
        #expect(
            Self.found(readFile(path), after: numbers[0]) == [Self.records[1], Self.records[2], Self.records[0]])
        #expect(Self.found(readFile(path), after: 0) == [])
    }

    @Test("a ring that does not have the records up to its position is not complete")
    func incomplete() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let position = RingPosition(epoch: 1, number: 9)
        #expect(try !RecordRing(directory.path + "/a", at: position, after: 5).isComplete)
        #expect(try RecordRing(directory.path + "/b", at: position, after: 9).isComplete)
    }

    @Test("all octets of the file have space, also if the file had holes")
    func allocated() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let path = directory.path + "/ring"
        writeFile(path, [])
        truncate(path, RingContents.length)
        _ = try RecordRing(path, at: RingPosition(epoch: 1), after: 0)
        var information = stat()
        #expect(stat(path, &information) == 0 && information.st_blocks * 512 >= RingContents.length)
        #expect(information.st_size == RingContents.length)
    }

    /// A copy of the descriptor with which this process has opened the file, as a child process has between fork and exec.
    private static func copyOfDescriptor(_ path: String) -> OwnedDescriptor {
        for descriptor in Int32(0)..<1024 {
            var target = [CChar](repeating: 0, count: 4096)
            guard readlink("/proc/self/fd/\(descriptor)", &target, target.count - 1) > 0,
                String(decoding: target.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) == path
            else { continue }
            return OwnedDescriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
        }
        return OwnedDescriptor(-1)
    }

    @Test("the lock of a ring ends immediately, even if a child process still has a copy of its descriptor")
    func copied() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let path = directory.path + "/ring"
        var ring: RecordRing? = try RecordRing(path, at: RingPosition(epoch: 1), after: 0)
        let copy = Self.copyOfDescriptor(path)
        #expect(copy.isOpen && ring != nil)
        ring = nil
        guard case .found = RecordRing.read(path) else { throw Unexpected() }
        _ = try RecordRing(path, at: RingPosition(epoch: 1), after: 0)
        withExtendedLifetime(copy) {}
    }

    @Test("a ring in use, a ring of others, and a ring that is no file are refused")
    func refused() throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let path = directory.path + "/ring"
        let position = RingPosition(epoch: 1)
        let ring = try RecordRing(path, at: position, after: 0)
        #expect(throws: StoreFailure.ringInUse(path: path)) { try RecordRing(path, at: position, after: 0) }
        withExtendedLifetime(ring) {}
        let (open, link, other) = (directory.path + "/open", directory.path + "/link", directory.path + "/directory")
        writeFile(open, [], mode: 0o602)
        chmod(open, 0o602)
        #expect(throws: StoreFailure.foreignReserve(path: open)) { try RecordRing(open, at: position, after: 0) }
        symlink(path, link)
        mkdir(other, 0o700)
        for name in [link, other] {
            #expect(throws: StoreFailure.self) { try RecordRing(name, at: position, after: 0) }
            guard case .foreign = RecordRing.read(name) else { throw Unexpected() }
        }
        guard case .missing = RecordRing.read(directory.path + "/missing") else { throw Unexpected() }
    }
}
