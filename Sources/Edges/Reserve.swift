import Glibc
import Platform

/// Up to which snapshot of its reserve a database has the changes.
package struct ReserveMark: Hashable, Sendable {
    /// Drawn once for each database.
    var database: UInt64
    var number: UInt64 = 0
}

/// A small file that can be written when the database cannot, for its room was taken while there was some: what happens
/// on a full disk is recorded there, and applied to the database at the next start at the latest.
///
/// It has four slots. Each takes a whole `ReserveSnapshot`, so the newest one that is whole says it all, and one that is
/// cut off by the end of the process or of the power leaves the one before it.
struct Reserve {
    /// Which slot is written next: none that has to be there after a power cut, or whose sync is under way, and not the
    /// latest, which a kill amid the next write would leave.
    struct Slots: Hashable, Sendable {
        static let count = 4

        private(set) var latest: Int?
        private(set) var durable: Int?
        private(set) var syncing: Int?

        /// - Parameter durable: the slot that holds what was found.
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
    private static let length = Slots.count * ReserveSnapshot.slotLength

    let file: OwnedDescriptor
    private(set) var slots: Slots

    /// Opens the file, and makes it where there is none that is long enough. Blocks until its room is its own: what is
    /// written over later needs none.
    ///
    /// - Parameter database: whose changes are looked for; those of another one are written over.
    init(_ path: String, of database: UInt64) throws(StoreFailure) {
        file = OwnedDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600))
        guard file.isOpen else { throw StoreFailure(operation: "open", path: path, code: errno) }
        guard Self.isOwn(file) else { throw StoreFailure.foreignReserve(path: path) }
        let found = Self.snapshots(in: file)
        if found == nil {
            // Zeros, and not only a length: a file with holes has no room.
            let zeros = [UInt8](repeating: 0, count: Self.length)
            let count = pwrite(file.rawValue, zeros, zeros.count, 0)
            guard count == zeros.count, ftruncate(file.rawValue, Self.length) == 0 else {
                // A disk that takes only a part is full, and then `pwrite` sets no error.
                let code = (0..<zeros.count).contains(count) ? ENOSPC : errno
                // Nothing is kept of what cannot be whole; the next start tries again.
                unlink(path)
                throw StoreFailure(operation: "make", path: path, code: code)
            }
        }
        guard file.syncData() else { throw StoreFailure(operation: "sync", path: path, code: errno) }
        if found == nil { try StoreFiles.syncDirectory(SystemEnvironment.directory(of: path)) }
        let newest = (found ?? []).filter { $0.snapshot.database == database }
            .max { $0.snapshot.number < $1.snapshot.number }
        slots = Slots(durable: newest?.slot)
    }

    /// The newest snapshot of a database, without a change to the file; `nil` if there is none, or the file is not `isOwn`.
    static func newest(_ path: String, of database: UInt64) -> ReserveSnapshot? {
        let file = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
        guard file.isOpen, isOwn(file) else { return nil }
        return (snapshots(in: file) ?? []).map(\.snapshot).filter { $0.database == database }
            .max { $0.number < $1.number }
    }

    /// Whether this user made the file and no other user can write it. Other users may have the right to make files in the
    /// directory of the control socket, and a reserve of theirs could invent or hide presses.
    private static func isOwn(_ file: OwnedDescriptor) -> Bool {
        var information = stat()
        return fstat(file.rawValue, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
            && information.st_uid == geteuid() && information.st_nlink == 1
            && information.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// - Returns: `nil` when the file is not as long as a reserve is.
    private static func snapshots(in file: OwnedDescriptor) -> [(slot: Int, snapshot: ReserveSnapshot)]? {
        var information = stat()
        guard fstat(file.rawValue, &information) == 0, information.st_size == length else { return nil }
        return (0..<Slots.count).compactMap { slot in
            var octets = [UInt8](repeating: 0, count: ReserveSnapshot.slotLength)
            let count = pread(file.rawValue, &octets, octets.count, slot * octets.count)
            guard count == octets.count else { return nil }
            return ReserveSnapshot(decoding: octets).map { (slot, $0) }
        }
    }

    /// Survives the end of the process from here on; a power cut, when `file` was synced.
    ///
    /// - Returns: whether it was written; the snapshot before is there in any case.
    mutating func write(_ snapshot: [UInt8]) -> Bool {
        let slot = slots.next
        let count = pwrite(file.rawValue, snapshot, snapshot.count, slot * ReserveSnapshot.slotLength)
        guard count == snapshot.count else { return false }
        slots.wrote(slot)
        return true
    }

    mutating func syncBegan() { slots.syncBegan() }
    mutating func syncEnded(_ isSynced: Bool) { slots.syncEnded(isSynced) }
}
