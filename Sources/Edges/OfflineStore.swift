import ButtonModel
package import Hub

/// The store of a state directory without a running daemon, for commands that read or change all of it. It holds the
/// daemon's lock, so that a daemon cannot start meanwhile.
///
/// A damaged file is left to the daemon, which moves it aside.
package struct OfflineStore {
    private let lock: FileLock
    private let database: Database

    /// Loads the complete contents of the store, with notices for the user.
    ///
    /// - Parameter runtimeDirectories: where a daemon may have left a reserve or a ring, which are applied to the database.
    /// - Throws: `.noStore` if the directory contains no database, and none is created; `.inUse` while a daemon runs.
    package static func load(_ directory: String, runtimeDirectories: [String] = []) throws(StoreFailure) -> (
        StoredState, [StoreNotice]
    ) {
        guard !StoreFiles.isEmpty(directory) else { throw .noStore(directory: directory) }
        return try StoreFiles.asOwner(of: directory) { () throws(StoreFailure) in
            var notices: [StoreNotice] = []
            let store = try OfflineStore(
                StorePaths(directory: directory, runtimeDirectories: runtimeDirectories),
                entropy: .random(in: .min ... .max)
            ) { notices.append($0) }
            defer { store.release() }
            return (try store.load { notices.append($0) }, notices)
        }
    }

    /// Performs a plan completely or not at all. The directory is created if it is missing. When this returns, the
    /// changes are on the disk.
    ///
    /// - Parameters:
    ///   - runtimeDirectories: where a daemon may have left a reserve or a ring, which are applied first.
    ///   - entropy: for the id of a new installation.
    ///   - plan: makes the plan for the stored state.
    /// - Throws: `.inUse` while a daemon runs.
    package static func change(
        _ directory: String, runtimeDirectories: [String] = [], entropy: UInt16, _ plan: (StoredState) -> ImportPlan
    ) throws(StoreFailure) -> (ImportPlan, [StoreNotice]) {
        var notices = [try StoreFiles.prepareDirectory(directory)].compactMap(\.self)
        return try StoreFiles.asOwner(of: directory) { () throws(StoreFailure) in
            let store = try OfflineStore(
                StorePaths(directory: directory, runtimeDirectories: runtimeDirectories), entropy: entropy
            ) { notices.append($0) }
            defer { store.release() }
            let plan = plan(try store.load { notices.append($0) })
            try store.carryOut(plan)
            return (plan, notices)
        }
    }

    private init(_ paths: StorePaths, entropy: UInt16, _ report: (StoreNotice) -> Void) throws(StoreFailure) {
        lock = try StoreFiles.lock(directory: paths.directory)
        _ = try StoreFiles.prepareFile(paths.database)
        database = try StoreDisk.open(paths, entropy: entropy, report).0
        database.keepsWALOnClose = false
    }

    /// Keeps the lock until this call, even if the compiler sees no later use of it.
    private func release() { withExtendedLifetime(lock) {} }

    private func load(_ report: (StoreNotice) -> Void) throws(StoreFailure) -> StoredState {
        do {
            return try database.load(report)
        } catch {
            throw StoreFailure(error)
        }
    }

    private func carryOut(_ plan: ImportPlan) throws(StoreFailure) {
        let isCopied: Bool
        do {
            try database.transaction { () throws(DatabaseFailure) in
                for change in plan.changes { try database.apply(change) }
                if let id = plan.installationID { try database.setInstallationID(id) }
            }
            isCopied = try database.checkpoint(.truncate)
        } catch {
            throw StoreFailure(error)
        }
        guard isCopied else { throw .busy(path: database.path) }
    }
}
