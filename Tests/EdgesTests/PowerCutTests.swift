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

/// Each test uses a store on a watched disk. For every call that changed a file, another store then opens the files that a
/// kill or a power cut at that instant may have left. `TRYCK_POWER_CUTS` is the number of random power cuts for each call;
/// the default is one.
@Suite("Power cuts at every instant of a store")
struct PowerCutTests {
    @Test("a new directory, presses, rules, checkpoints, and a second start")
    func life() async throws {
        let (cuts, count) = try await cuts { disk, ledger in
            var store: StoreEdge? = try open(disk, ledger)
            for number in 1...3 as ClosedRange<UInt64> {
                ledger.record([.putButton(.example(number))], store)
                await ledger.sync(store)
            }
            try await press(12, ledger, store)
            await ledger.settle(store)
            store?.close()
            store = try open(disk, ledger)
            try await press(14, ledger, store)
            await ledger.settle(store)
        }
        try await cuts.check()
        #expect(count > 400)
    }

    @Test("if writing never pauses, the log is copied while writers wait")
    func forcedCheckpoint() async throws {
        let (cuts, _) = try await cuts(checkpointPageCount: 2) { disk, ledger in
            let store = try open(disk, ledger)
            ledger.record([.putButton(.example(1))], store)
            for round in 0..<2 {
                for count in 1...11 { ledger.record(Ledger.event(1, round * 11 + count), store) }
                ledger.beginSync(store)
                await ledger.sync(store)
            }
            await ledger.settle(store)
        }
        try await cuts.check()
    }

    @Test("one sync fails", arguments: 2...9)
    func failedSync(number: Int) async throws {
        let (cuts, _) = try await cuts { disk, ledger in
            let store = try open(disk, ledger)
            ledger.record([.putButton(.example(1))], store)
            await ledger.sync(store)
            disk.begin(.sync(number))
            try await press(8, ledger, store)
            await ledger.settle(store)
        }
        try await cuts.check()
    }

    @Test("presses on a full disk, also across a restart, are in the reserve and later in the database")
    func full() async throws {
        let (cuts, count) = try await cuts { disk, ledger in
            var store: StoreEdge? = try open(disk, ledger)
            for number in 1...3 as ClosedRange<UInt64> { ledger.record([.putButton(.example(number))], store) }
            await ledger.sync(store)
            try await pressSome(4, ledger, store)
            disk.fail(.full)
            try await pressSome(12, ledger, store)
            await ledger.settle(store)
            store?.close()
            store = try open(disk, ledger)
            #expect(store?.fault != nil)
            var loaded = try #require(store?.stored)
            // Buttons keep the events that only the reserve contains. There are none if the log had space after a checkpoint.
            loaded.markAsSynced(loaded.buttons.map { ($0.id, $0.cursor) })
            #expect(loaded == ledger.states.last)
            try await pressSome(6, ledger, store)
            disk.mend()
            try await pressSome(6, ledger, store)
            disk.fail(.full)
            try await pressSome(6, ledger, store)
            disk.mend()
            await ledger.settle(store)
            #expect(ledger.isLastSynced)
        }
        try await cuts.check()
        #expect(count > 100)
    }

    @Test("a file of each older version is migrated", arguments: 1..<StoreSchema.version)
    func migration(version: Int) async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        try await withReactor {
            let database = try Database(path: directory.path + "/tryck.sqlite", busyTimeout: .zero)
            try database.run("PRAGMA journal_mode = WAL")
            for statement in StoreSchema.migrations[..<version].joined() { try database.run(statement) }
            try database.run("PRAGMA user_version = \(version)")
            try database.run("INSERT INTO installation VALUES (1, 'beef', 12)")
            try database.run(
                """
                INSERT INTO buttons
                    (id, address_kind, uuid, serial, nickname, firmware, name, pairing_identifier, pairing_key,
                     paired_at, boot_id, event_count, advertising_configured, press_count, seq, latency_mode,
                     connection_wanted, recogniser)
                VALUES ('80e4da000001', 0, '0', 'BA00', 'old', 10, NULL, 1, x'000102030405060708090a0b0c0d0e0f',
                    2, 3, 4, 1, 5, 6, 'normal', 1, '')
                """)
        }
        let (cuts, _) = try await cuts(in: directory) { disk, ledger in
            let store = try open(disk, ledger)
            #expect(store.stored.buttons.map(\.identity.nickname) == ["old"])
            // Before version 4, all messages counted as published.
            #expect(store.stored.buttons.map(\.publishWatermark) == [version < 4 ? 6 : 0])
            ledger.record(Ledger.event(1, 5), store)
            await ledger.sync(store)
        }
        try await cuts.check()
    }

    @Test("a damaged file always exists under its old or its new name")
    func setAside() async throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let garbage = Array("no database".utf8)
        writeFile(directory.path + "/tryck.sqlite", garbage)
        writeFile(directory.path + "/tryck.sqlite-wal", garbage)
        var (cuts, _) = try await cuts(in: directory) { disk, ledger in
            let store = try open(disk, ledger)
            ledger.record([.putButton(.example(1))], store)
            await ledger.sync(store)
        }
        cuts.garbage = garbage
        try await cuts.check()
    }

    @Test("an import that has ended is complete; an unfinished one is complete or has no effect")
    func imported() async throws {
        let exported = ExportedState(
            StoredState(installationID: "beef", buttons: [.example(1), .example(2), .example(3)]))
        let (cuts, _) = try await cuts { disk, ledger in
            _ = try OfflineStore.change(disk.path, entropy: Ledger.entropy) {
                ledger.states = [$0]
                return ImportPlan(exported, into: $0, isReplacing: false)
            }
            disk.note(.recorded(1))
            disk.note(.promised(1))
            ledger.states.append(try OfflineStore.load(disk.path).0)
        }
        try await cuts.check()
    }

    // MARK: Using a store

    /// Observes all changes of the files in a directory while `live` uses a store there.
    private func cuts(
        in directory: TemporaryDirectory = TemporaryDirectory(in: "/dev/shm"), checkpointPageCount: Int = 10,
        _ live: @escaping @ReactorActor @Sendable (WatchedDisk, Ledger) async throws -> Void
    ) async throws -> (cuts: PowerCuts, count: Int) {
        var contents: CutDisk.Contents = [:]
        for name in ["tryck.sqlite", "tryck.sqlite-wal"] where mode(of: directory.path + "/" + name) != nil {
            contents[name] = readFile(directory.path + "/" + name)
        }
        let disk = WatchedDisk(directory.path)
        let states = try await withReactor {
            disk.begin()
            defer { disk.end() }
            let ledger = Ledger(disk, checkpointPageCount: checkpointPageCount)
            try await live(disk, ledger)
            return ledger.states
        }
        return (PowerCuts(CutDisk(contents), disk.events, states), disk.events.count)
    }

    /// Opens a store whose ring is a file below the directory that is written with `pwrite`, so that its writes are observed.
    @ReactorActor private func open(_ disk: WatchedDisk, _ ledger: Ledger) throws -> StoreEdge {
        mkdir(disk.path + "/run", 0o700)
        let store = try StoreEdge(
            loop: .shared, directory: disk.path, runtimeDirectory: disk.path + "/run", entropy: Ledger.entropy,
            now: Ledger.now, checkpoints: CheckpointPolicy(pageCount: ledger.checkpointPageCount),
            isRingMappable: false
        ) { ledger.received($0) }
        if ledger.states.isEmpty { ledger.states = [store.stored] }
        return store
    }

    /// Records presses, runs and variables, all of which a reserve can contain.
    @ReactorActor private func pressSome(_ count: Int, _ ledger: Ledger, _ store: StoreEdge?) async throws {
        var random = SeededGenerator(seed: UInt64(count))
        for _ in 0..<count {
            let number = ledger.states.count
            ledger.record(Ledger.event(UInt64.random(in: 1...3, using: &random), number), store)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: ledger.record([.rules(.variable("mood", .number(Double(number))))], store)
            case 1: ledger.record([.runEnded(UInt64(number))], store)
            case 2: await ledger.sync(store)
            default: ledger.beginSync(store)
            }
        }
    }

    /// Records the changes of a house with three buttons that are pressed.
    @ReactorActor private func press(_ count: Int, _ ledger: Ledger, _ store: StoreEdge?) async throws {
        var random = SeededGenerator(seed: UInt64(count))
        for _ in 0..<count {
            let button = UInt64.random(in: 1...3, using: &random)
            let number = ledger.states.count
            ledger.record(Ledger.event(button, number), store)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: ledger.record([.rules(.variable("mood", .number(Double(number))))], store)
            case 1:
                ledger.record(
                    [.runEnded(UInt64(number)), .fact(StoredButton.example(2).id, .name("\(number)"))], store)
            case 2: ledger.record([.removeButton(StoredButton.example(3).id)], store)
            case 3:
                let long = StoredButton.example(3, name: String(repeating: "n", count: 9000) + "\(number)")
                ledger.record([.putButton(long)], store)
            default: break
            }
            if Bool.random(using: &random) {
                ledger.beginSync(store)
            } else {
                await ledger.sync(store)
            }
        }
    }
}

/// The changes that a store received, and its answers.
@ReactorActor
private final class Ledger {
    static let entropy: UInt16 = 0x05A1
    static let now = UTCTime(milliseconds: 1_795_228_200_123)

    let disk: WatchedDisk
    let checkpointPageCount: Int
    /// The state of the store after each transaction.
    var states: [StoredState] = []

    init(_ disk: WatchedDisk, checkpointPageCount: Int) {
        self.disk = disk
        self.checkpointPageCount = checkpointPageCount
    }

    /// The changes for a press that starts a run.
    static func event(_ button: UInt64, _ number: Int) -> [StoreChange] {
        let id = StoredButton.example(button).id
        return [
            .progress(
                id, EventCursor(bootID: 1, eventCount: UInt32(number)), recogniser: "\(number)",
                pressCount: Tally(clamping: number), sequence: Tally(clamping: number),
                publishWatermark: Int64(number) - 1),
            .runStarted(.example(UInt64(number), id)),
        ]
    }

    /// What waits for syncs, by their tokens: the number of transactions, and who is told.
    private var syncs: [RecordToken: (count: Int, done: @ReactorActor () -> Void)] = [:]
    private var lastToken: UInt64 = 0
    private(set) var isLastSynced = false

    func record(_ changes: [StoreChange], _ store: StoreEdge?) {
        guard let store, var state = states.last else { return }
        store.record(changes)
        disk.note(.recorded(states.count))
        state.apply(changes)
        states.append(state)
        store.flush()
    }

    func received(_ event: StoreEvent) {
        switch event {
        case .synced(let token, let isSynced):
            guard let sync = syncs.removeValue(forKey: token) else { return }
            isLastSynced = isSynced
            if isSynced { disk.note(.promised(sync.count)) }
            sync.done()
        case .recordFailed(_, _, let refuge): #expect(refuge != .nowhere)
        case .reserveFault, .ringFault, .notice: break
        }
    }

    /// Requests a sync, and notes in the disk's events which transactions it has promised.
    func beginSync(_ store: StoreEdge?, _ done: @escaping @ReactorActor () -> Void = {}) {
        lastToken += 1
        syncs[RecordToken(rawValue: lastToken)] = (states.count - 1, done)
        store?.sync(RecordToken(rawValue: lastToken))
        store?.flush()
    }

    func sync(_ store: StoreEdge?) async {
        await withCheckedContinuation { continuation in beginSync(store) { continuation.resume() } }
    }

    /// Waits until the store's thread has done everything, also what follows a sync.
    func settle(_ store: StoreEdge?) async {
        for _ in 0..<3 { await sync(store) }
    }
}

/// Opens a store on all files that may be left, and compares its state with the promised transactions.
private struct PowerCuts: Sendable {
    private enum Found: Hashable {
        case state(Int)
        case other(String)
    }

    private var disk: CutDisk
    private let events: [DiskEvent]
    private let numbers: [StoredState: Int]
    /// The results by the digest of the contents, because most cuts leave the same contents as another.
    private var known: [Int: Found] = [:]
    private var random = SeededGenerator(seed: 1)
    private var recorded = 0
    private var promised = 0
    /// The contents of a damaged file that existed before the first start.
    var garbage: [UInt8]?

    /// - Parameter states: the initial state, and the state after each transaction.
    init(_ disk: CutDisk, _ events: [DiskEvent], _ states: [StoredState]) {
        self.disk = disk
        self.events = events
        numbers = Dictionary(states.enumerated().map { ($1, $0) }) { max($0, $1) }
    }

    func check() async throws {
        let randomCutCount = getenv("TRYCK_POWER_CUTS").flatMap { Int(String(cString: $0)) } ?? 1
        // A run of the reactor is limited to two minutes.
        let step = max(1, 1000 / (randomCutCount + 1))
        var cuts = self
        for start in stride(from: 0, to: events.count, by: step) {
            let range = start..<min(start + step, events.count)
            cuts = try await withReactor { [cuts] in
                var cuts = cuts
                let directory = TemporaryDirectory(in: "/dev/shm")
                for index in range { try cuts.cut(after: index, randomCutCount, directory) }
                return cuts
            }
        }
    }

    @ReactorActor
    private mutating func cut(after index: Int, _ randomCutCount: Int, _ directory: TemporaryDirectory) throws {
        switch events[index] {
        case .recorded(let count): recorded = count
        case .promised(let count): promised = count
        case let event: disk.take(event)
        }
        try check("a kill", after: index, disk.afterKill, atLeast: recorded, directory)
        try check("a power cut", after: index, disk.afterCut, atLeast: promised, directory)
        for _ in 0..<randomCutCount {
            try check("the first writes", after: index, disk.prefix(&random), atLeast: promised, directory)
            try check("some writes", after: index, disk.subset(&random), atLeast: promised, directory)
            if let torn = disk.torn(&random) {
                try check("some sectors", after: index, torn, atLeast: promised, directory)
            }
        }
    }

    @ReactorActor
    private mutating func check(
        _ what: String, after index: Int, _ contents: CutDisk.Contents, atLeast count: Int,
        _ directory: TemporaryDirectory
    ) throws {
        let digest = Self.digest(contents)
        let found = known[digest] ?? open(contents, directory)
        known[digest] = found
        if case .state(let number) = found, number >= count { return }
        let sizes = contents.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.count)" }.joined(separator: ", ")
        let before = events[max(0, index - 30)...index].map(\.summary).joined(separator: "\n")
        Issue.record("\(what) after \(index) left \(found), not \(count) or more; of \(sizes); after\n\(before)")
        throw CancellationError()
    }

    private static func digest(_ contents: CutDisk.Contents) -> Int {
        var hasher = Hasher()
        for name in contents.keys.sorted() {
            hasher.combine(name)
            hasher.combine(contents[name]?.count)
            contents[name]?.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }

    @ReactorActor
    private func open(_ contents: CutDisk.Contents, _ directory: TemporaryDirectory) -> Found {
        mkdir(directory.path + "/run", 0o700)
        for name in contents.keys { writeFile(directory.path + "/" + name, contents[name] ?? []) }
        defer { directory.empty() }
        do {
            let store = try StoreDisk(
                directory: directory.path, runtimeDirectory: directory.path + "/run", entropy: Ledger.entropy,
                now: Ledger.now)
            let state = try store.load()
            // A ring that is being replaced belongs to no database, and a power cut may leave any part of it.
            let notices = store.notices.filter { if case .ringIgnored = $0 { false } else { true } }
            if let garbage {
                let names = directory.names.filter { !$0.hasSuffix("-wal") && $0 != "tryck.sqlite" }
                guard names.contains(where: { readFile(directory.path + "/" + $0) == garbage }) else {
                    return .other("no damaged file: \(directory.names)")
                }
            } else if notices
                != (contents["tryck.sqlite"] == [] ? [.wasEmpty(path: directory.path + "/tryck.sqlite")] : [])
            {
                return .other("\(notices)")
            }
            return numbers[state].map(Found.state) ?? .other("\(state)")
        } catch {
            return .other("\(error)")
        }
    }
}

extension DiskEvent {
    /// A description without the octets.
    var summary: String {
        guard case .wrote(let name, let offset, let octets) = self else { return "\(self)" }
        return "\(octets.count) octets to \(name) at \(offset)"
    }
}
