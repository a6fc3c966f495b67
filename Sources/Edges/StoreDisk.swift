package import ButtonModel
import CSQLite
import Glibc
package import Hub

/// Records and syncs the hub's `StoreChange`s in an SQLite database in the state directory. Changes that the database
/// cannot record are written to a `Reserve`.
///
/// All its calls can wait for the disk. Only one thread uses it at a time: the thread that opens it, and from then on the
/// `StoreThread`. It has no reference to anything of the reactor.
///
/// `apply` writes changes to the database's write-ahead log in one transaction. The changes then survive the end of the
/// process, but not yet a power cut; `sync` brings them to the disk.
///
/// The log grows until `copyLog` copies it into the database file (a checkpoint). SQLite syncs the log during the first write
/// after a checkpoint, when it restarts the log. `copyLog` makes this write itself.
///
/// After a failed sync, the kernel counts the pages as written. The content of the log on the disk is then unknown, and a
/// later successful sync proves nothing. Therefore, after a failed sync or checkpoint, the whole log is written again
/// before anything counts as synced (`isLogSuspect`). A checkpoint would not help: after a power cut, SQLite would
/// consider the part of the log that had reached the disk to be newer than the database file.
///
/// Changes that the database could not record are part of the next transaction. Until then, all of them are in one
/// `ReserveSnapshot`. The transaction also stores the number of the latest snapshot (`ReserveMark`), so that a start applies
/// a snapshot only if the database lacks it. The reserve in the state directory is synced and survives a power cut. The
/// reserve in the runtime directory, which usually is in memory, serves a disk that cannot be written at all.
///
/// A `RecordRing` contains changes before the database does. Each transaction also stores the number of the last record of
/// the ring that the database contains (`RingPosition`), and a start applies the records after it.
///
/// If the database cannot be written at the start, it is only read. It is opened for writing as soon as that succeeds.
package final class StoreDisk {
    /// How long `apply` waits for the write lock of another program.
    private static let busyTimeout: Duration = .milliseconds(500)

    /// Findings to show to the user. `load` adds its own.
    package private(set) var notices: [StoreNotice]
    package var directory: String { paths.directory }
    /// Why the database could not be opened for writing, until it is; or why its log could not be synced at the start.
    package private(set) var fault: StoreFailure?
    /// Why a reserve could not be opened or created; `nil` if none is missing. `apply` tries again, even without changes.
    package private(set) var reserveFault: StoreFailure?
    /// The place of the changes that the database has not recorded. If there are none, the best place available for them.
    package private(set) var refuge = RecordRefuge.nowhere

    /// The open files of a database that can be written.
    private struct Opened {
        var database: Database
        /// The write-ahead log, for `sync`.
        var log: OwnedDescriptor
        /// The files, to notice that they were deleted or replaced while they are open.
        var identities: [FileIdentity?]
    }

    private let paths: StorePaths
    private var lock: FileLock
    private let entropy: UInt16
    private let checkpoints: CheckpointPolicy
    private var opened: Opened?
    package var database: Database? { opened?.database }
    /// The state that was read because the database cannot be written; `nil` if it is open for writing.
    private var readOnlyState: StoredState?
    /// True if the start found no database, and none was created since.
    private var isNew = false

    /// The id of the database, and the number of the latest snapshot.
    private var mark: ReserveMark
    /// The reserve in the state directory.
    private var reserve: Reserve?
    /// The reserve in the runtime directory.
    private var memoryReserve: Reserve?
    /// True if the last sync of `reserve` failed. Its content on the disk is unknown until it is written again.
    private var isReserveSuspect = false
    /// True if the log was synced after the last successful transaction, which the changes in the reserve follow.
    private var isLogSyncedBelowReserve = false

    /// True if the content of the log on the disk is unknown, because a sync or a checkpoint failed.
    private(set) var isLogSuspect = false
    private var unrecorded = UnrecordedChanges()

    /// True if a `RecordRing` is open.
    private var hasRing = false
    /// The number of the last record of the ring whose changes survive a kill without the ring: they are in the database
    /// or in a reserve.
    package private(set) var coveredNumber: UInt64 = 0
    /// The number of the last record that is not in the ring.
    private var lastMissingNumber: UInt64 = 0

    /// Opens the state directory, and creates missing files. A damaged file is renamed, a new one is created, and
    /// `notices` contains a notice. If the disk cannot be written, the existing files are read, and `fault` has the reason.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: the directory for the second reserve, which survives the process, but not a power cut.
    ///   - entropy: for the id of a new installation.
    ///   - now: for the new name of a damaged file.
    /// - Throws: `StoreFailure.inUse` if another daemon uses the directory; a failure of the disk if the database cannot be
    ///   read, or if the directory or its lock file cannot be created.
    package init(
        directory: String, runtimeDirectory: String? = nil, entropy: UInt16, now: UTCTime,
        checkpoints: CheckpointPolicy = CheckpointPolicy()
    ) throws(StoreFailure) {
        let paths = StorePaths(
            directory: directory, runtimeDirectories: [runtimeDirectory].compactMap(\.self))
        var notices = [try StoreFiles.prepareDirectory(directory)].compactMap(\.self)
        lock = try StoreFiles.lock(directory: directory)
        self.paths = paths
        self.entropy = entropy
        self.checkpoints = checkpoints
        do throws(StoreFailure) {
            let found: (opened: Opened, mark: ReserveMark)
            do throws(StoreFailure) {
                found = try Self.open(paths, entropy) { notices.append($0) }
            } catch .damaged(_, let cause) {
                let path = paths.database
                let target = try StoreFiles.setAside(path, at: now)
                notices.append(.renamed(path: path, as: target, cause: cause))
                found = try Self.open(paths, entropy) { notices.append($0) }
            }
            (opened, mark) = (found.opened, found.mark)
            // The previous process may have been killed before a sync of the log, or after a sync that failed. Buttons
            // delete the events that the loaded cursors cover, so the log must survive a power cut from now on.
            isLogSuspect = !found.opened.log.writeAgain() || !found.opened.log.syncData()
            if isLogSuspect { fault = StoreFailure(operation: "sync", path: paths.database + "-wal", code: errno) }
        } catch {
            guard error.isDiskFailure, let found = Self.loadReadOnly(paths, entropy, { notices.append($0) }) else {
                throw error
            }
            (mark, fault, isLogSuspect) = (found.recovered.mark, error, !found.isSynced)
            isNew = StoreFiles.lacksDatabase(paths.directory)
            coveredNumber = found.recovered.coveredNumber
            var state = found.state
            let onDisk = Dictionary(state.buttons.map { ($0.id, $0.cursor) }, uniquingKeysWith: { $1 })
            for change in found.recovered.changes { unrecorded.add(change) }
            state.apply(found.recovered.changes)
            // The first sync writes a snapshot, because changes of the ring are in none.
            isReserveSuspect = !unrecorded.isEmpty
            // The reserve may be in memory. Therefore the buttons keep the events that only a reserve or the ring contains.
            state.markAsSynced(state.buttons.map { ($0.id, onDisk[$0.id] ?? EventCursor()) })
            readOnlyState = state
        }
        self.notices = notices
        if mark.database != 0 { openReserves() }
        // A snapshot is useless without the log that precedes it.
        if isLogSuspect, refuge == .disk { refuge = .memory }
    }

    // MARK: The ring

    /// The path of the ring; `nil` if there is no runtime directory, or if the database has no place for its position.
    package var ringPath: String? { mark.ring == nil ? nil : paths.rings(of: mark.database).first }
    /// The last record whose changes this object has.
    package var ringPosition: RingPosition? { mark.ring }

    /// Notes that a ring was opened at the start. Changes are in it before `apply` receives them.
    ///
    /// - Parameter isComplete: true if it contains all records after `coveredNumber`.
    package func ringOpened(isComplete: Bool) {
        hasRing = true
        if !isComplete { lastMissingNumber = mark.ring?.number ?? 0 }
        if refuge == .nowhere, isRingComplete { refuge = .memory }
    }

    /// Where a ring can be created after the start. Its first record follows everything that was applied.
    ///
    /// - Returns: `nil` if a ring is open, if there is no runtime directory, or while the database lacks changes.
    func ringOffer() -> RingOffer? {
        guard !hasRing, let database, unrecorded.isEmpty, let path = paths.rings(of: mark.database).first else {
            return nil
        }
        if let position = mark.ring { return RingOffer(path: path, position: position) }
        // The database could not be written at the start, and had no place for a position before.
        let position = RingPosition(epoch: .random(in: 1 ... .max))
        do {
            try database.transaction { () throws(DatabaseFailure) in try database.setRingPosition(position) }
        } catch {
            return nil
        }
        mark.ring = position
        return RingOffer(path: path, position: position)
    }

    /// Notes that a ring was created after the start, at the place that `ringOffer` returned.
    func ringCreated() {
        hasRing = true
        // Changes that failed after the offer are not in the ring, and have no number of their own.
        if !unrecorded.isEmpty { lastMissingNumber = (mark.ring?.number ?? 0) + 1 }
    }

    /// True if the ring contains all changes that neither the database nor a reserve contains.
    private var isRingComplete: Bool { hasRing && lastMissingNumber <= coveredNumber }

    // MARK: Records

    /// Records the changes in one transaction, together with earlier changes that could not be recorded.
    ///
    /// If it throws, none is recorded. The changes then wait for the next call, whose own changes may be empty, and `refuge`
    /// is the place where they are until then.
    ///
    /// - Parameter ring: where the changes are in the ring; `nil` if no ring is open.
    package func apply(_ changes: [StoreChange], at ring: RingPlace? = nil) throws(StoreFailure) {
        if let ring, mark.ring != nil {
            mark.ring?.number = ring.number
            if !ring.isInRing { lastMissingNumber = ring.number }
        } else if !changes.isEmpty, hasRing {
            lastMissingNumber = .max
        }
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
                    if !unrecorded.isEmpty {
                        try database.setReserveMark(mark)
                    } else if let position = mark.ring, ring != nil {
                        try database.setRingPosition(position)
                    }
                }
            } catch {
                throw StoreFailure(error)
            }
            coveredNumber = mark.ring?.number ?? 0
            guard !unrecorded.isEmpty else { return }
            unrecorded = UnrecordedChanges()
            isLogSyncedBelowReserve = false
            openReserves()
        } catch {
            for change in changes { unrecorded.add(change) }
            reserveUnrecorded()
            throw error
        }
    }

    /// True if the database contains all changes.
    package var isAllRecorded: Bool { opened != nil && unrecorded.isEmpty && !isLogSuspect }

    /// Removes and returns the findings so far.
    package func takeNotices() -> [StoreNotice] {
        defer { notices = [] }
        return notices
    }

    /// Loads the complete stored state.
    package func load() throws(StoreFailure) -> StoredState {
        guard let database else { return readOnlyState ?? StoredState(installationID: "") }
        do {
            var state = try database.load { notices.append($0) }
            // The content of the log on the disk is unknown. Therefore the buttons keep all events until a sync succeeds.
            if isLogSuspect { state.markAsSynced(state.buttons.map { ($0.id, EventCursor()) }) }
            return state
        } catch {
            throw StoreFailure(error)
        }
    }

    // MARK: The reserves

    /// Opens or creates the reserves that are not open, and sets `refuge` to the best of them.
    private func openReserves() {
        reserveFault = nil
        do throws(StoreFailure) {
            if memoryReserve == nil, let path = paths.memoryReserves(of: mark.database).first {
                memoryReserve = try Reserve(path, of: mark.database, isNeeded: !unrecorded.isEmpty)
            }
        } catch {
            reserveFault = error
        }
        do throws(StoreFailure) {
            if reserve == nil {
                reserve = try Reserve(paths.reserve, of: mark.database, isNeeded: !unrecorded.isEmpty)
            }
        } catch {
            reserveFault = error
        }
        refuge = reserve != nil ? .disk : memoryReserve != nil ? .memory : .nowhere
    }

    /// Writes a snapshot of all unrecorded changes to a reserve, and sets `refuge` to its place.
    private func reserveUnrecorded() {
        // After a power cut, a snapshot is useless without the log that precedes it, so the log is synced here. This blocks,
        // usually once until the database can record again.
        if !isLogSyncedBelowReserve {
            isLogSyncedBelowReserve = !isLogSuspect && opened?.log.syncData() ?? true
            if !isLogSyncedBelowReserve { isLogSuspect = true }
        }
        mark.number += 1
        let snapshot = ReserveSnapshot(
            database: mark.database, number: mark.number, ring: mark.ring, changes: unrecorded.changes)
        refuge = .nowhere
        if mark.database != 0, let octets = snapshot.encoded() {
            if reserve?.write(octets) == true {
                refuge = isLogSyncedBelowReserve ? .disk : .memory
                isReserveSuspect = false
            } else if memoryReserve?.write(octets) == true {
                refuge = .memory
            }
        }
        if refuge != .nowhere { coveredNumber = mark.ring?.number ?? 0 }
        if refuge == .nowhere, isRingComplete, ringSlotsLeft >= Self.keptRingSlots { refuge = .memory }
    }

    /// The slots of the ring that are kept for presses that were handled before the hub knew that there is no other place for
    /// their records.
    static let keptRingSlots = 64

    private var ringSlotsLeft: Int {
        RingContents.slotCount - Int(clamping: (mark.ring?.number ?? 0) - min(coveredNumber, mark.ring?.number ?? 0))
    }

    // MARK: The disk

    /// Brings everything that was applied to the disk.
    ///
    /// - Returns: true if all changes applied so far would survive a power cut; false if that is not certain.
    package func sync() -> Bool {
        if isReserveSuspect, !unrecorded.isEmpty { reserveUnrecorded() }
        let reserved = reserve.flatMap { $0.slots.isSynced ? nil : $0.file }
        if reserved != nil { reserve?.syncBegan() }
        let isReserveSynced = reserved?.syncData() ?? true
        let isLogSynced =
            opened.map { isLogSuspect ? Self.writeAgain($0.log, of: paths.database) : $0.log.syncData() }
            ?? !isLogSuspect
        isLogSuspect = !isLogSynced
        if reserved != nil {
            reserve?.syncEnded(isReserveSynced)
            isReserveSuspect = !isReserveSynced
        }
        // A sync of the log proves nothing about changes that are in memory only.
        return isLogSynced && isReserveSynced && (unrecorded.isEmpty || refuge == .disk)
    }

    /// Copies the log into the database file after a sync, if the log is long.
    ///
    /// - Parameter isSyncWaiting: true if another sync is to be made.
    package func copyLog(isSyncWaiting: Bool = false) {
        let mode = checkpoints.mode(
            logPageCount: database?.walPageCount ?? 0, isSyncWaiting: isSyncWaiting, isLogSuspect: isLogSuspect)
        guard let mode else { return }
        switch Self.checkpoint(paths.database, mode, checkpoints.pageCount) {
        case .restarted: database?.forgetWALPages()
        case .incomplete: break
        case .failed: isLogSuspect = true
        }
    }

    private enum CheckpointOutcome {
        /// The whole log was copied, and the log was restarted.
        case restarted
        /// The log could not be copied completely, because other connections used it.
        case incomplete
        /// A sync may have failed, so the content of the log on the disk is unknown.
        case failed
    }

    /// Copies the log into the database file through a connection of its own, and restarts the log. Blocks.
    private static func checkpoint(
        _ path: String, _ mode: Database.CheckpointMode, _ pageLimit: Int
    ) -> CheckpointOutcome {
        do {
            let database = try Database(path: path, busyTimeout: .seconds(5))
            try database.countWALPages()
            // Each pass copies the pages that were written during the previous one, which become fewer and fewer.
            for _ in 0..<4 {
                guard try database.checkpoint(mode) else { continue }
                // This changes nothing, but unlike an UPDATE with the same values it is a write, which restarts the log.
                try database.run("PRAGMA user_version = \(StoreSchema.version)")
                if database.walPageCount < pageLimit { return .restarted }
            }
            return .incomplete
        } catch {
            return .failed
        }
    }

    /// Writes the whole log again and syncs it. Holds SQLite's write lock, so that the log does not change meanwhile. Blocks.
    private static func writeAgain(_ log: OwnedDescriptor, of path: String) -> Bool {
        do {
            let database = try Database(path: path, busyTimeout: .seconds(5))
            try database.countWALPages()
            try database.run("BEGIN IMMEDIATE")
            return log.writeAgain() && log.syncData()
        } catch {
            return false
        }
    }

    /// Returns the database, which is opened for writing if it could not be opened before.
    private func openedDatabase() throws(StoreFailure) -> Database {
        if let opened {
            guard opened.identities != Self.identities(paths) else { return opened.database }
            return try writeDeletedDatabase(opened.database)
        }
        // If a database has appeared since, for example because its disk was mounted late, this process has not read it.
        guard !isNew || StoreFiles.lacksDatabase(paths.directory) else { throw .replaced(path: paths.database) }
        var newNotices: [StoreNotice] = []
        let opened: Opened
        let mark: ReserveMark
        do throws(StoreFailure) {
            (opened, mark) = try Self.open(paths, entropy, isStart: false) { newNotices.append($0) }
        } catch {
            // The disk may have become full again after this attempt created the file, so the next attempt may use that file.
            if isNew { isNew = StoreFiles.lacksDatabase(paths.directory) }
            throw error
        }
        notices += newNotices
        // Snapshots may have been written since the start, so `self.mark` may have the larger number.
        self.mark = ReserveMark(
            database: mark.database, number: max(mark.number, self.mark.number), ring: self.mark.ring)
        (self.opened, fault, readOnlyState, isNew) = (opened, nil, nil, false)
        if !opened.log.writeAgain() || !opened.log.syncData() { isLogSuspect = true }
        openReserves()
        return opened.database
    }

    /// Writes the database to a new file at its path, if its files were deleted while they were open. Otherwise the deleted
    /// files would take everything with them at the end of the process.
    ///
    /// - Throws: `.replaced` if there are other files instead, which may be a backup, or the state of another daemon.
    private func writeDeletedDatabase(_ deleted: Database) throws(StoreFailure) -> Database {
        // The reserve in the directory was deleted, too, or does not belong to the files that are there now.
        reserve = nil
        guard StoreFiles.isEmpty(paths.directory) else { throw .replaced(path: paths.database) }
        let notice = try StoreFiles.prepareDirectory(paths.directory)
        // A second lock of the same file would fail, even in the same process.
        if FileIdentity(path: paths.lock) != lock.identity {
            lock = try StoreFiles.lock(directory: paths.directory, replacing: lock)
        }
        for name in ["-wal", "-shm", "-journal"] { unlink(paths.database + name) }
        for notice in try StoreFiles.prepareFile(paths.database) { notices.append(notice) }
        do throws(StoreFailure) {
            do throws(DatabaseFailure) {
                try deleted.copy(to: Database(path: paths.database, busyTimeout: Self.busyTimeout))
            } catch {
                throw StoreFailure(error)
            }
            opened = try Self.open(paths, entropy, isStart: false) { notices.append($0) }.opened
        } catch {
            // The next attempt must not take an incomplete file for another database.
            unlink(paths.database)
            throw error
        }
        notices += [notice, .writtenAgain(path: paths.database)].compactMap(\.self)
        isLogSuspect = opened?.log.writeAgain() != true || opened?.log.syncData() != true
        openReserves()
        return opened?.database ?? deleted
    }

    private static func identities(_ paths: StorePaths) -> [FileIdentity?] {
        [paths.database, paths.database + "-wal"].map { FileIdentity(path: $0) }
    }

    /// Opens the database and its log for writing. The parameters are those of `open(_:entropy:isStart:_:)`.
    private static func open(
        _ paths: StorePaths, _ entropy: UInt16, isStart: Bool = true, _ report: (StoreNotice) -> Void
    ) throws(StoreFailure) -> (opened: Opened, mark: ReserveMark) {
        for notice in try StoreFiles.prepareFile(paths.database) { report(notice) }
        let (database, mark) = try open(paths, entropy: entropy, isStart: isStart, report)
        let log = try StoreFiles.openLog(paths.database)
        try StoreFiles.syncDirectory(paths.directory)
        // This is set last: if one of the calls above failed, closing would copy the log into the file, and SQLite would not
        // report a failed sync.
        database.keepsWALOnClose = false
        return (Opened(database: database, log: log, identities: identities(paths)), mark)
    }

    /// Reads the database and the reserves without changing a file; `nil` if the database cannot be read. If there is none,
    /// because the first start found a full or read-only disk, the state is that of a new installation.
    ///
    /// - Returns: the state of the database, what the reserves and the ring contain after it, and true if the log is synced or
    ///   missing.
    private static func loadReadOnly(
        _ paths: StorePaths, _ entropy: UInt16, _ report: (StoreNotice) -> Void
    ) -> (state: StoredState, recovered: RecoveredChanges, isSynced: Bool)? {
        let path = paths.database
        guard let database = readInMemory(paths), let version = try? StoreSchema.migrate(database),
            1...StoreSchema.version ~= version, (try? database.begin(entropy: entropy, report)) != nil,
            let state = try? database.load(report), let mark = try? database.reserveMark() ?? ReserveMark(database: 0)
        else { return nil }
        let recovered = RecoveredChanges(paths, after: mark, report)
        // The previous process may not have synced the log. The snapshots of this process are useless without it.
        let log = OwnedDescriptor(Glibc.open(path + "-wal", O_RDONLY | O_CLOEXEC))
        return (state, recovered, !log.isOpen || log.syncData())
    }

    /// A copy of the database, where a file of an older version can be migrated; on the disk it is migrated when it is opened
    /// for writing.
    ///
    /// - Returns: an empty database if there is none and the disk has no room for one; `nil` if there is none for another
    ///   reason, or if it cannot be read.
    private static func readInMemory(_ paths: StorePaths) -> Database? {
        let path = paths.database
        // SQLite must not open an empty file, because it would delete its log.
        if StoreFiles.lacksContents(paths.directory) {
            // A directory that belongs to another user is a mistake of the installation, so the start fails and says so.
            guard StoreFiles.obstacle(to: paths.directory) != nil else { return nil }
            let new = try? Database(path: ":memory:", busyTimeout: .zero)
            return new.flatMap { (try? StoreSchema.migrate($0)) == nil ? nil : $0 }
        }
        guard
            let file = try? Database(path: path, busyTimeout: .zero, keepsWALOnClose: true, access: .readWithoutLocks),
            (try? file.rows("PRAGMA quick_check(1)", read: { $0.text(0) })) == ["ok"]
        else { return nil }
        return try? file.copyInMemory()
    }

    /// Opens the database for writing, migrates it, and applies what the reserves and the ring contain after it.
    ///
    /// - Parameters:
    ///   - isStart: true to apply the reserves and the ring, and to give the database a new epoch, so that the old records
    ///     apply to nothing from then on. False if a start could not write the database: this process then has all these
    ///     changes, and later ones. A snapshot that is older than they are would bring back runs that have ended.
    ///   - report: called for each finding about the contents.
    /// - Returns: the database, which keeps its log when it is closed unless the caller resets `keepsWALOnClose`, and its mark.
    /// - Throws: `.damaged` for a file that cannot be used and was not changed.
    package static func open(
        _ paths: StorePaths, entropy: UInt16, isStart: Bool = true, _ report: (StoreNotice) -> Void
    ) throws(StoreFailure) -> (Database, ReserveMark) {
        let path = paths.database
        do {
            // A damaged file must stay as it is, for later inspection. Closing this connection would copy the log into it.
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
            let version = try StoreSchema.migrate(database)
            guard version <= StoreSchema.version else {
                throw StoreFailure.newerSchema(path: path, found: version, known: StoreSchema.version)
            }
            try database.begin(entropy: entropy, report)
            var mark = try database.reserveMark() ?? ReserveMark(database: .random(in: 1 ... .max))
            var changes: [StoreChange] = []
            if isStart {
                let recovered = RecoveredChanges(paths, after: mark, report)
                (changes, mark) = (recovered.changes, recovered.mark)
                mark.ring = RingPosition(epoch: .random(in: 1 ... .max))
            }
            // The mark is written even if it is not new, so that a disk that cannot be written is found now, and not when a
            // button is pressed.
            try database.transaction { () throws(DatabaseFailure) in
                for change in changes { try database.apply(change) }
                try database.setReserveMark(mark)
            }
            return (database, mark)
        } catch let failure as StoreFailure {
            throw failure
        } catch let failure as DatabaseFailure {
            // SQLITE_ERROR: a statement is not valid for this file, so its tables do not match its version.
            // SQLITE_READONLY: the file was opened for writing, but its header says that SQLite must not write to it.
            guard failure.primaryCode != SQLITE_ERROR, failure.code != SQLITE_READONLY else {
                throw .damaged(path: path, cause: failure.cause)
            }
            throw StoreFailure(failure)
        } catch {
            preconditionFailure("only the two kinds of failure above are thrown in there")
        }
    }
}
