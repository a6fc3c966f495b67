import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite("The store on the disk")
struct StoreDiskTests {
    @Test("buttons and runs are loaded as they were stored, also after a restart")
    func roundTrip() async throws {
        let directory = TemporaryDirectory()
        var changed = StoredButton.example(
            1, name: "Küche \"a\"; DROP TABLE buttons", battery: 2950, triggerMode: .clickAndHold, isWanted: false)
        changed.identity.model = .twist
        changed.settings.ledMode = .selector
        changed.dials = [.slot(1): 0, .slot(12): ButtonModel.Dial.unitsPerTurn, .free: 4096]
        changed.cursor.smallEventCount = .max
        let full = changed
        let bare = StoredButton.example(2, nickname: "nul \0 inside")
        let run = StoredRun(
            id: 7, rule: "hall/lights", button: full.id,
            event: EventCursor(bootID: .max, eventCount: .max, smallEventCount: .max),
            startedAt: UTCTime(milliseconds: -1))
        let far = StoredButton.example(3).ofFlicd
        let states = try await withReactor {
            let first = try openStore(directory)
            let fresh = try first.load()
            try first.apply([.putButton(full), .putButton(bare), .putButton(far), .runStarted(run)])
            return [fresh, try first.load()]
        }
        let reopened = try await withReactor { try openStore(directory, entropy: 0xFFFF).load() }
        #expect(states[0] == StoredState(installationID: "05a1"))
        #expect(states[1] == StoredState(installationID: "05a1", nextRun: 8, buttons: [full, bare, far], runs: [run]))
        #expect(reopened == states[1])
    }

    @Test("a start syncs the records of a killed process before it loads them")
    func startSyncs() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            let killed = try openStore(directory)
            try killed.apply([.putButton(.example(1))])
            killed.database?.keepsWALOnClose = true
        }
        try await withReactor {
            disk.begin()
            defer { disk.end() }
            let store = try openStore(directory)
            let found = try store.load()
            #expect(found.buttons == [.example(1)])
            #expect(disk.events.contains(.synced("tryck.sqlite-wal")))
            // Closing the store syncs, too, so it stays open until here.
            withExtendedLifetime(store) {}
        }
    }

    @Test("a start writes the log of a killed process again, because a sync of it may have failed")
    func startWritesAgain() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            disk.begin()
            defer { disk.end() }
            var store: StoreDisk? = try openStore(directory)
            store?.settle()
            try store?.apply([.putButton(.example(1))])
            // After this failure the kernel considers the log to be written, so the next sync would succeed without effect.
            disk.begin(.sync(disk.syncCount))
            #expect(store?.settle() == false)
            disk.mend()
            store?.database?.keepsWALOnClose = true
            store = nil
            let next = try openStore(directory)
            #expect(try next.load().buttons == [.example(1)])
            let cut = TemporaryDirectory(in: "/dev/shm")
            try CutDisk(disk.events).afterCut.write(to: cut)
            #expect(try openStore(cut).load().buttons == [.example(1)])
            withExtendedLifetime(next) {}
        }
    }

    @Test("if a start cannot sync the log, the buttons keep all events until a sync succeeds")
    func startCannotSync() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            let killed = try openStore(directory)
            try killed.apply([.putButton(.example(1))])
            killed.database?.keepsWALOnClose = true
        }
        try await withReactor {
            disk.begin()
            _ = try openStore(directory)
            let log = try #require(disk.events.lastIndex(of: .syncBegan("tryck.sqlite-wal")))
            disk.end()
            let number = disk.events[..<log].count { if case .syncBegan = $0 { true } else { false } }
            let again = WatchedDisk(directory.path)
            again.begin(.sync(number))
            defer { again.end() }
            let store = try openStore(directory)
            #expect(again.events.contains(.syncFailed("tryck.sqlite-wal")))
            #expect(try store.load().buttons.map(\.syncedCursor) == [EventCursor()])
            #expect(store.fault != nil)
            #expect(store.refuge != .disk)
            #expect(store.settle())
            #expect(try store.load().buttons.map(\.syncedCursor) == [nil])
        }
    }

    @Test("a new source is stored for a button of a flicd, and not for a button of the own adapter")
    func source() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            let own = StoredButton.example(1)
            var far = StoredButton.example(3).ofFlicd
            try store.apply([.putButton(own), .putButton(far)])
            far.source = "flicd://attic:1"
            for id in [own.id, far.id] { try store.apply([.fact(id, .source("flicd://attic:1"))]) }
            #expect(try store.load().buttons == [own, far])
        }
    }

    @Test("each change changes what it names and nothing else")
    func changes() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            var expected = StoredButton.example(1)
            expected.isAdvertisingConfigured = true
            let other = StoredButton.example(2)
            let id = expected.id
            try store.apply([.putButton(expected), .putButton(other)])
            @ReactorActor func expect(_ change: StoreChange, _ edit: (inout StoredButton) -> Void) throws {
                edit(&expected)
                try store.apply([change])
                #expect(try store.load().buttons == [expected, other], "\(change)")
                try store.apply([change])
                #expect(try store.load().buttons == [expected, other], "twice: \(change)")
            }
            let sameBoot = EventCursor(bootID: expected.cursor.bootID, eventCount: 90, smallEventCount: 7)
            try expect(.progress(id, sameBoot, recogniser: "d1", pressCount: 5, sequence: 9, publishWatermark: 8)) {
                $0.cursor = sameBoot
                $0.recogniser = "d1"
                $0.pressCount = 5
                $0.sequence = 9
                $0.publishWatermark = 8
            }
            let newBoot = EventCursor(bootID: 4_000_000_000, eventCount: 1)
            try expect(.progress(id, newBoot, recogniser: "", pressCount: 6, sequence: 10, publishWatermark: 9)) {
                $0.cursor = newBoot
                $0.isAdvertisingConfigured = false
                $0.recogniser = ""
                $0.pressCount = 6
                $0.sequence = 10
                $0.publishWatermark = 9
            }
            let seen = UTCTime(milliseconds: 1_700_000_000_456)
            try expect(
                .progress(id, newBoot, recogniser: "", pressCount: 6, sequence: 10, publishWatermark: 9, seen: seen)
            ) { $0.lastSeen = seen }
            try expect(.progress(id, newBoot, recogniser: "", pressCount: 6, sequence: 10, publishWatermark: 9)) { _ in
            }
            try expect(.fact(id, .lastSeen(seen + .seconds(1)))) { $0.lastSeen = seen + .seconds(1) }
            try expect(.publishWatermark(id, 10)) { $0.publishWatermark = 10 }
            try expect(.fact(id, .isAdvertisingConfigured(true))) { $0.isAdvertisingConfigured = true }
            let time = UTCTime(milliseconds: 1_700_000_000_123)
            try expect(.battery(id, millivolts: 2600, measuredAt: time, isLow: true)) {
                $0.batteryMillivolts = 2600
                $0.batteryMeasuredAt = time
                $0.isBatteryLow = true
            }
            try expect(.batteryPercentage(id, 7, measuredAt: time, isLow: false)) {
                $0.batteryPercentage = 7
                $0.isBatteryLow = false
            }
            try expect(.fact(id, .firmware(11))) { $0.identity.firmwareVersion = 11 }
            try expect(.fact(id, .model(.duo))) { $0.identity.model = .duo }
            try expect(.fact(id, .nickname("Bedside"))) { $0.identity.nickname = "Bedside" }
            try expect(.fact(id, .name("Lamp"))) { $0.name = "Lamp" }
            try expect(.fact(id, .name(nil))) { $0.name = nil }
            try expect(.fact(id, .triggerMode(.click))) { $0.triggerMode = .click }
            try expect(.fact(id, .triggerMode(nil))) { $0.triggerMode = nil }
            let settings = ButtonSettings(
                latencyMode: .low, autoDisconnectTime: 60, nicknameChosenAt: 1_760_000_030_500,
                isConnectionWanted: false, ledMode: .none)
            try expect(.settings(id, settings)) { $0.settings = settings }
            try expect(.settings(id, ButtonSettings())) { $0.settings = ButtonSettings() }
            try expect(.fact(id, .dials([.part(.small): 1]))) { $0.dials = [.part(.small): 1] }
            try expect(.fact(id, .dials([:]))) { $0.dials = [:] }
            try store.apply([.removeButton(id), .fact(id, .name("gone"))])
            #expect(try store.load().buttons == [other])
        }
    }

    @Test("a run's number is not used again, even after the run has ended")
    func runNumbers() async throws {
        let directory = TemporaryDirectory()
        let state = try await withReactor {
            let store = try openStore(directory)
            let button = StoredButton.example(1).id
            for id in [3, 9, 4] as [UInt64] {
                try store.apply([.runStarted(.example(id, button))])
            }
            try store.apply([.runEnded(9), .runEnded(3), .runEnded(77)])
            return try store.load()
        }
        #expect(state.nextRun == 10)
        #expect(state.runs.map(\.id) == [4])
    }

    @Test("changes are applied together or not at all")
    func atomicity() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            let button = StoredButton.example(1)
            try store.apply([.putButton(button)])
            // There is space for one more page, which is not enough for the next record.
            let pages = try #require(store.database).rows("PRAGMA page_count") { $0.integer(0) }
            try store.database?.run("PRAGMA max_page_count = \(pages[0] + 1)")
            let long = String(repeating: "x", count: 100_000)
            #expect(throws: StoreFailure.diskFull(path: directory.path + "/tryck.sqlite")) {
                try store.apply([.fact(button.id, .name("new name")), .runStarted(.example(1, button.id, rule: long))])
            }
            #expect(try store.load() == StoredState(installationID: "05a1", buttons: [button]))
            // It works again when there is space.
            try store.database?.run("PRAGMA max_page_count = 100000")
            try store.apply([.fact(button.id, .name("new name"))])
            #expect(try store.load().buttons.map(\.name) == ["new name"])
        }
    }

    @Test("a database that cannot be written is an error with a sentence")
    func readOnly() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            try store.database?.run("PRAGMA query_only = 1")
            #expect(throws: StoreFailure.readOnly(path: directory.path + "/tryck.sqlite")) {
                try store.apply([.putButton(.example(1))])
            }
        }
        #expect("\(StoreFailure.readOnly(path: "/var/lib/tryck/tryck.sqlite"))".contains("read-only"))
    }

    @Test("applied changes survive a kill of the process without a sync")
    func killed() async throws {
        let directory = TemporaryDirectory()
        let copy = TemporaryDirectory()
        let button = StoredButton.example(1)
        try await withReactor {
            let store = try openStore(directory)
            try store.apply([.putButton(button)])
            // A process killed at this instant would leave these files.
            for name in ["tryck.sqlite", "tryck.sqlite-wal"] {
                writeFile(copy.path + "/" + name, readFile(directory.path + "/" + name))
            }
        }
        let state = try await withReactor { try openStore(copy).load() }
        #expect(state.buttons == [button])
    }

    @Test(
        "a log that is cut off anywhere loses complete transactions, the last ones first",
        arguments: [1, 2, 3, 4, 5] as [UInt64])
    func powerCut(seed: UInt64) async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            try store.apply([.putButton(.example(1))])
            for count in 1...20 {
                try store.apply([
                    .progress(
                        StoredButton.example(1).id, EventCursor(bootID: 1, eventCount: UInt32(count)),
                        recogniser: "\(count)", pressCount: Tally(clamping: count),
                        sequence: Tally(clamping: count),
                        publishWatermark: Int64(count)),
                    .runStarted(.example(UInt64(count), StoredButton.example(1).id)),
                ])
            }
            let file = readFile(directory.path + "/tryck.sqlite")
            let log = readFile(directory.path + "/tryck.sqlite-wal")
            for cut in stride(from: Int(seed) * 1009 % 4096, to: log.count, by: 24_593) {
                let copy = TemporaryDirectory()
                writeFile(copy.path + "/tryck.sqlite", file)
                writeFile(copy.path + "/tryck.sqlite-wal", log.prefix(cut))
                let cutStore = try openStore(copy)
                let state = try cutStore.load()
                #expect(cutStore.notices.isEmpty)
                let count = state.runs.count
                #expect(state.nextRun == UInt64(count + 1))
                if count > 0 { #expect(state.buttons.map(\.pressCount) == [Tally(clamping: count)]) }
            }
        }
    }

    @Test("a long log is copied into the database file and restarted")
    func checkpoint() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            for round in 0..<12 {
                try writeMegabyte(to: store, round: round)
                #expect(store.settle())
                // The second sync waits for the checkpoint that follows the first.
                #expect(store.settle())
            }
            #expect(fileSize(directory.path + "/tryck.sqlite-wal") < 3_000_000)
        }
        let state = try await withReactor { try openStore(directory).load() }
        #expect(state.buttons.count == 100)
        #expect(state.buttons.allSatisfy { $0.name?.hasSuffix("n11") == true })
    }

    @Test("the log has a maximum length even if writing never pauses")
    func forcedCheckpoint() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            for round in 0..<40 {
                try writeMegabyte(to: store, round: round)
                #expect(store.settle())
            }
            // 40 rounds write more than 50 MB.
            let bound = (CheckpointPolicy.forcedFactor + 2) * CheckpointPolicy().pageCount * 4120
            #expect(fileSize(directory.path + "/tryck.sqlite-wal") < bound)
            #expect(try store.load().buttons.count == 100)
        }
    }

    @Test("after a failed sync, nothing counts as synced until the log is written again")
    func failedSync() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            let disk = WatchedDisk(directory.path)
            try store.apply([.putButton(.example(1))])
            disk.begin(.sync(0))
            defer { disk.end() }
            #expect(store.settle() == false)
            #expect(store.isLogSuspect)
            try store.apply([.putButton(.example(2))])
            let before = disk.events.count
            #expect(store.settle())
            #expect(!store.isLogSuspect)
            let octets = disk.events[before...].reduce(0) {
                guard case .wrote("tryck.sqlite-wal", _, let octets) = $1 else { return $0 }
                return $0 + octets.count
            }
            #expect(octets == fileSize(directory.path + "/tryck.sqlite-wal"))
            try store.apply([.putButton(.example(3))])
            #expect(store.settle())
            #expect(try store.load().buttons.count == 3)
        }
    }

    @Test("a copy of the log also restarts it, so no record waits for a sync")
    func noWaiting() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try StoreDisk(
                directory: directory.path, entropy: 1, now: UTCTime(milliseconds: 0),
                checkpoints: CheckpointPolicy(pageCount: 8))
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            for count in 0..<60 {
                let before = disk.events.count
                try store.apply([.putButton(.example(UInt64(count)))])
                #expect(!disk.events[before...].contains { if case .syncBegan = $0 { true } else { false } })
                for _ in 0..<3 { #expect(store.settle()) }
            }
            #expect(disk.events.count { $0 == .syncBegan("tryck.sqlite") } > 3)
        }
    }

    @Test("after a short wait, another program's lock is an error with a sentence")
    func busy() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            let other = try Database(path: directory.path + "/tryck.sqlite", busyTimeout: .zero)
            try other.run("BEGIN IMMEDIATE")
            #expect(throws: StoreFailure.busy(path: directory.path + "/tryck.sqlite")) {
                try store.apply([.putButton(.example(1))])
            }
            try other.run("ROLLBACK")
            try store.apply([.putButton(.example(1))])
        }
    }

    enum Deletion: CaseIterable, Sendable { case files, directory, database, log }

    @Test(
        "a database that was deleted while it was in use is written again with everything in it, and a start finds it",
        arguments: Deletion.allCases)
    func deleted(deletion: Deletion) async throws {
        let directory = TemporaryDirectory()
        let runtime = TemporaryDirectory()
        let path = directory.path + "/tryck.sqlite"
        try await withReactor {
            func open() throws(StoreFailure) -> StoreDisk {
                try StoreDisk(
                    directory: directory.path, runtimeDirectory: runtime.path, entropy: 0x05A1,
                    now: UTCTime(milliseconds: 1_795_228_200_123))
            }
            let store = try open()
            _ = store.takeNotices()
            try store.apply([.putButton(.example(1))])
            switch deletion {
            case .database: unlink(path)
            case .log: unlink(path + "-wal")
            case .files: directory.empty()
            case .directory:
                directory.empty()
                rmdir(directory.path)
            }
            let change = StoreChange.fact(StoredButton.example(1).id, .name("a"))
            if deletion == .log {
                #expect(throws: StoreFailure.replaced(path: path)) { try store.apply([change]) }
                #expect(store.refuge == .memory)
                unlink(path)
                try store.apply([])
            } else {
                try store.apply([change])
            }
            #expect(store.takeNotices().contains(.writtenAgain(path: path)))
            #expect(store.refuge == .disk)
            #expect(store.sync())
            var refusal: StoreFailure?
            do throws(StoreFailure) { _ = try open() } catch { refusal = error }
            #expect(refusal == .inUse(directory: directory.path))
            store.database?.keepsWALOnClose = true
            let expected = StoredState(installationID: "05a1", buttons: [.example(1, name: "a")])
            #expect(try store.load() == expected)
        }
        try await withReactor {
            let next = try openStore(directory)
            #expect(try next.load().buttons == [.example(1, name: "a")])
        }
    }

    @Test("a database that another one has replaced is not overwritten")
    func replaced() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/tryck.sqlite"
        try await withReactor {
            let store = try openStore(directory)
            try store.apply([.putButton(.example(1))])
            rename(path, path + ".old")
            #expect(FileText.write(Array("other".utf8), to: path))
            #expect(throws: StoreFailure.replaced(path: path)) { try store.apply([.putButton(.example(2))]) }
            #expect(readFile(path) == Array("other".utf8))
            // The database is put back.
            rename(path + ".old", path)
            try store.apply([])
            #expect(try store.load().buttons.count == 2)
        }
    }

    @Test("a thousand transactions take less than a second")
    func thousandChanges() async throws {
        let directory = TemporaryDirectory()
        let nanoseconds = try await withReactor {
            let store = try openStore(directory)
            let id = StoredButton.example(1).id
            try store.apply([.putButton(.example(1))])
            let start = EventLoop.shared.nanosecondsSinceBoot
            for count in 1...1000 {
                try store.apply([
                    .progress(
                        id, EventCursor(bootID: 1, eventCount: UInt32(count)), recogniser: "d1", pressCount: 1,
                        sequence: 1, publishWatermark: 1),
                    .runStarted(.example(UInt64(count), id)),
                ])
            }
            let time = EventLoop.shared.nanosecondsSinceBoot - start
            #expect(try store.load().runs.count == 1000)
            return time
        }
        #expect(nanoseconds < 1_000_000_000, "\(nanoseconds / 1000) ns each")
    }
}

@ReactorActor
func openStore(_ directory: TemporaryDirectory, entropy: UInt16 = 0x05A1) throws(StoreFailure) -> StoreDisk {
    try StoreDisk(
        directory: directory.path, entropy: entropy, now: UTCTime(milliseconds: 1_795_228_200_123))
}

extension CutDisk.Contents {
    fileprivate func write(to directory: TemporaryDirectory) throws {
        for (name, octets) in self {
            guard FileText.write(octets, to: directory.path + "/" + name) else { throw Unexpected() }
        }
    }
}

/// Records 100 transactions, which make the log 1.4 MB longer.
@ReactorActor
private func writeMegabyte(to store: StoreDisk, round: Int) throws {
    let name = String(repeating: "n", count: 3000) + "\(round)"
    for number in 0..<100 { try store.apply([.putButton(.example(UInt64(number), name: name))]) }
}

private func fileSize(_ path: String) -> Int {
    var information = stat()
    return stat(path, &information) == 0 ? Int(information.st_size) : 0
}

extension StoreDisk {
    /// Syncs, and then copies the log if it is long, as `StoreThread` does.
    @discardableResult
    func settle() -> Bool {
        defer { copyLog() }
        return sync()
    }
}

extension StoredButton {
    static func example(
        _ number: UInt64, name: String? = nil, nickname: String = "", battery: Int? = nil,
        triggerMode: TriggerMode? = nil, isWanted: Bool = true
    ) -> StoredButton {
        StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + number, kind: number == 2 ? .random : .public),
                uuid: "000102030405060708090a0b0c0d0e0f", serial: "BA00-A0000\(number)", nickname: nickname,
                firmwareVersion: 10),
            name: name,
            pairing: Pairing(
                identifier: UInt32(truncatingIfNeeded: number &* 0x9E37_79B9),
                key: PairingKey((0..<16).map { 0xA0 + $0 }) ?? { preconditionFailure("16 octets") }()),
            pairedAt: UTCTime(milliseconds: 1_700_000_000_000),
            cursor: EventCursor(bootID: 1, eventCount: 3), batteryMillivolts: battery,
            batteryMeasuredAt: battery.map { _ in UTCTime(milliseconds: 1_700_000_001_000) },
            pressCount: 2, sequence: 4, triggerMode: triggerMode,
            settings: ButtonSettings(isConnectionWanted: isWanted))
    }
}

extension StoredButton {
    fileprivate var ofFlicd: StoredButton {
        var button = self
        (button.pairing, button.source, button.batteryPercentage) = (nil, "flicd://attic:5551", 87)
        button.identity.model = .flic1
        return button
    }
}

extension StoredRun {
    static func example(_ id: UInt64, _ button: ButtonID, rule: String = "hall") -> StoredRun {
        StoredRun(
            id: id, rule: rule, button: button, event: EventCursor(bootID: 1, eventCount: 2),
            startedAt: UTCTime(milliseconds: 1_700_000_000_000))
    }
}
