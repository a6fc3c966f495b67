import Hub

/// The paths of a store's files.
package struct StorePaths: Hashable, Sendable {
    var directory: String
    /// The directories in which to look for a second reserve and a ring. The daemon creates them in the first.
    var runtimeDirectories: [String] = []

    var database: String { directory + "/" + StoreFiles.databaseName }
    var lock: String { directory + "/" + StoreFiles.lockName }
    var reserve: String { directory + "/" + Reserve.name }

    /// The paths of the second reserve. Its name contains the id of the database, because several daemons may share a
    /// runtime directory.
    func memoryReserves(of database: UInt64) -> [String] {
        runtimeDirectories.map { "\($0)/\(Reserve.name)-\(String(database, radix: 16))" }
    }

    /// The paths of the ring.
    func rings(of database: UInt64) -> [String] {
        runtimeDirectories.map { "\($0)/\(RecordRing.name)-\(String(database, radix: 16))" }
    }

    /// The newest snapshot in all reserves, if a database with this mark lacks it.
    ///
    /// A snapshot of another epoch is not applied: every start with a ring applies the snapshots of the epoch before, so the
    /// database contains it, or an older version of Tryck, which does not know it, has written the database since.
    func newestSnapshot(after mark: ReserveMark) -> ReserveSnapshot? {
        ([reserve] + memoryReserves(of: mark.database)).compactMap { Reserve.newest($0, of: mark.database) }
            .filter { $0.number > mark.number && ($0.ring == nil || $0.ring?.epoch == mark.ring?.epoch) }
            .max { $0.number < $1.number }
    }
}

/// The changes that a start finds in the reserves and in the ring, and that the database lacks.
struct RecoveredChanges {
    private(set) var changes: [StoreChange] = []
    /// The mark of a database that contains the changes.
    private(set) var mark: ReserveMark
    /// The number of the last record of the ring that is also in the database or in a reserve.
    private(set) var coveredNumber: UInt64

    /// Reads the newest snapshot, and the records of the ring after it.
    ///
    /// - Parameter mark: that of the database.
    init(
        _ paths: StorePaths, after mark: ReserveMark, _ report: (StoreNotice) -> Void
    ) {
        self.mark = mark
        if let snapshot = paths.newestSnapshot(after: mark) {
            changes = snapshot.changes
            self.mark.number = snapshot.number
            self.mark.ring?.number = max(snapshot.ring?.number ?? 0, mark.ring?.number ?? 0)
        }
        coveredNumber = self.mark.ring?.number ?? 0
        for path in paths.rings(of: mark.database) { readRing(path, report) }
    }

    private mutating func readRing(_ path: String, _ report: (StoreNotice) -> Void) {
        switch RecordRing.read(path) {
        case .missing: break
        case .foreign(let cause): report(.ringIgnored(path: path, cause: cause))
        case .found(let contents):
            switch contents.header {
            case .empty: break
            case .unknown: report(.ringIgnored(path: path, cause: "it is damaged, or of another version"))
            case .epoch(let epoch):
                guard let position = mark.ring, position.epoch == epoch else {
                    let cause = "it belongs to another state of the database, or was applied before"
                    return report(.ringIgnored(path: path, cause: cause))
                }
                let found = contents.records(after: position.number)
                for record in found.records {
                    changes += record.changes
                    mark.ring?.number = record.number
                }
                if found.isDamaged { report(.ringIgnored(path: path, cause: "its last records are damaged")) }
            }
        }
    }
}
