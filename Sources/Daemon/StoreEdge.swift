package import ButtonModel
import CSQLite
package import Hub
package import Reactor

/// Keeps what the hub says is to be kept: one SQLite file in the state directory.
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
@ReactorActor
package final class StoreEdge {
    /// 1 MiB of pages of 4 KiB.
    package nonisolated static let checkpointPageCount = 256
    /// A log so many times longer is copied whole while writers wait. It gets this long only when events come faster,
    /// for longer, than a helper can copy.
    nonisolated static let forcedCheckpointFactor = 16
    /// How long `apply` waits while the helper begins the log anew: one sync of a slow card.
    private nonisolated static let busyTimeout: Duration = .milliseconds(500)

    /// What a person should hear of; `load` adds to it.
    package private(set) var notices: [StoreNotice]

    private let loop: EventLoop
    private let path: String
    private let lock: DirectoryLock
    /// Of the write-ahead log.
    var log: OwnedDescriptor
    let database: Database
    private let checkpointPageCount: Int

    private var isSyncing = false
    private(set) var isLogSuspect = false
    private var unrecorded = UnrecordedChanges()
    private var waiting: [@ReactorActor (Bool) -> Void] = []

    /// Opens the state directory, making what is missing. A damaged file is set aside and a new one begun;
    /// `notices` says so.
    ///
    /// - Parameters:
    ///   - entropy: for the id of a new installation.
    ///   - now: for the name of a file that is set aside.
    ///   - checkpointPageCount: a log longer than this is copied into the file after the next sync.
    /// - Throws: `StoreFailure.inUse` when another daemon has the directory.
    package init(
        loop: EventLoop, directory: String, entropy: UInt16, now: UTCTime,
        checkpointPageCount: Int = StoreEdge.checkpointPageCount
    ) throws(StoreFailure) {
        let path = directory + "/" + StoreFiles.databaseName
        var notices = [try StoreFiles.prepareDirectory(directory)].compactMap(\.self)
        lock = try StoreFiles.lock(directory: directory)
        do {
            notices += try StoreFiles.prepareFile(path)
            database = try Self.open(path, entropy: entropy) { notices.append($0) }
        } catch .damaged(_, let cause) {
            let target = try StoreFiles.setAside(path, at: now)
            notices.append(.setAside(path: path, as: target, cause: cause))
            _ = try StoreFiles.prepareFile(path)
            database = try Self.open(path, entropy: entropy) { notices.append($0) }
        }
        log = try StoreFiles.openLog(path)
        try StoreFiles.syncDirectory(directory)
        self.loop = loop
        self.path = path
        self.checkpointPageCount = checkpointPageCount
        self.notices = notices
        // A process that was killed may have recorded this without a sync. A button forgets what the cursors that are
        // read here cover, so they have to survive a power cut from now on.
        isLogSuspect = !log.syncData()
    }

    /// Records the changes in one transaction: all of them or, when it throws, none. Those go first with the next ones,
    /// which may be none: so nothing is forgotten that happened while the disk was full.
    package func apply(_ changes: [StoreChange]) throws(StoreFailure) {
        guard !changes.isEmpty || !unrecorded.isEmpty else { return }
        do {
            try database.transaction { () throws(DatabaseFailure) in
                for change in unrecorded.changes { try database.apply(change) }
                for change in changes { try database.apply(change) }
            }
            unrecorded = UnrecordedChanges()
        } catch {
            for change in changes { unrecorded.add(change) }
            throw StoreFailure(error)
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
        do {
            return try database.load { notices.append($0) }
        } catch {
            throw StoreFailure(error)
        }
    }

    private func beginSync() {
        let batch = waiting
        waiting = []
        isSyncing = true
        // The helper holds the lock too: nobody else opens the directory while it works.
        let (log, lock, path, isSuspect) = (log, lock, path, isLogSuspect)
        loop.offload {
            withExtendedLifetime(lock) {
                isSuspect ? Self.writeAgain(log, of: path) : log.syncData()
            }
        } then: { [self] isSynced in
            isLogSuspect = !isSynced
            for done in batch { done(isSynced) }
            finishSync()
        }
    }

    private func finishSync() {
        let isForced = database.walPageCount > Self.forcedCheckpointFactor * checkpointPageCount
        guard waiting.isEmpty || isForced, database.walPageCount > checkpointPageCount, !isLogSuspect
        else {
            isSyncing = false
            if !waiting.isEmpty { beginSync() }
            return
        }
        let (lock, path, limit) = (lock, path, checkpointPageCount)
        loop.offload {
            withExtendedLifetime(lock) { Self.checkpoint(path, isForced ? .truncate : .passive, limit) }
        } then: { [self] outcome in
            switch outcome {
            case .begunAnew: database.forgetWALPages()
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

    /// - Parameter report: called for what is passed over.
    /// - Throws: `.damaged`, and the file is as it was.
    nonisolated static func open(
        _ path: String, entropy: UInt16, _ report: (StoreNotice) -> Void
    ) throws(StoreFailure) -> Database {
        do {
            // Until it is known to be sound, nothing of it is changed.
            let database = try Database(path: path, busyTimeout: busyTimeout, keepsWALOnClose: true)
            let findings = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }
            guard findings == ["ok"] else {
                throw StoreFailure.damaged(path: path, cause: findings.first ?? "it cannot be checked")
            }
            if let cause = try StoreSchema.foreignness(of: database) {
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
            database.keepsWALOnClose = false
            return database
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
