import ButtonModel
package import Hub

/// The state directory while no daemon has it, for a command that reads or changes all of it at once. It takes the
/// daemon's lock, so neither begins while the other is there.
///
/// A damaged file is left to the daemon, which sets it aside.
package struct IdleStore {
    private let lock: DirectoryLock
    private let database: Database

    /// What the directory keeps, and what a person should hear of.
    ///
    /// - Parameter runtimeDirectories: where a daemon may have left a reserve in memory, which is merged.
    /// - Throws: `.nothingKept`, and nothing was made; `.inUse` while a daemon runs.
    package static func load(_ directory: String, runtimeDirectories: [String] = []) throws(StoreFailure) -> (
        StoredState, [StoreNotice]
    ) {
        guard !StoreFiles.isEmpty(directory) else { throw .nothingKept(directory: directory) }
        return try StoreFiles.asOwner(of: directory) { () throws(StoreFailure) in
            var notices: [StoreNotice] = []
            let store = try IdleStore(
                StorePlaces(directory: directory, runtimeDirectories: runtimeDirectories),
                entropy: .random(in: .min ... .max)
            ) { notices.append($0) }
            defer { store.release() }
            return (try store.load { notices.append($0) }, notices)
        }
    }

    /// Carries a plan out, whole or not at all, in a directory that is made where there is none. When it returns, the
    /// disk has it.
    ///
    /// - Parameters:
    ///   - runtimeDirectories: where a daemon may have left a reserve in memory, which is merged first.
    ///   - entropy: for the id of a new installation.
    ///   - plan: what to do with what is kept there.
    /// - Throws: `.inUse` while a daemon runs.
    package static func change(
        _ directory: String, runtimeDirectories: [String] = [], entropy: UInt16, _ plan: (StoredState) -> ImportPlan
    ) throws(StoreFailure) -> (ImportPlan, [StoreNotice]) {
        var notices = [try StoreFiles.prepareDirectory(directory)].compactMap(\.self)
        return try StoreFiles.asOwner(of: directory) { () throws(StoreFailure) in
            let store = try IdleStore(
                StorePlaces(directory: directory, runtimeDirectories: runtimeDirectories), entropy: entropy
            ) { notices.append($0) }
            defer { store.release() }
            let plan = plan(try store.load { notices.append($0) })
            try store.carryOut(plan)
            return (plan, notices)
        }
    }

    private init(_ places: StorePlaces, entropy: UInt16, _ report: (StoreNotice) -> Void) throws(StoreFailure) {
        lock = try StoreFiles.lock(directory: places.directory)
        _ = try StoreFiles.prepareFile(places.database)
        database = try StoreEdge.open(places, entropy: entropy, report).0
        database.keepsWALOnClose = false
    }

    /// Until here the lock is held, whatever else is still of use.
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
