package import ButtonModel
import CSQLite
import Glibc
package import Hub
package import Reactor

/// Keeps what the hub says is to be kept: one SQLite file in the state directory, and a reserve for what that does not
/// take.
///
/// `apply` puts changes into the file's write-ahead log, together or not at all, and does not wait for the disk: they
/// survive the end of the process at any instant, not yet a power cut. `sync` waits, on a helper thread. The
/// order record, act, sync, acknowledge is the hub's; this is the record and the sync of it.
///
/// The log grows until a helper copies it into the file. SQLite begins the log anew with the first write
/// after that, and waits for the disk there; so the helper makes that write too, an empty one, and no event pays for it.
///
/// A sync that fails leaves the kernel's pages marked as written. What the log then holds on disk is unknown, and a
/// second sync that succeeds proves nothing; so after a failure, be it of a sync or of a copying, the log is written
/// once more as it is, before anything counts as synced again. To copy it into the file would not do: after a power cut
/// SQLite would find the part of the log that did arrive, and take it for newer than the file.
///
/// What SQLite refuses goes with the next transaction, and into a `Reserve` until then, as one snapshot of all of it. The
/// transaction that brings it into the database also says up to which snapshot that has been done (`ReserveMark`), so
/// that a start applies a snapshot if and only if the database lacks it, whatever survived of either file. There is one
/// reserve in the state directory, where a sync keeps it over a power cut, and one in the runtime directory, which is in
/// memory mostly, for a disk that takes nothing at all.
///
/// A start on a disk that cannot be written reads what is there; the file is opened when it can be.
@ReactorActor
package final class StoreEdge {
    /// How long `apply` waits while the helper begins the log anew: one sync of a slow card.
    private nonisolated static let busyTimeout: Duration = .milliseconds(500)

    /// What a person should hear of; `load` adds to it.
    package private(set) var notices: [StoreNotice]
    /// Why the database could not be opened for writing, or what was found there not be synced; `nil` once it is open.
    package private(set) var fault: StoreFailure?
    /// Why a reserve could not be made. `apply` tries again, also without changes.
    package private(set) var reserveFault: StoreFailure?
    /// Where the changes are that the database has not taken.
    package private(set) var refuge = RecordRefuge.nowhere

    /// What is open while the database can be written.
    private struct Opened {
        var database: Database
        /// The write-ahead log.
        var log: OwnedDescriptor
    }

    private let loop: EventLoop
    private let paths: StorePaths
    private let lock: DirectoryLock
    private let entropy: UInt16
    private let checkpoints: CheckpointPolicy
    private var opened: Opened?
    package var database: Database? { opened?.database }
    /// What was read at a start at which nothing could be written.
    private var readAlone: StoredState?

    private var mark: ReserveMark
    /// In the state directory, and in the runtime directory.
    private var reserve: Reserve?
    private var memoryReserve: Reserve?
    /// The last sync of `reserve` failed, so it says nothing about what was written before.
    private var isReserveSuspect = false
    /// The log is on the disk up to where the changes in the reserve begin.
    private var isLogBelowReserve = false

    private var isSyncing = false
    private(set) var isLogSuspect = false
    private var unrecorded = UnrecordedChanges()
    private var waiting: [@ReactorActor (Bool) -> Void] = []

    /// Opens the state directory, making what is missing. A damaged file is set aside and a new one begun;
    /// `notices` says so. Where the disk takes nothing, what is kept there is read, and `fault` says why.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: where a reserve is that survives the process and not the machine.
    ///   - entropy: for the id of a new installation.
    ///   - now: for the name of a file that is set aside.
    /// - Throws: `StoreFailure.inUse` when another daemon has the directory; a failure of the disk when nothing was ever
    ///   kept there.
    package init(
        loop: EventLoop, directory: String, runtimeDirectory: String? = nil, entropy: UInt16, now: UTCTime,
        checkpoints: CheckpointPolicy = CheckpointPolicy()
    ) throws(StoreFailure) {
        let places = StorePaths(
            directory: directory, runtimeDirectories: [runtimeDirectory].compactMap(\.self))
        var notices = [try StoreFiles.prepareDirectory(directory)].compactMap(\.self)
        lock = try StoreFiles.lock(directory: directory)
        self.loop = loop
        self.paths = places
        self.entropy = entropy
        self.checkpoints = checkpoints
        do throws(StoreFailure) {
            let found: (opened: Opened, mark: ReserveMark)
            do throws(StoreFailure) {
                found = try Self.open(places, entropy) { notices.append($0) }
            } catch .damaged(_, let cause) {
                let path = places.database
                let target = try StoreFiles.setAside(path, at: now)
                notices.append(.renamed(path: path, as: target, cause: cause))
                found = try Self.open(places, entropy) { notices.append($0) }
            }
            (opened, mark) = (found.opened, found.mark)
            // A process that was killed may have recorded this without a sync, or after a sync that failed. A button
            // forgets what the cursors that are read here cover, so they have to survive a power cut from now on.
            isLogSuspect = !found.opened.log.writeAgain() || !found.opened.log.syncData()
            if isLogSuspect { fault = StoreFailure(operation: "sync", path: places.database + "-wal", code: errno) }
        } catch {
            guard error.isDiskFailure, let found = Self.readAlone(places, { notices.append($0) }) else { throw error }
            (mark, fault, isLogSuspect) = (found.mark, error, !found.isSynced)
            var state = found.state
            let onDisk = Dictionary(state.buttons.map { ($0.id, $0.cursor) }, uniquingKeysWith: { $1 })
            for change in found.reserved { unrecorded.add(change) }
            state.apply(found.reserved)
            // A reserve may be in memory alone, so the buttons keep what only a reserve has.
            state.markAsSynced(state.buttons.map { ($0.id, onDisk[$0.id] ?? EventCursor()) })
            readAlone = state
        }
        self.notices = notices
        if mark.database != 0 { openReserves() }
        // A snapshot continues what the log has.
        if isLogSuspect, refuge == .disk { refuge = .memory }
    }

    /// Records the changes in one transaction: all of them or, when it throws, none. Those go first with the next ones,
    /// which may be none: so nothing is forgotten that happened while the disk was full. `refuge` says where they are
    /// until then.
    package func apply(_ changes: [StoreChange]) throws(StoreFailure) {
        guard !changes.isEmpty || !unrecorded.isEmpty || opened == nil else {
            if reserveFault != nil { openReserves() }
            return
        }
        do throws(StoreFailure) {
            let database = try openedDatabase()
            do throws(DatabaseFailure) {
                try database.transaction { () throws(DatabaseFailure) in
                    for change in unrecorded.changes { try database.apply(change) }
                    for change in changes { try database.apply(change) }
                    if !unrecorded.isEmpty { try database.setReserveMark(mark) }
                }
            } catch {
                throw StoreFailure(error)
            }
            guard !unrecorded.isEmpty else { return }
            unrecorded = UnrecordedChanges()
            isLogBelowReserve = false
            openReserves()
        } catch {
            for change in changes { unrecorded.add(change) }
            reserveUnrecorded()
            throw error
        }
    }

    /// Calls `done` once everything applied so far would survive a power cut, or with false when that cannot be said.
    ///
    /// Begins at once; what comes while a sync is under way shares the next one.
    package func sync(_ done: @escaping @ReactorActor (Bool) -> Void) {
        waiting.append(done)
        if !isSyncing { beginSync() }
    }

    package func load() throws(StoreFailure) -> StoredState {
        guard let database else { return readAlone ?? StoredState(installationID: "") }
        do {
            var state = try database.load { notices.append($0) }
            // What the log has on the disk is unknown, so the buttons keep everything until it is known.
            if isLogSuspect { state.markAsSynced(state.buttons.map { ($0.id, EventCursor()) }) }
            return state
        } catch {
            throw StoreFailure(error)
        }
    }

    // MARK: The reserve

    private func openReserves() {
        reserveFault = nil
        do throws(StoreFailure) {
            if memoryReserve == nil, let path = paths.memoryReserves(of: mark.database).first {
                memoryReserve = try Reserve(path, of: mark.database)
            }
        } catch {
            reserveFault = error
        }
        do throws(StoreFailure) {
            if reserve == nil { reserve = try Reserve(paths.reserve, of: mark.database) }
        } catch {
            reserveFault = error
        }
        refuge = reserve != nil ? .disk : memoryReserve != nil ? .memory : .nowhere
    }

    /// Puts all that the database did not take where it survives the process.
    private func reserveUnrecorded() {
        // A snapshot continues what the log has: after a power cut both have to be there. Waits for the disk, once for
        // each time that the database begins to refuse.
        if !isLogBelowReserve {
            isLogBelowReserve = !isLogSuspect && opened?.log.syncData() ?? true
            if !isLogBelowReserve { isLogSuspect = true }
        }
        mark.number += 1
        let snapshot = ReserveSnapshot(database: mark.database, number: mark.number, changes: unrecorded.changes)
        guard mark.database != 0, let octets = snapshot.encoded() else { return refuge = .nowhere }
        if reserve?.write(octets) == true {
            refuge = isLogBelowReserve ? .disk : .memory
            isReserveSuspect = false
        } else if memoryReserve?.write(octets) == true {
            refuge = .memory
        } else {
            refuge = .nowhere
        }
    }

    // MARK: The disk

    private func beginSync() {
        let batch = waiting
        waiting = []
        isSyncing = true
        if isReserveSuspect, !unrecorded.isEmpty { reserveUnrecorded() }
        let reserved = reserve.flatMap { $0.slots.isSynced ? nil : $0.file }
        if reserved != nil { reserve?.syncBegan() }
        // The helper holds the lock too: nobody else opens the directory while it works.
        let (log, lock, path, isSuspect) = (opened?.log, lock, paths.database, isLogSuspect)
        loop.offload {
            withExtendedLifetime(lock) {
                let isReserveSynced = reserved?.syncData() ?? true
                let isLogSynced =
                    log.map { isSuspect ? Self.writeAgain($0, of: path) : $0.syncData() } ?? !isSuspect
                return (isLogSynced, isReserveSynced)
            }
        } then: { [self] isLogSynced, isReserveSynced in
            isLogSuspect = !isLogSynced
            if reserved != nil {
                reserve?.syncEnded(isReserveSynced)
                isReserveSuspect = !isReserveSynced
            }
            for done in batch { done(isLogSynced && isReserveSynced) }
            finishSync()
        }
    }

    private func finishSync() {
        let mode = checkpoints.mode(
            logPageCount: database?.walPageCount ?? 0, isSyncWaiting: !waiting.isEmpty, isLogSuspect: isLogSuspect)
        guard let mode else {
            isSyncing = false
            if !waiting.isEmpty { beginSync() }
            return
        }
        let (lock, path, limit) = (lock, paths.database, checkpoints.pageCount)
        loop.offload {
            withExtendedLifetime(lock) { Self.checkpoint(path, mode, limit) }
        } then: { [self] outcome in
            switch outcome {
            case .begunAnew: database?.forgetWALPages()
            case .incomplete: break
            case .failed: isLogSuspect = true
            }
            isSyncing = false
            if !waiting.isEmpty { beginSync() }
        }
    }

    private enum CopyingOutcome {
        /// All of the log is in the file.
        case begunAnew
        /// That takes a moment in which nobody writes to the log, and there was none.
        case incomplete
        /// One of the syncs may have failed.
        case failed
    }

    /// Copies the log into the file through a connection of its own, and begins it anew. Blocks.
    private nonisolated static func checkpoint(
        _ path: String, _ mode: Database.CheckpointMode, _ pageLimit: Int
    ) -> CopyingOutcome {
        do {
            let database = try Database(path: path, busyTimeout: .seconds(5))
            try database.countWALPages()
            // Each pass copies what was written during the one before, which is less and less.
            for _ in 0..<4 {
                guard try database.checkpoint(mode) else { continue }
                // Changes nothing and is a write all the same, which an UPDATE with what is there already is not.
                try database.run("PRAGMA user_version = \(StoreSchema.version)")
                if database.walPageCount < pageLimit { return .begunAnew }
            }
            return .incomplete
        } catch {
            return .failed
        }
    }

    /// Brings the whole log to the disk, whatever became of it before. Blocks, and nobody writes to it meanwhile.
    private nonisolated static func writeAgain(_ log: OwnedDescriptor, of path: String) -> Bool {
        do {
            let database = try Database(path: path, busyTimeout: .seconds(5))
            try database.countWALPages()
            try database.run("BEGIN IMMEDIATE")
            return log.writeAgain() && log.syncData()
        } catch {
            return false
        }
    }

    private func openedDatabase() throws(StoreFailure) -> Database {
        if let database { return database }
        var found: [StoreNotice] = []
        let (opened, mark) = try Self.open(paths, entropy) { found.append($0) }
        notices += found
        // Its snapshots have been numbered on since.
        self.mark = ReserveMark(database: mark.database, number: max(mark.number, self.mark.number))
        (self.opened, fault, readAlone) = (opened, nil, nil)
        if !opened.log.writeAgain() || !opened.log.syncData() { isLogSuspect = true }
        openReserves()
        return opened.database
    }

    /// Opens everything for writing, and applies what is in a reserve and not in the database.
    private nonisolated static func open(
        _ places: StorePaths, _ entropy: UInt16, _ report: (StoreNotice) -> Void
    ) throws(StoreFailure) -> (opened: Opened, mark: ReserveMark) {
        for notice in try StoreFiles.prepareFile(places.database) { report(notice) }
        let (database, mark) = try open(places, entropy: entropy, report)
        let log = try StoreFiles.openLog(places.database)
        try StoreFiles.syncDirectory(places.directory)
        // Only now: when one of the calls above fails, closing would copy the log, and a sync that fails there is not
        // reported.
        database.keepsWALOnClose = false
        return (Opened(database: database, log: log), mark)
    }

    /// What the files hold where none can be changed; `nil` when nothing was ever kept, or it cannot be read.
    private nonisolated static func readAlone(
        _ places: StorePaths, _ report: (StoreNotice) -> Void
    ) -> (state: StoredState, mark: ReserveMark, reserved: [StoreChange], isSynced: Bool)? {
        let path = places.database
        var information = stat()
        guard stat(path, &information) == 0, information.st_size > 1,
            let file = try? Database(path: path, busyTimeout: .zero, keepsWALOnClose: true, access: .readAlone),
            (try? file.rows("PRAGMA quick_check(1)", read: { $0.text(0) })) == ["ok"],
            // A file of an older version is migrated in memory now, and on the disk when there is room.
            let database = try? file.copyInMemory(),
            let version = try? StoreSchema.migrate(database), 1...StoreSchema.version ~= version,
            let state = try? database.load(report), var mark = try? database.reserveMark() ?? ReserveMark(database: 0)
        else { return nil }
        let snapshot = places.newestSnapshot(after: mark)
        if let snapshot { mark.number = snapshot.number }
        // What the process before did not sync is the beginning of what the reserve will hold.
        let log = OwnedDescriptor(Glibc.open(path + "-wal", O_RDONLY | O_CLOEXEC))
        return (state, mark, snapshot?.changes ?? [], !log.isOpen || log.syncData())
    }

    /// - Parameter report: called for what is passed over.
    /// - Returns: the database, which leaves its log behind when it is closed, until `keepsWALOnClose` is taken back.
    /// - Throws: `.damaged`, and the file is as it was.
    package nonisolated static func open(
        _ places: StorePaths, entropy: UInt16, _ report: (StoreNotice) -> Void
    ) throws(StoreFailure) -> (Database, ReserveMark) {
        let path = places.database
        do {
            // Until it is known to be sound, nothing of it is changed.
            let database = try Database(path: path, busyTimeout: busyTimeout, keepsWALOnClose: true)
            let findings = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }
            guard findings == ["ok"] else {
                throw StoreFailure.damaged(path: path, cause: findings.first ?? "it cannot be checked")
            }
            if let cause = try StoreSchema.reasonNotOurs(of: database) {
                throw StoreFailure.damaged(path: path, cause: cause)
            }
            try database.run("PRAGMA journal_mode = WAL")
            try database.run("PRAGMA synchronous = NORMAL")
            try database.countWALPages()
            let found = try StoreSchema.migrate(database)
            guard found <= StoreSchema.version else {
                throw StoreFailure.newerSchema(path: path, found: found, known: StoreSchema.version)
            }
            try database.begin(entropy: entropy, report)
            var mark = try database.reserveMark() ?? ReserveMark(database: .random(in: 1 ... .max))
            let snapshot = places.newestSnapshot(after: mark)
            // Written also where nothing is new: so a disk that takes nothing shows now, and not at the first press.
            try database.transaction { () throws(DatabaseFailure) in
                if let snapshot {
                    for change in snapshot.changes { try database.apply(change) }
                    mark.number = snapshot.number
                }
                try database.setReserveMark(mark)
            }
            return (database, mark)
        } catch let failure as StoreFailure {
            throw failure
        } catch let failure as DatabaseFailure {
            // An SQL error of a text that is fine elsewhere: the tables are not what their version says.
            // And one that may be opened for writing and says it may not be written.
            guard failure.primaryCode != SQLITE_ERROR, failure.code != SQLITE_READONLY else {
                throw .damaged(path: path, cause: failure.cause)
            }
            throw StoreFailure(failure)
        } catch {
            preconditionFailure("only the two kinds of failure above are thrown in there")
        }
    }
}

/// Where the files of a store are.
package struct StorePaths: Hashable, Sendable {
    var directory: String
    /// Where reserves in memory are looked for; the first is where the daemon makes one.
    var runtimeDirectories: [String] = []

    var database: String { directory + "/" + StoreFiles.databaseName }
    var reserve: String { directory + "/" + Reserve.name }

    /// Named after its database, for several daemons may have one runtime directory.
    func memoryReserves(of database: UInt64) -> [String] {
        runtimeDirectories.map { "\($0)/\(Reserve.name)-\(String(database, radix: 16))" }
    }

    /// What a database with this mark lacks.
    func newestSnapshot(after mark: ReserveMark) -> ReserveSnapshot? {
        ([reserve] + memoryReserves(of: mark.database)).compactMap { Reserve.newest($0, of: mark.database) }
            .filter { $0.number > mark.number }.max { $0.number < $1.number }
    }
}
