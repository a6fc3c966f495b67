import ButtonModel
import DiskTestSupport
import Expressions
import Glibc
import Hub
import JSON
import Reactor
import ReactorTestSupport
import Rules
import TestSupport
import Testing

@testable import Edges

@Suite("The snapshots in a reserve")
struct ReserveSnapshotTests {
    private static let button = StoredButton.example(1).id

    private static let waiting = WaitingRun(
        run: RunID(rawValue: 9), rule: "hall", fingerprint: "05",
        cause: RunCause(
            button: button, facts: TriggerFacts(), at: UTCTime(milliseconds: -7)), endsAt: UTCTime(milliseconds: 8),
        saved: "{}")

    /// A change of each kind that a reserve can contain, with extreme values.
    private static let changes: [StoreChange] = [
        .progress(
            button, EventCursor(bootID: .max, eventCount: .max, smallEventCount: 3), recogniser: "d\"1\u{0}",
            pressCount: Tally(clamping: Int64.max), sequence: 0, publishWatermark: 4),
        .publishWatermark(button, 5),
        .runStarted(.example(7, button)),
        .runStarted(
            StoredRun(id: 8, rule: "é", button: nil, event: EventCursor(), startedAt: UTCTime(milliseconds: .min))),
        .runEnded(7),
        .rules(.variable("a", .string("b"))), .rules(.variable("a", nil)), .rules(.variable("n", .number(0.5))),
        .rules(.cycle("c", CyclePosition(next: 2, at: UTCTime(milliseconds: 3)))), .rules(.cycle("c", nil)),
        .rules(.enabled(rule: "r", EnabledOverride(isEnabled: false, inFile: true))),
        .rules(.enabled(rule: "r", nil)),
        .rules(.cooldown(Cooldown(rule: "r", button: button, endsAt: UTCTime(milliseconds: 1)))),
        .rules(.waiting(RunID(rawValue: 9), waiting)), .rules(.waiting(RunID(rawValue: 9), nil)),
        .rules(.kept(rule: "r", button, kept)), .rules(.kept(rule: "r", button, nil)),
        .rules(.daily("a", UTCTime(milliseconds: 5))), .rules(.daily("a", nil)),
        .putButton(.example(1, name: "\"", nickname: "n", battery: 2900, triggerMode: .click, isWanted: false)),
        .putButton(
            StoredButton(
                identity: StoredButton.example(4).identity, pairing: nil, source: "flicd://attic:1",
                pairedAt: UTCTime(milliseconds: 1), batteryPercentage: 7, publishWatermark: 3,
                dials: [.part(.small): 1],
                lastSeen: UTCTime(milliseconds: 2), home: "attic", recogniser: "d1")),
        .removeButton(button), .fact(button, .name("n")), .fact(button, .name(nil)), .fact(button, .nickname("")),
        .fact(button, .source("flicd://attic:1")), .fact(button, .triggerMode(.clickAndHold)),
        .fact(button, .triggerMode(nil)),
        .settings(button, ButtonSettings(latencyMode: .low, autoDisconnectTime: 60, isConnectionWanted: false)),
        .settings(button, ButtonSettings()), .fact(button, .dials([.slot(1): 4])), .fact(button, .dials([:])),
        .battery(button, millivolts: 2600, measuredAt: UTCTime(milliseconds: 5), isLow: true),
        .batteryPercentage(button, 7, measuredAt: UTCTime(milliseconds: .min), isLow: false),
    ]

    private static let kept = KeptEvent(
        rule: "r", fingerprint: "f", trigger: 0, button: button, number: 1,
        cause: RunCause(button: button, at: waiting.endsAt),
        hold: nil)

    private static let snapshot = ReserveSnapshot(
        database: 0xFEDC_BA98_7654_3210, number: 17, ring: RingPosition(epoch: .max, number: 3), changes: changes)

    @Test("a decoded snapshot equals the encoded one, with any padding")
    func roundTrip() throws {
        let octets = try #require(Self.snapshot.encoded())
        #expect(ReserveSnapshot(decoding: octets) == Self.snapshot)
        let slot = octets + [UInt8](repeating: 0xA5, count: ReserveSnapshot.slotLength - octets.count)
        #expect(ReserveSnapshot(decoding: slot) == Self.snapshot)
        let empty = ReserveSnapshot(database: 1, number: 1, changes: [])
        #expect(ReserveSnapshot(decoding: try #require(empty.encoded())) == empty)
    }

    @Test("facts of buttons have the texts that earlier versions wrote")
    func factTexts() throws {
        let id = Self.button.description
        let texts = [
            #"["name","\#(id)","n"]"#: StoredFact.name("n"), #"["name","\#(id)",null]"#: .name(nil),
            #"["nickname","\#(id)",""]"#: .nickname(""), #"["source","\#(id)","flicd://a:1"]"#: .source("flicd://a:1"),
            #"["mode","\#(id)","click"]"#: .triggerMode(.click), #"["mode","\#(id)",null]"#: .triggerMode(nil),
            #"["dials","\#(id)",{"slot_3":24576}]"#: .dials([.slot(3): 24576]),
        ]
        for (text, fact) in texts {
            #expect(StoreChange.fact(Self.button, fact).reserveJSON?.description == text)
            #expect(StoreChange(reserveJSON: try JSONValue(parsing: text)) == .fact(Self.button, fact))
        }
        for text in [
            #"["nickname","\#(id)",null]"#, #"["source","\#(id)",null]"#, #"["mode","\#(id)","often"]"#,
            #"["dials","\#(id)",{"slot_99":1}]"#, #"["firmware","\#(id)",1]"#, #"["trigger_mode","\#(id)","click"]"#,
        ] {
            #expect(StoreChange(reserveJSON: try JSONValue(parsing: text)) == nil, "\(text)")
        }
    }

    @Test("a snapshot does not contain values that a button reports again")
    func toldAgain() throws {
        let all: [StoreChange] = [
            .fact(Self.button, .lastSeen(UTCTime(milliseconds: 1))), .fact(Self.button, .firmware(1)),
            .fact(Self.button, .model(.duo)), .fact(Self.button, .isAdvertisingConfigured(true)),
        ]
        let octets = try #require(ReserveSnapshot(database: 1, number: 1, changes: all).encoded())
        #expect(ReserveSnapshot(decoding: octets)?.changes == [])
    }

    @Test("a snapshot is invalid if it is cut off anywhere, has a flipped bit, or has another version")
    func torn() throws {
        let octets = try #require(Self.snapshot.encoded())
        for length in 0..<octets.count { #expect(ReserveSnapshot(decoding: Array(octets.prefix(length))) == nil) }
        for index in octets.indices {
            var flipped = octets
            flipped[index] ^= 1 << (index % 8)
            #expect(ReserveSnapshot(decoding: flipped) == nil, "octet \(index)")
        }
    }

    @Test("sectors of an older snapshot make a newer one invalid", arguments: 0..<20 as Range<UInt64>)
    func sectors(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func octets(_ number: UInt64) throws -> [UInt8] {
            let changes = (0..<60).map {
                StoreChange.publishWatermark(StoredButton.example(UInt64($0)).id, Int64(number))
            }
            return try #require(ReserveSnapshot(database: 1, number: number, changes: changes).encoded())
        }
        let (old, new) = (try octets(11), try octets(12))
        var torn = new
        for sector in 0..<new.count / 512 where Bool.random(using: &random) {
            torn.replaceSubrange(sector * 512..<(sector + 1) * 512, with: old[sector * 512..<(sector + 1) * 512])
        }
        let found = ReserveSnapshot(decoding: torn)
        #expect(found == nil || torn == new || torn == old)
    }

    @Test("random octets are not a snapshot", arguments: 0..<50 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        #expect(ReserveSnapshot(decoding: random.bytes(Int.random(in: 0...300, using: &random))) == nil)
        // Random octets after a valid beginning.
        let head = try #require(Self.snapshot.encoded()).prefix(Int.random(in: 8...40, using: &random))
        #expect(ReserveSnapshot(decoding: Array(head) + random.bytes(200)) == nil)
    }

    @Test("a snapshot that is too long leaves out the state of rules; presses that do not fit are refused")
    func bounds() throws {
        let press = StoreChange.publishWatermark(Self.button, 1)
        let long = StoreChange.rules(.variable("a", .string(String(repeating: "x", count: ReserveSnapshot.slotLength))))
        let octets = try #require(ReserveSnapshot(database: 1, number: 1, changes: [press, long]).encoded())
        #expect(ReserveSnapshot(decoding: octets)?.changes == [press])
        func length(_ count: Int) -> Int? {
            let rule = String(repeating: "r", count: count)
            return ReserveSnapshot(database: 1, number: 1, changes: [.runStarted(.example(1, Self.button, rule: rule))])
                .encoded()?.count
        }
        let remainder = ReserveSnapshot.slotLength - (length(0) ?? 0)
        #expect(length(remainder) == ReserveSnapshot.slotLength)
        #expect(length(remainder + 1) == nil)
    }

    @Test("a write never hits a slot that is needed after a power cut or a kill", arguments: 0..<50 as Range<UInt64>)
    func slots(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var slots = Reserve.Slots(durable: seed.isMultiple(of: 2) ? 1 : nil)
        for _ in 0..<200 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where slots.syncing == nil: slots.syncBegan()
            case 1 where slots.syncing != nil: slots.syncEnded(Bool.random(using: &random))
            default:
                let next = slots.next
                #expect((0..<Reserve.Slots.count).contains(next))
                #expect(next != slots.latest && next != slots.durable && next != slots.syncing)
                slots.wrote(next)
            }
        }
    }
}

/// A store cannot write its database, and another start reads the files.
@Suite("A reserve and its database")
struct ReserveTests {
    private static let id = StoredButton.example(1).id

    @Test("a new reserve is still there after a power cut")
    func made() async throws {
        let directory = TemporaryDirectory()
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            #expect(store.refuge == .disk)
            var cut = CutDisk()
            for event in disk.events { cut.take(event) }
            #expect(cut.afterCut[Reserve.name]?.count == Reserve.Slots.count * ReserveSnapshot.slotLength)
        }
    }

    /// Copies the files of a process that was killed after two presses on a full disk, to names with `copy-`.
    ///
    /// - Returns: the state that includes both presses.
    private static func killOnFullDisk(in directory: TemporaryDirectory) async throws -> StoredState {
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            try store.apply([.putButton(.example(1))])
            var state = try store.load()
            disk.fail(.full)
            for number in 1...2 as ClosedRange<Int64> {
                let changes: [StoreChange] = [
                    .progress(
                        id, EventCursor(bootID: 1, eventCount: UInt32(number) * 4), recogniser: "",
                        pressCount: Tally(clamping: number), sequence: Tally(clamping: number), publishWatermark: 0),
                    .runStarted(.example(UInt64(number), id)),
                ]
                #expect(throws: StoreFailure.self) { try store.apply(changes) }
                #expect(store.refuge == .disk)
                #expect(store.settle())
                state.apply(changes)
            }
            // The files are copied while the store is open, as a killed process would leave them. The copies need space.
            disk.mend()
            for name in directory.names { copy(directory.path + "/" + name, to: directory.path + "/copy-" + name) }
            return state
        }
    }

    @Test("a full disk takes the presses of nine hundred buttons")
    func manyButtons() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let ids = (1...900).map { StoredButton.example(UInt64($0)).id }
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            for number in 1...900 { try store.apply([.putButton(.example(UInt64(number)))]) }
            disk.fail(.full)
            for (number, id) in ids.enumerated() {
                #expect(throws: StoreFailure.self) { try store.apply([Self.progress(id, 1)]) }
                guard store.refuge == .disk else {
                    Issue.record("press \(number) is not on the disk")
                    break
                }
            }
            disk.mend()
            for name in directory.names { Self.copy(directory.path + "/" + name, to: directory.path + "/copy-" + name) }
        }
        let other = Self.take(Self.database + [Reserve.name], from: directory)
        let state = try await withReactor { try openStore(other).load() }
        #expect(state.buttons.count == 900 && state.buttons.allSatisfy { $0.pressCount == 1 })
    }

    @Test("while the only place left is the ring, presses are refused before it is full")
    func ringAlone() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        mkdir(directory.path + "/" + Reserve.name, 0o700)
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            store.ringOpened(isComplete: true)
            guard var number = store.ringPosition?.number else { return }
            try store.apply([.putButton(.example(1))], at: RingPlace(number: number + 1, isInRing: true))
            let first = number + 1
            number = first
            disk.fail(.full)
            while store.refuge != .nowhere, number - first < UInt64(RingContents.slotCount) {
                number += 1
                #expect(throws: StoreFailure.self) {
                    try store.apply(
                        [Self.progress(Self.id, Int64(number))], at: RingPlace(number: number, isInRing: true))
                }
            }
            #expect(Int(number - first) == RingContents.slotCount - StoreDisk.keptRingSlots + 1)
            disk.mend()
            try store.apply([])
            #expect(try store.load().buttons.first?.pressCount == Tally(clamping: Int64(number)))
        }
    }

    @Test("a reserve of an earlier version is read, used while it is needed, and then replaced")
    func shortSlots() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let expected = try await Self.killOnFullDisk(in: directory)
        let other = Self.take(Self.database, from: directory)
        let (long, short) = (ReserveSnapshot.slotLength, ReserveSnapshot.shortSlotLength)
        let octets = readFile(directory.path + "/copy-" + Reserve.name)
        func shortened(_ octets: [UInt8]) -> [UInt8] {
            (0..<Reserve.Slots.count).flatMap { octets[$0 * long..<$0 * long + short] }
        }
        let path = other.path + "/" + Reserve.name
        writeFile(path, shortened(octets))
        try await withReactor {
            let disk = WatchedDisk(other.path)
            disk.begin()
            defer { disk.end() }
            disk.fail(.full)
            let store = try openStore(other)
            #expect(try store.load().runs == expected.runs)
            // The changes are still only in this file, so it must not be replaced.
            #expect(throws: StoreFailure.self) { try store.apply([.runStarted(.example(3, Self.id))]) }
            #expect(store.refuge == .disk)
            #expect(readFile(path).count == Reserve.Slots.count * short)
        }
        let state = try await withReactor { try openStore(other).load() }
        #expect(state.runs.map(\.id) == expected.runs.map(\.id) + [3])
        #expect(readFile(path).count == Reserve.Slots.count * long)
    }

    private static func progress(_ id: ButtonID, _ count: Int64) -> StoreChange {
        .progress(
            id, EventCursor(bootID: 1, eventCount: UInt32(clamping: count) * 4), recogniser: "",
            pressCount: Tally(clamping: count), sequence: Tally(clamping: count), publishWatermark: 0)
    }

    private static func copy(_ path: String, to target: String) { writeFile(target, readFile(path)) }

    /// A new directory with these copied files.
    private static func take(_ names: [String], from directory: TemporaryDirectory) -> TemporaryDirectory {
        let other = TemporaryDirectory(in: "/dev/shm")
        for name in names { copy(directory.path + "/copy-" + name, to: other.path + "/" + name) }
        return other
    }

    private static let database = ["tryck.sqlite", "tryck.sqlite-wal"]

    @Test("a start with free space applies the reserve to the database, once")
    func replayed() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let expected = try await Self.killOnFullDisk(in: directory)
        let other = Self.take(Self.database + [Reserve.name], from: directory)
        try await withReactor {
            let store = try openStore(other)
            #expect(store.fault == nil && store.notices == [])
            #expect(try store.load() == expected)
            try store.apply([.runEnded(1), .runEnded(2)])
        }
        // The snapshots that are still in the reserve are older than the database.
        let again = try await withReactor { try openStore(other).load() }
        #expect(again.runs == [])
        #expect(again.buttons == expected.buttons)
    }

    @Test("a database without its reserve has the state before the disk became full")
    func databaseAlone() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        _ = try await Self.killOnFullDisk(in: directory)
        let other = Self.take(Self.database, from: directory)
        let state = try await withReactor { try openStore(other).load() }
        #expect(state == StoredState(installationID: "05a1", buttons: [.example(1)]))
    }

    @Test("a reserve without its database, or beside another database, has no effect")
    func reserveAlone() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        _ = try await Self.killOnFullDisk(in: directory)
        let alone = Self.take([Reserve.name], from: directory)
        let state = try await withReactor { try openStore(alone).load() }
        #expect(state == StoredState(installationID: "05a1"))
        let strange = TemporaryDirectory(in: "/dev/shm")
        try await withReactor { try openStore(strange).apply([.putButton(.example(1))]) }
        Self.copy(directory.path + "/copy-" + Reserve.name, to: strange.path + "/" + Reserve.name)
        let other = try await withReactor { try openStore(strange).load() }
        #expect(other == StoredState(installationID: "05a1", buttons: [.example(1)]))
    }

    @Test("a start succeeds with any contents or kind of the reserve's file", arguments: 0..<12)
    func garbage(round: Int) async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let expected = try await Self.killOnFullDisk(in: directory)
        let other = Self.take(Self.database, from: directory)
        let path = other.path + "/" + Reserve.name
        var random = SeededGenerator(seed: UInt64(round))
        var good = readFile(directory.path + "/copy-" + Reserve.name)
        switch round {
        case 0: mkdir(path, 0o700)
        case 1: symlink("/dev/zero", path)
        case 2: writeFile(path, [])
        case 3: writeFile(path, good.dropLast())
        case 4: writeFile(path, good + [0])
        default:
            let start = Int.random(in: 0..<good.count - 40_000, using: &random)
            good.replaceSubrange(start..<start + 40_000, with: random.bytes(40_000))
            writeFile(path, good)
        }
        try await withReactor {
            let store = try openStore(other)
            let state = try store.load()
            #expect(state.buttons.map(\.id) == expected.buttons.map(\.id))
            #expect([0, 1, 2].contains(state.runs.count))
            #expect((store.reserveFault != nil) == (round < 2))
            try store.apply([.runStarted(.example(99, Self.id))])
        }
    }

    @Test("if the state directory cannot be written, the reserve in the runtime directory is used")
    func memory() async throws {
        let (directory, runtime) = (TemporaryDirectory(in: "/dev/shm"), TemporaryDirectory(in: "/dev/shm"))
        @ReactorActor func open() throws(StoreFailure) -> StoreDisk {
            try StoreDisk(
                directory: directory.path, runtimeDirectory: runtime.path, entropy: 0x05A1,
                now: UTCTime(milliseconds: 0))
        }
        try await withReactor {
            try open().apply([.putButton(.example(1))])
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            var store: StoreDisk? = try open()
            disk.fail(.callsFrom(0, errno: EROFS))
            #expect(throws: StoreFailure.self) { try store?.apply([.runStarted(.example(1, Self.id))]) }
            #expect(store?.refuge == .memory)
            // The log can be synced, and does not have the record.
            disk.mend()
            #expect(store?.settle() == false)
            disk.fail(.callsFrom(0, errno: EROFS))
            store = nil
            let again = try open()
            #expect(again.fault == .readOnly(path: directory.path + "/tryck.sqlite"))
            #expect(again.refuge == .memory)
            #expect(try again.load().runs.map(\.id) == [1])
            // An empty record tries again.
            #expect(throws: StoreFailure.self) { try again.apply([]) }
            disk.mend()
            try again.apply([])
            #expect(again.fault == nil && again.refuge == .disk)
            #expect(again.settle())
            #expect(try again.load().runs.map(\.id) == [1])
        }
    }

    enum Plant: CaseIterable {
        case own, ofGroup, ofOthers, ofStranger, symbolicLink, hardLink, fifo
    }

    @Test(
        "in a directory that others can write, only a reserve that this user alone can write is used",
        arguments: Plant.allCases)
    func planted(_ plant: Plant) async throws {
        let (directory, runtime) = (TemporaryDirectory(in: "/dev/shm"), TemporaryDirectory(in: "/dev/shm"))
        _ = try await Self.killOnFullDisk(in: directory)
        let other = Self.take(Self.database, from: directory)
        let number = try await withReactor {
            try Database(path: other.path + "/tryck.sqlite", busyTimeout: .zero, keepsWALOnClose: true).reserveMark()
        }
        let id = try #require(number).database
        let path = runtime.path + "/" + Reserve.name + "-" + String(id, radix: 16)
        let elsewhere = runtime.path + "/elsewhere"
        Self.copy(directory.path + "/copy-" + Reserve.name, to: elsewhere)
        switch plant {
        case .own: rename(elsewhere, path)
        case .ofGroup, .ofOthers:
            rename(elsewhere, path)
            chmod(path, plant == .ofGroup ? 0o620 : 0o602)
        case .ofStranger:
            rename(elsewhere, path)
            // Only root can give a file away.
            guard geteuid() == 0, chown(path, 65_534, 65_534) == 0 else { return }
        case .symbolicLink: symlink(elsewhere, path)
        case .hardLink: link(elsewhere, path)
        case .fifo: mkfifo(path, 0o600)
        }
        let before = readFile(elsewhere)
        try await withReactor {
            let store = try StoreDisk(
                directory: other.path, runtimeDirectory: runtime.path, entropy: 1,
                now: UTCTime(milliseconds: 0))
            #expect(try store.load().runs.map(\.id) == (plant == .own ? [1, 2] : []))
            #expect((store.reserveFault == nil) == (plant == .own))
            #expect(store.refuge == .disk)
        }
        #expect(readFile(elsewhere) == before)
    }

    @Test("a missing reserve is created as soon as possible, without a fault of the database")
    func madeLater() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        mkdir(directory.path + "/" + Reserve.name, 0o700)
        try await withReactor {
            let store = try openStore(directory)
            #expect(store.fault == nil && store.refuge == .nowhere && store.reserveFault != nil)
            try store.apply([])
            #expect(store.reserveFault != nil)
            rmdir(directory.path + "/" + Reserve.name)
            try store.apply([])
            #expect(store.refuge == .disk && store.reserveFault == nil)
        }
    }

    @Test("settings and pairings that were made on a full disk survive the end of the process")
    func settings() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let settings = ButtonSettings(
            latencyMode: .low, autoDisconnectTime: 60, nicknameChosenAt: 5, isConnectionWanted: false, ledMode: .none)
        let changes: [StoreChange] = [
            .fact(Self.id, .name("by the stove")), .settings(Self.id, settings), .fact(Self.id, .nickname("stove")),
            .fact(Self.id, .triggerMode(.click)), .fact(Self.id, .dials([.part(.small): 1])),
            .putButton(.example(3, name: "new", battery: 2900)), .removeButton(StoredButton.example(2).id),
        ]
        let expected = {
            var state = StoredState(installationID: "05a1", buttons: [.example(1), .example(2)])
            state.apply(changes)
            return state
        }()
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            try store.apply([.putButton(.example(1)), .putButton(.example(2))])
            disk.fail(.full)
            #expect(throws: StoreFailure.self) { try store.apply(changes) }
            #expect(store.refuge == .disk)
            disk.mend()
            for name in directory.names {
                Self.copy(directory.path + "/" + name, to: directory.path + "/copy-" + name)
            }
        }
        let other = Self.take(Self.database + [Reserve.name], from: directory)
        try await withReactor {
            let disk = WatchedDisk(other.path)
            disk.begin(.callsFrom(0, errno: ENOSPC))
            let store = try openStore(other)
            var found = try store.load()
            #expect(found.buttons.map(\.syncedCursor) == [nil, EventCursor()])
            found.markAsSynced(found.buttons.map { ($0.id, $0.cursor) })
            #expect(found == expected)
            disk.end()
        }
        let state = try await withReactor { try openStore(other).load() }
        #expect(state == expected)
    }

    /// Creates a database of an older version of the schema, with one button.
    @ReactorActor
    private static func makeOlder(_ version: Int, in directory: TemporaryDirectory) throws {
        let database = try Database(path: directory.path + "/tryck.sqlite", busyTimeout: .zero)
        try database.run("PRAGMA journal_mode = WAL")
        for statement in StoreSchema.migrations[..<version].joined() { try database.run(statement) }
        try database.run("PRAGMA user_version = \(version)")
        try database.run("INSERT INTO installation VALUES (1, '05a1', 4)")
        try database.run(
            """
            INSERT INTO buttons (id, address_kind, uuid, serial, nickname, firmware, pairing_identifier, pairing_key,
                paired_at, boot_id, event_count, advertising_configured, press_count, seq, latency_mode,
                connection_wanted, recogniser)
            VALUES (?, 0, 'u', 'BA00-A00001', '', 10, 1, ?, 1700000000000, 1, 3, 0, 2, 4, 'normal', 1, '')
            """, .text(id.description), .blob((0..<16).map { $0 }))
    }

    @Test(
        "a start on a disk that cannot be written reads the file of an older version, and migrates it later",
        arguments: 1..<StoreSchema.version, [DiskFault.full, .callsFrom(0, errno: ENOSPC), .callsFrom(0, errno: EROFS)])
    func olderSchema(version: Int, fault: DiskFault) async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let file = directory.path + "/tryck.sqlite"
        try await withReactor {
            try Self.makeOlder(version, in: directory)
            let octets = readFile(file)
            let disk = WatchedDisk(directory.path)
            disk.begin(fault)
            defer { disk.end() }
            let store = try openStore(directory)
            #expect(store.fault != nil && store.refuge == .nowhere)
            var state = try store.load()
            #expect(state.buttons.map(\.id) == [Self.id] && state.nextRun == 4)
            #expect(
                state.buttons.map(\.publishWatermark) == [version < 4 ? 4 : 0] && state.buttons.map(\.pressCount) == [2]
            )
            let change = StoreChange.runStarted(.example(9, Self.id))
            #expect(throws: StoreFailure.self) { try store.apply([change]) }
            #expect(store.refuge == .nowhere)
            #expect(readFile(file) == octets)
            disk.mend()
            try store.apply([])
            #expect(store.fault == nil && store.refuge == .disk)
            #expect(store.settle())
            state.apply([change])
            #expect(try store.load() == state)
            let found = try store.database?.rows("PRAGMA user_version") { $0.integer(0) }
            #expect(found == [Int64(StoreSchema.version)])
        }
    }

    @Test("changes that do not fit into a reserve stay in the memory of the process, and are reported as such")
    func full() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            disk.fail(.full)
            let long = String(repeating: "r", count: ReserveSnapshot.slotLength)
            #expect(throws: StoreFailure.self) { try store.apply([.runStarted(.example(1, Self.id, rule: long))]) }
            #expect(store.refuge == .nowhere)
            disk.mend()
            try store.apply([])
            #expect(store.refuge == .disk)
            #expect(try store.load().runs.map(\.rule) == [long])
        }
    }

    @Test("after a failed sync, the reserve is written again before anything counts as synced")
    func failedSync() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            disk.fail(.full)
            #expect(throws: StoreFailure.self) { try store.apply([.runStarted(.example(1, Self.id))]) }
            disk.begin(.sync(disk.syncCount))
            #expect(store.settle() == false)
            disk.fail(.full)
            let before = disk.events.count
            #expect(store.settle())
            #expect(disk.events[before...].contains { if case .wrote(Reserve.name, _, _) = $0 { true } else { false } })
        }
    }

    @Test(
        "a start on a disk that cannot be written loads the state, and the first successful record ends the fault")
    func start() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        try await withReactor {
            try openStore(directory).apply([.putButton(.example(1)), .runStarted(.example(1, Self.id))])
        }
        for code in [ENOSPC, EROFS] {
            try await withReactor {
                let disk = WatchedDisk(directory.path)
                disk.begin(.callsFrom(0, errno: code))
                let store = try openStore(directory)
                #expect(store.fault != nil && store.refuge == .nowhere)
                #expect(try store.load().buttons == [.example(1)])
                #expect(throws: StoreFailure.self) { try store.apply([.runStarted(.example(UInt64(code), Self.id))]) }
                disk.mend()
                try store.apply([])
                #expect(store.fault == nil)
                #expect(store.settle())
                disk.end()
            }
        }
        let runs = try await withReactor { try openStore(directory).load().runs.map(\.id) }
        #expect(runs == [1, UInt64(ENOSPC), UInt64(EROFS)].sorted())
    }

    @Test("runs that end on a read-only disk stay ended, though an old snapshot contains their starts")
    func endedRuns() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        _ = try await Self.killOnFullDisk(in: directory)
        let other = Self.take(Self.database + [Reserve.name], from: directory)
        try await withReactor {
            let disk = WatchedDisk(other.path)
            disk.begin(.callsFrom(0, errno: EROFS))
            defer { disk.end() }
            let store = try openStore(other)
            #expect(try store.load().runs.map(\.id) == [1, 2])
            #expect(throws: StoreFailure.self) { try store.apply([.runEnded(1), .runEnded(2)]) }
            disk.mend()
            try store.apply([])
            #expect(try store.load().runs == [])
        }
        #expect(try await withReactor { try openStore(other).load().runs } == [])
    }

    @Test("a first start on a disk that cannot be written is refused, and so is a second daemon")
    func refused() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        try await withReactor {
            let disk = WatchedDisk(directory.path)
            disk.begin(.callsFrom(1, errno: ENOSPC))
            #expect(throws: StoreFailure.diskFull(path: directory.path + "/tryck.sqlite")) { try openStore(directory) }
            disk.mend()
            let store = try openStore(directory)
            disk.fail(.callsFrom(0, errno: EROFS))
            #expect(throws: StoreFailure.inUse(directory: directory.path)) { try openStore(directory) }
            #expect(store.fault == nil)
            disk.end()
        }
    }
}
