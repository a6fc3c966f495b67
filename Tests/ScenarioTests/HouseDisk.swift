import Hub

/// The disk of a simulated house: the database, the reserve for a full disk, and the part of both that survives a power cut.
struct HouseDisk {
    /// The contents at one instant.
    struct Contents {
        var store = Store()
        /// Changes that are in the reserve and not in `store`.
        var reserve: [StoreChange] = []
        /// The number of records that `store` contains.
        var transactions = 0
    }

    /// A sync that has begun.
    struct Sync {
        var token: RecordToken
        /// True if the disk has all changes after the sync.
        var isAllOnDisk: Bool
        fileprivate var contents: Contents
    }

    var isFull = false
    /// Where records are kept while the disk is full.
    var refuge = RecordRefuge.disk
    private(set) var store = Store()
    /// The contents that survive a power cut.
    private(set) var synced = Contents()
    /// The changes that are added to the next record.
    private var unrecorded: [StoreChange] = []
    /// The unrecorded changes: in any reserve, and in the reserve on the disk.
    private var reserve: [StoreChange] = []
    private var diskReserve: [StoreChange] = []
    private var failedRecords = FailedRecords()
    /// The number of successful records.
    private var transactions = 0
    /// The database when the process ended, without the reserve.
    private var database = Store()

    /// Records changes, or keeps them in the reserve if the disk is full.
    ///
    /// - Returns: where the changes are instead of in the database; `nil` if they are in the database.
    mutating func record(_ token: RecordToken?, _ changes: [StoreChange]) -> RecordRefuge? {
        unrecorded += changes
        guard isFull else {
            store.apply(unrecorded)
            (unrecorded, reserve, diskReserve) = ([], [], [])
            transactions += 1
            failedRecords.recorded()
            return nil
        }
        if refuge != .nowhere { reserve = unrecorded.filter(\.isReserved) }
        if refuge == .disk { diskReserve = reserve }
        failedRecords.recordFailed(token, refuge)
        return refuge
    }

    /// - Returns: `nil` if the sync would prove nothing.
    mutating func beginSync(_ token: RecordToken) -> Sync? {
        guard failedRecords.isSyncUseful(token) else { return nil }
        // As in `StoreDisk`: a sync proves nothing about changes that are in memory only.
        return Sync(
            token: token, isAllOnDisk: unrecorded.isEmpty || refuge == .disk,
            contents: Contents(store: store, reserve: diskReserve, transactions: transactions))
    }

    mutating func finish(_ sync: Sync) { synced = sync.contents }

    /// The process dies, and with a power cut also everything that was not synced is lost.
    mutating func die(isPowerCut: Bool) {
        if isPowerCut {
            (store, reserve, diskReserve) = (synced.store, synced.reserve, synced.reserve)
            transactions = synced.transactions
        }
        // The start moves the reserve into the database, or reads both if the database cannot be written.
        database = store
        store.apply(reserve)
        unrecorded = reserve
        failedRecords = FailedRecords()
    }

    /// The process starts again after `die`.
    ///
    /// - Returns: the state that it loads.
    mutating func rise() -> StoredState {
        // A reserve that is older than the last record counts no more, because the record contains its changes.
        if !isFull || transactions != synced.transactions { synced.reserve = [] }
        // The store syncs the database's contents before anything uses them.
        (synced.store, synced.transactions) = (isFull ? database : store, transactions)
        var stored = store.state
        stored.markAsSynced(synced.store.state.buttons.map { ($0.id, $0.cursor) })
        if isFull {
            store = database
        } else {
            // A transaction that brings a reserve's snapshot into the database records its number, so that a later
            // start does not apply that snapshot again.
            (unrecorded, reserve, diskReserve) = ([], [], [])
        }
        return stored
    }
}

extension StoreChange {
    /// True if a reserve keeps the change; values that a button reports again are not kept.
    fileprivate var isReserved: Bool {
        switch self {
        case .fact(_, let fact): fact.column.reserveKind != nil
        default: true
        }
    }
}
