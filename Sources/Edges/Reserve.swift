import Glibc
import Platform

/// Identifies a database and the latest snapshot of its reserves whose changes it contains.
package struct ReserveMark: Hashable, Sendable {
    /// The random id of the database.
    var database: UInt64
    /// The number of the snapshot; 0 if there was none.
    var number: UInt64 = 0
    /// The last record of the ring that the database contains; `nil` if the database has no ring yet.
    var ring: RingPosition?
}

/// A record of a `RecordRing`.
package struct RingPosition: Hashable, Sendable {
    /// A random number that each start of a daemon draws. Records of other epochs do not apply to the database.
    package var epoch: UInt64
    package var number: UInt64 = 0
}

/// A small file of fixed length for changes that the database cannot record, because the disk is full.
///
/// The file is filled with zeros when it is created, so later writes to it need no space on the disk. The changes are
/// applied to the database when it can be written again, at the next start at the latest.
///
/// The file has four slots, each with room for one `ReserveSnapshot`. A file of an earlier version has shorter slots. Only the newest valid snapshot counts. A write that is
/// interrupted makes the snapshot in its slot invalid, and the previous snapshot then counts.
struct Reserve {
    /// Chooses the slot to write next. It must not be `durable` or `syncing`, because one of these is needed after a power
    /// cut, nor `latest`, which is needed if the process is killed during the write.
    struct Slots: Hashable, Sendable {
        static let count = 4

        /// The slot that was written last.
        private(set) var latest: Int?
        /// The slot whose snapshot would survive a power cut.
        private(set) var durable: Int?
        /// The slot that was the latest when the current sync began.
        private(set) var syncing: Int?

        /// - Parameter durable: the slot of the newest snapshot in the file; `nil` if there is none.
        init(durable: Int? = nil) { (latest, self.durable) = (durable, durable) }

        var next: Int { (0..<Self.count).first { $0 != latest && $0 != durable && $0 != syncing } ?? 0 }
        var isSynced: Bool { latest == durable }

        mutating func wrote(_ slot: Int) { latest = slot }
        mutating func syncBegan() { syncing = latest }

        mutating func syncEnded(_ isSynced: Bool) {
            if isSynced { durable = syncing }
            syncing = nil
        }
    }

    static let name = StoreFiles.reserveName
    private static let slotLengths = [ReserveSnapshot.slotLength, ReserveSnapshot.shortSlotLength]

    let file: OwnedDescriptor
    private let slotLength: Int
    private(set) var slots: Slots

    /// Opens the file, or creates it if it is missing or has a wrong length. Blocks until the file is on the disk.
    ///
    /// - Parameters:
    ///   - database: the id of the database. Snapshots of other databases will be overwritten.
    ///   - isNeeded: whether the snapshots in the file may be needed. If not, a file of an earlier version, which is shorter,
    ///     is replaced.
    init(_ path: String, of database: UInt64, isNeeded: Bool = false) throws(StoreFailure) {
        file = OwnedDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600))
        guard file.isOpen else { throw StoreFailure(operation: "open", path: path, code: errno) }
        guard Self.isOwn(file) else { throw StoreFailure.foreignReserve(path: path) }
        var found = Self.snapshots(in: file)
        if found?.slotLength == ReserveSnapshot.shortSlotLength, !isNeeded { found = nil }
        slotLength = found?.slotLength ?? ReserveSnapshot.slotLength
        if found == nil {
            // The file system reserves no space for a file with holes, so setting the length is not enough.
            let zeros = [UInt8](repeating: 0, count: Slots.count * slotLength)
            let count = pwrite(file.rawValue, zeros, zeros.count, 0)
            guard count == zeros.count, ftruncate(file.rawValue, zeros.count) == 0 else {
                // A disk on which only a part could be written is full. `pwrite` sets no `errno` then.
                let code = (0..<zeros.count).contains(count) ? ENOSPC : errno
                // An incomplete file is useless. `StoreDisk` tries again.
                unlink(path)
                throw StoreFailure(operation: "make", path: path, code: code)
            }
        }
        guard file.syncData() else { throw StoreFailure(operation: "sync", path: path, code: errno) }
        if found == nil { try StoreFiles.syncDirectory(SystemEnvironment.directory(of: path)) }
        let newest = (found?.snapshots ?? []).filter { $0.snapshot.database == database }
            .max { $0.snapshot.number < $1.snapshot.number }
        slots = Slots(durable: newest?.slot)
    }

    /// Reads the newest snapshot of a database; `nil` if there is none, or if the file is not `isOwn`.
    static func newest(_ path: String, of database: UInt64) -> ReserveSnapshot? {
        let file = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
        guard file.isOpen, isOwn(file) else { return nil }
        return (snapshots(in: file)?.snapshots ?? []).map(\.snapshot).filter { $0.database == database }
            .max { $0.number < $1.number }
    }

    /// True if it is a regular file with a single name that this user owns and no other user can write. Other users may have
    /// the right to create files in the runtime directory, and with a reserve they could invent or hide presses.
    static func isOwn(_ file: OwnedDescriptor) -> Bool {
        var information = stat()
        return fstat(file.rawValue, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
            && information.st_uid == geteuid() && information.st_nlink == 1
            && information.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// Reads all valid snapshots; `nil` if the file does not have the length of a reserve.
    private static func snapshots(
        in file: OwnedDescriptor
    ) -> (slotLength: Int, snapshots: [(slot: Int, snapshot: ReserveSnapshot)])? {
        var information = stat()
        guard fstat(file.rawValue, &information) == 0,
            let length = slotLengths.first(where: { information.st_size == Slots.count * $0 })
        else { return nil }
        let snapshots = (0..<Slots.count).compactMap { slot -> (Int, ReserveSnapshot)? in
            var octets = [UInt8](repeating: 0, count: length)
            let count = pread(file.rawValue, &octets, octets.count, slot * octets.count)
            guard count == octets.count else { return nil }
            return ReserveSnapshot(decoding: octets).map { (slot, $0) }
        }
        return (length, snapshots)
    }

    /// Writes an encoded snapshot to the next slot. It then survives the end of the process, and a power cut after a sync of
    /// `file`.
    ///
    /// - Returns: false if it could not be written, or is too long. The previous snapshot then is still valid.
    mutating func write(_ snapshot: [UInt8]) -> Bool {
        guard snapshot.count <= slotLength else { return false }
        let slot = slots.next
        let count = pwrite(file.rawValue, snapshot, snapshot.count, slot * slotLength)
        guard count == snapshot.count else { return false }
        slots.wrote(slot)
        return true
    }

    mutating func syncBegan() { slots.syncBegan() }
    mutating func syncEnded(_ isSynced: Bool) { slots.syncEnded(isSynced) }
}
