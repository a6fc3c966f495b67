import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import TestSupport
import Testing

@testable import Edges

/// The store on the reactor, with its ring and its thread.
@Suite("The store on the reactor")
struct StoreEdgeTests {
    private static let id = StoredButton.example(1).id

    /// A state directory, a runtime directory, and the events of the stores in them.
    @ReactorActor
    private final class House {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let runtime = TemporaryDirectory(in: "/dev/shm")
        let events = Happenings<StoreEvent>()
        private var lastToken: UInt64 = 1000

        func open(isRingMappable: Bool = true, runtimeDirectory: String? = nil) throws(StoreFailure) -> StoreEdge {
            try StoreEdge(
                loop: .shared, directory: directory.path, runtimeDirectory: runtimeDirectory ?? runtime.path,
                entropy: 0x05A1, now: UTCTime(milliseconds: 0), isRingMappable: isRingMappable
            ) { [events] in events.add($0) }
        }

        /// The files that a process killed at this instant would leave.
        func killed() -> House {
            let other = House()
            for (from, to) in [(directory, other.directory), (runtime, other.runtime)] {
                for name in from.names { writeFile(to.path + "/" + name, readFile(from.path + "/" + name)) }
            }
            return other
        }

        func synced(_ store: StoreEdge) async -> Bool {
            lastToken += 1
            let token = RecordToken(rawValue: lastToken)
            store.sync(token)
            store.flush()
            return await events.next { if case .synced(token, let isSynced) = $0 { isSynced } else { nil } }
        }

        var ring: String { runtime.path + "/" + (runtime.names.first { $0.hasPrefix(RecordRing.name) } ?? "missing") }
    }

    private static func press(_ number: UInt64) -> [StoreChange] {
        [
            .progress(
                id, EventCursor(bootID: 1, eventCount: UInt32(number)), recogniser: "d\(number)",
                pressCount: Tally(clamping: number), sequence: Tally(clamping: number),
                publishWatermark: Int64(number) - 1),
            .runStarted(.example(number, id)),
        ]
    }

    @Test(
        "a press that the thread has not seen is in the ring, and a start after a kill has it",
        arguments: [true, false])
    func killed(isMapped: Bool) async throws {
        try await withReactor {
            let house = House()
            let store = try house.open(isRingMappable: isMapped)
            #expect(store.notices == (isMapped ? [] : [.ringOnDisk(path: house.ring)]))
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            var expected = StoredState(installationID: "05a1", buttons: [.example(1)])
            for number in 1...3 as ClosedRange<UInt64> {
                store.record(Self.press(number))
                expected.apply(Self.press(number))
            }
            let battery = StoreChange.battery(
                Self.id, millivolts: 2300, measuredAt: UTCTime(milliseconds: 9), isLow: true)
            store.record([battery])
            expected.apply([battery])
            // Nothing was flushed, so the thread has none of these.
            let next = try house.killed().open()
            #expect(next.stored == expected && next.notices == [])
            store.close()
            // The second start after the kill: the records are in the database, and are not applied again.
            next.record([.runEnded(1), .runEnded(2), .runEnded(3)])
            next.close()
        }
    }

    @Test("records of the ring are applied once: a start draws a new epoch, and a stop empties the ring")
    func once() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open()
            store.record([.putButton(.example(1))])
            store.record(Self.press(1))
            let copy = house.killed()
            let second = try copy.open()
            second.record([.runEnded(1)])
            let third = try copy.killed().open()
            #expect(third.stored.runs == [] && third.stored.nextRun == 2)
            // A backup of the database alone, beside the ring of later.
            _ = await house.synced(store)
            let backup = house.killed()
            store.record(Self.press(2))
            store.close()
            #expect(readFile(house.ring).allSatisfy { $0 == 0 })
            writeFile(backup.ring, readFile(house.ring))
            #expect(try backup.open().stored.runs.map(\.id) == [1])
            #expect(try house.open().stored.runs.map(\.id) == [1, 2])
        }
    }

    @Test("while the disk stalls, records do not wait, and all calls to the disk are the thread's")
    func stalled() async throws {
        try await withReactor {
            let house = House()
            let disk = WatchedDisk(house.directory.path)
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            disk.begin()
            defer { disk.end() }
            disk.stall()
            for number in 1...200 as ClosedRange<UInt64> {
                store.record(Self.press(number), as: RecordToken(rawValue: number))
                store.sync(RecordToken(rawValue: number))
                store.flush()
            }
            // The thread hangs in its first call, and has not answered.
            #expect(house.events.takeAll() == [])
            disk.resume()
            #expect(await house.synced(store))
            for number in 201...220 as ClosedRange<UInt64> {
                store.record(Self.press(number))
                #expect(await house.synced(store))
            }
            // One thread makes all calls, so none is created for a press.
            #expect(disk.threads.count == 1 && !disk.threads.contains(pthread_self()))
            store.close()
            #expect(try house.open().stored.runs.count == 220)
        }
    }

    @Test("records that wait together are one transaction and one sync, and every sync is answered in order")
    func shared() async throws {
        try await withReactor {
            let house = House()
            let disk = WatchedDisk(house.directory.path)
            let store = try house.open()
            _ = await house.synced(store)
            disk.begin()
            defer { disk.end() }
            for number in 1...100 as ClosedRange<UInt64> {
                store.record([.runStarted(.example(number, Self.id))], as: RecordToken(rawValue: number))
                store.sync(RecordToken(rawValue: number))
            }
            store.flush()
            for number in 1...100 as ClosedRange<UInt64> {
                #expect(await house.events.next() == .synced(RecordToken(rawValue: number), true))
            }
            #expect(disk.syncCount == 1)
            store.close()
        }
    }

    @Test("a change that does not fit into the ring waits for its transaction, and later records follow it")
    func large() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open()
            let long = StoredButton.example(2, name: String(repeating: "n", count: RingContents.length))
            store.record([.putButton(.example(1))])
            store.record([.putButton(long)])
            store.record(Self.press(1))
            let next = try house.killed().open()
            #expect(next.stored.buttons.count == 2 && next.stored.runs.map(\.id) == [1])
            store.close()
        }
    }

    @Test("without a ring each record waits for its transaction, and the start says so")
    func noRing() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open(runtimeDirectory: house.runtime.path + "/missing")
            guard case .file = store.ringFault, store.notices == [] else { throw Unexpected() }
            store.record([.putButton(.example(1))])
            store.record(Self.press(1))
            #expect(try house.killed().open().stored.runs.map(\.id) == [1])
            store.close()
        }
    }

    @Test(
        "a ring that could not be created is created with a later attempt, and records do not wait from then on",
        arguments: [true, false])
    func ringLater(isMapped: Bool) async throws {
        try await withReactor {
            let house = House()
            try house.open().close()
            let path = house.ring
            unlink(path)
            mkdir(path, 0o700)
            let disk = WatchedDisk(house.directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try house.open(isRingMappable: isMapped)
            guard case .file = store.ringFault else { throw Unexpected() }
            store.record([.putButton(.example(1))])
            store.record([])
            #expect(await house.synced(store))
            #expect(store.ringFault != nil && house.events.takeAll() == [])
            rmdir(path)
            store.record([])
            store.flush()
            #expect(await house.events.next() == .ringFault(nil))
            #expect(store.ringFault == nil)
            if !isMapped { #expect(await house.events.next() == .notice(.ringOnDisk(path: path))) }
            disk.stall()
            store.record(Self.press(1))
            store.record(Self.press(2))
            #expect(try house.killed().open().stored.runs.map(\.id) == [1, 2])
            disk.resume()
            #expect(await house.synced(store))
            store.close()
            #expect(try house.open().stored.runs.map(\.id) == [1, 2])
        }
    }

    @Test("a start that could not write the database has no ring, and creates one when the database is mended")
    func ringAfterOlderSchema() async throws {
        try await withReactor {
            let house = House()
            try house.open().close()
            do {
                // A version without rings has used the directory.
                let database = try Database(path: house.directory.path + "/tryck.sqlite", busyTimeout: .zero)
                let mark = try #require(try database.reserveMark())
                try database.setReserveMark(ReserveMark(database: mark.database, number: mark.number))
            }
            let disk = WatchedDisk(house.directory.path)
            disk.begin(.full)
            defer { disk.end() }
            let store = try house.open()
            #expect(store.fault != nil && store.ringFault == store.fault)
            store.record([.putButton(.example(1))])
            disk.mend()
            store.record([])
            store.flush()
            #expect(await house.events.next { $0 == .ringFault(nil) ? true : nil })
            disk.stall()
            store.record(Self.press(1))
            let next = house.killed()
            disk.resume()
            let found = try next.open()
            #expect(found.stored.buttons.count == 1 && found.stored.runs.map(\.id) == [1] && found.notices == [])
            store.close()
        }
    }

    @Test("a record after the end of the store has no effect, and does not wait for the thread")
    func recordAfterEnd() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open(runtimeDirectory: house.runtime.path + "/missing")
            store.close()
            store.record([.putButton(.example(1))])
            store.flush()
            #expect(try house.open().stored.buttons == [])
        }
    }

    @Test("on a full disk without a reserve, presses are handled as long as the ring has room")
    func fullDisk() async throws {
        try await withReactor {
            let house = House()
            // Neither reserve can be created.
            mkdir(house.directory.path + "/" + Reserve.name, 0o700)
            var store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            for name in house.runtime.names where name.hasPrefix(Reserve.name) {
                unlink(house.runtime.path + "/" + name)
                mkdir(house.runtime.path + "/" + name, 0o700)
            }
            store.close()
            let disk = WatchedDisk(house.directory.path)
            disk.begin(.full)
            defer { disk.end() }
            // After a reboot, there is no ring.
            unlink(house.ring)
            store = try house.open()
            #expect(store.fault != nil && store.refuge == .memory)
            // A snapshot has no room for these. The ring has room for eleven.
            let rule = String(repeating: "r", count: 20_000)
            for number in 1...14 as ClosedRange<UInt64> {
                store.record([.runStarted(.example(number, Self.id, rule: rule))], as: RecordToken(rawValue: number))
                store.flush()
                let refuge: RecordRefuge? = await house.events.next {
                    if case .recordFailed(_, _, let refuge) = $0 { refuge } else { nil }
                }
                #expect(refuge == (number <= 11 ? .memory : .nowhere), "\(number)")
                if number == 11 { #expect(try house.killed().open().stored.runs.count == 11) }
            }
            #expect(await house.synced(store) == false)
            disk.mend()
            store.record([])
            #expect(await house.synced(store))
            store.record(Self.press(15))
            #expect(try house.killed().open().stored.runs.count == 15)
            store.close()
        }
    }

    @Test("a start on a full disk takes the records of the ring, and brings them to the reserve with the first sync")
    func ringOnFullDisk() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            store.record(Self.press(1))
            let next = house.killed()
            store.close()
            let disk = WatchedDisk(next.directory.path)
            disk.begin(.full)
            defer { disk.end() }
            let full = try next.open()
            #expect(full.fault != nil && full.stored.runs.map(\.id) == [1])
            #expect(full.stored.buttons.map(\.syncedCursor) == [StoredButton.example(1).cursor])
            full.record(Self.press(2))
            #expect(await next.synced(full))
            // A power cut loses the ring.
            let cut = next.killed()
            for name in cut.runtime.names { unlink(cut.runtime.path + "/" + name) }
            #expect(try cut.open().stored.runs.map(\.id) == [1, 2])
            // After a kill, records that no snapshot contains follow the snapshot.
            full.record(Self.press(3))
            #expect(try next.killed().open().stored.runs.map(\.id) == [1, 2, 3])
            full.close()
        }
    }

    @Test("the first sync of a start on a full disk is no success while the records of the ring are in the ring only")
    func ringAlone() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            store.record(Self.press(1))
            let next = house.killed()
            store.close()
            let disk = WatchedDisk(next.directory.path)
            disk.begin(.full)
            defer { disk.end() }
            let full = try next.open()
            #expect(await next.synced(full))
            let cut = next.killed()
            for name in cut.runtime.names { unlink(cut.runtime.path + "/" + name) }
            #expect(try cut.open().stored.runs.map(\.id) == [1])
            full.close()
        }
    }

    @Test("a snapshot and a ring from before an older version used the directory are not applied")
    func downgrade() async throws {
        try await withReactor {
            let house = House()
            let disk = WatchedDisk(house.directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            disk.fail(.full)
            store.record(Self.press(1))
            #expect(await house.synced(store))
            store.record(Self.press(2))
            disk.mend()
            let older = house.killed()
            #expect(try house.killed().open().stored.runs.map(\.id) == [1, 2])
            do {
                let database = try Database(path: older.directory.path + "/tryck.sqlite", busyTimeout: .zero)
                let mark = try #require(try database.reserveMark())
                #expect(mark.ring != nil)
                // An older version knows the id and the number only.
                try database.setReserveMark(ReserveMark(database: mark.database, number: mark.number))
            }
            let again = try older.open()
            #expect(again.stored.runs == [])
            #expect(
                again.notices == [
                    .ringIgnored(
                        path: older.ring, cause: "it belongs to another state of the database, or was applied before")
                ])
            store.close()
        }
    }

    @Test("a start succeeds with any ring, and says that it has ignored it", arguments: 0..<10)
    func garbage(round: Int) async throws {
        try await withReactor {
            let house = House()
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            for number in 1...3 as ClosedRange<UInt64> { store.record(Self.press(number)) }
            let next = house.killed()
            store.close()
            let path = next.ring
            var octets = readFile(path)
            var random = SeededGenerator(seed: UInt64(round))
            var count = 0
            switch round {
            case 0: octets = random.bytes(octets.count)
            case 1: octets[7] += 1
            case 2: octets[8] ^= 1
            case 3: octets.append(0)
            case 4: octets = Array(octets.prefix(700))
            case 5: octets = []
            default:
                count = round % 3
                let numbers = RingContents(octets).records(after: 0).records.map(\.number)
                let offset = Int.random(in: 24..<RingContents.slotLength, using: &random)
                octets[RingContents.offset(of: numbers[1 + count]) + offset] ^= 4
            }
            writeFile(path, octets)
            let found = try next.open()
            #expect(found.stored.runs.count == count)
            #expect(found.notices.count == (round == 5 ? 0 : 1), "\(found.notices)")
            found.record(Self.press(9))
            #expect(try next.killed().open().stored.runs.count == count + 1)
        }
    }

    @Test("a sync of a record that failed is not answered, and the failure says where the changes are")
    func failed() async throws {
        try await withReactor {
            let house = House()
            let disk = WatchedDisk(house.directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            disk.fail(.callsFrom(0, errno: EROFS))
            store.record(Self.press(1), as: RecordToken(rawValue: 1))
            store.sync(RecordToken(rawValue: 1))
            store.flush()
            guard case .recordFailed(RecordToken(rawValue: 1), _, .memory) = await house.events.next() else {
                throw Unexpected()
            }
            #expect(await house.synced(store) == false)
            #expect(house.events.takeAll() == [])
            disk.fail(.full)
            store.record(Self.press(2), as: RecordToken(rawValue: 2))
            store.sync(RecordToken(rawValue: 2))
            store.flush()
            disk.mend()
            store.record([], as: RecordToken(rawValue: 3))
            #expect(await house.synced(store))
            store.close()
            #expect(try house.open().stored.runs.map(\.id) == [1, 2])
        }
    }

    @Test("a copy of the state directory does not use the ring of the original")
    func copied() async throws {
        try await withReactor {
            let house = House()
            let store = try house.open()
            store.record([.putButton(.example(1))])
            #expect(await house.synced(store))
            let copy = TemporaryDirectory(in: "/dev/shm")
            for name in house.directory.names {
                writeFile(copy.path + "/" + name, readFile(house.directory.path + "/" + name))
            }
            store.record(Self.press(1))
            let other = try StoreEdge(
                loop: .shared, directory: copy.path, runtimeDirectory: house.runtime.path, entropy: 1,
                now: UTCTime(milliseconds: 0)
            ) { _ in }
            #expect(other.stored.runs == [])
            #expect(
                other.notices == [.ringIgnored(path: house.ring, cause: "another daemon uses it")])
            #expect(other.ringFault == .ringInUse(path: house.ring))
            other.close()
            #expect(try house.killed().open().stored.runs.map(\.id) == [1])
            store.close()
        }
    }

    @Test("a stop releases the directory, and a dropped store does, too")
    func ended() async throws {
        try await withReactor {
            let house = House()
            var store: StoreEdge? = try house.open()
            store?.record([.putButton(.example(1))])
            store?.close()
            #expect(try house.open().stored.buttons.count == 1)
            store = try house.open()
            #expect(throws: StoreFailure.inUse(directory: house.directory.path)) { try house.open() }
            store = nil
            _ = try house.open()
        }
    }
}
