import CLinux
import Glibc
import Platform

/// The place of a record in a ring.
package struct RingPlace: Hashable, Sendable {
    /// The number of the record. A number is not used twice, even if the record could not be written.
    package var number: UInt64
    /// False if the ring does not contain the record. Later records are then lost in a kill, unless the database or a
    /// reserve contains this one.
    package var isInRing: Bool
}

/// The path and the first position of a ring that can be created after the start.
struct RingOffer: Hashable, Sendable {
    var path: String
    /// The position of the last record before the ring. The database contains everything up to it.
    var position: RingPosition
}

/// A small file with the latest records, which the database may not have yet. It survives the end of the process, but not
/// a power cut.
///
/// On a tmpfs the file is mapped, and a record is a copy in memory that cannot wait for a disk. Elsewhere a record is one
/// `pwrite` to a file of fixed length, which waits if the kernel does. `RingContents` has the format.
///
/// The reactor writes the records, and a start reads them. A record is overwritten only when the database or a reserve
/// contains it.
package final class RecordRing {
    package static let name = "tryck.ring"

    /// The result of reading a ring's file.
    enum Found {
        case missing
        /// The file cannot be read, or another process uses it.
        case foreign(String)
        case found(RingContents)
    }

    /// True if it contains all records after the number that `init` was given.
    package let isComplete: Bool
    /// False if a record may wait for a disk.
    package var isMapped: Bool { memory != nil }

    /// Numbers are integers in the database.
    private static let largestNumber = UInt64(Int64.max) - 1

    private let epoch: UInt64
    private let file: OwnedDescriptor
    private let lock: FileLock
    private let memory: UnsafeMutableRawPointer?
    private var lastNumber: UInt64

    /// Opens the file and locks it, or creates it. Blocks until all its octets have space.
    ///
    /// - Parameters:
    ///   - position: that of the last record; the next one gets the next number.
    ///   - coveredNumber: the records between this number and `position` stay. All others are removed.
    ///   - isMappable: false to write to the file even if it could be mapped.
    package init(
        _ path: String, at position: RingPosition, after coveredNumber: UInt64, isMappable: Bool = true
    ) throws(StoreFailure) {
        let file = OwnedDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600))
        guard file.isOpen else { throw StoreFailure(operation: "open", path: path, code: errno) }
        guard Reserve.isOwn(file) else { throw StoreFailure.foreignReserve(path: path) }
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw StoreFailure.ringInUse(path: path) }
        (self.file, lock) = (file, FileLock(file))
        (epoch, lastNumber) = (position.epoch, position.number)
        let contents = Self.contents(of: file)
        let kept = contents.records(after: coveredNumber).records
        isComplete =
            position.number <= coveredNumber
            || contents.header == .epoch(position.epoch) && kept.last?.number == position.number

        // The file system gives a file with holes its space at the first write. If there is none by then, a write to mapped
        // memory ends the process.
        var information = stat()
        let code = posix_fallocate(file.rawValue, 0, RingContents.length)
        guard code == 0, ftruncate(file.rawValue, RingContents.length) == 0, fstat(file.rawValue, &information) == 0,
            information.st_blocks * 512 >= RingContents.length
        else { throw StoreFailure(operation: "make", path: path, code: code == 0 ? ENOSPC : code) }
        var image = RingContents.encodedHeader(epoch: position.epoch)
        image += [UInt8](repeating: 0, count: RingContents.length - image.count)
        if isComplete, position.number > coveredNumber {
            for number in coveredNumber + 1...position.number {
                let start = RingContents.offset(of: number)
                let range = start..<start + RingContents.slotLength
                image.replaceSubrange(range, with: contents.octets[range])
            }
        }
        let mapped =
            isMappable && linux_is_on_tmpfs(file.rawValue) != 0
            ? mmap(nil, RingContents.length, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0) : MAP_FAILED
        memory = mapped == MAP_FAILED ? nil : mapped
        guard write(image, at: 0) else { throw StoreFailure(operation: "make", path: path, code: errno) }
    }

    deinit { if let memory { munmap(memory, RingContents.length) } }

    /// Adds a record, which survives a kill from then on.
    ///
    /// - Parameter coveredNumber: the records up to this number may be overwritten.
    /// - Returns: the record's number, even if the record is not in the ring because there is no room or the write failed.
    package func append(_ payload: [UInt8], after coveredNumber: UInt64) -> RingPlace {
        let first = lastNumber + 1
        guard hasRoom(for: payload, after: coveredNumber) else {
            lastNumber = min(first, Self.largestNumber)
            return RingPlace(number: lastNumber, isInRing: false)
        }
        lastNumber += UInt64(RingContents.slotCount(of: payload))
        let slots = RingContents.encoded(payload, first: first, epoch: epoch)
        // A record at the end of the file continues after the header.
        let start = RingContents.offset(of: first)
        let length = min(slots.count, RingContents.length - start)
        let isWritten =
            length == slots.count
            ? write(slots, at: start)
            : write(Array(slots[..<length]), at: start)
                && write(Array(slots[length...]), at: RingContents.slotLength)
        return RingPlace(number: lastNumber, isInRing: isWritten)
    }

    /// Adds a record that fits into one slot of a mapped file, as that of a press usually does. It is written into the file
    /// without a copy.
    ///
    /// - Returns: `nil` if that is not possible. Nothing has been added then.
    package func appendInPlace(_ record: RingRecord, after coveredNumber: UInt64) -> RingPlace? {
        let number = lastNumber + 1
        guard let memory, hasRoom(forSlots: 1, after: coveredNumber) else { return nil }
        let slot = UnsafeMutableRawBufferPointer(
            start: memory + RingContents.offset(of: number), count: RingContents.slotLength)
        guard RingContents.encode(record, number: number, epoch: epoch, to: slot) else { return nil }
        lastNumber = number
        return RingPlace(number: number, isInRing: true)
    }

    package func hasRoom(for payload: [UInt8], after coveredNumber: UInt64) -> Bool {
        hasRoom(forSlots: RingContents.slotCount(of: payload), after: coveredNumber)
    }

    private func hasRoom(forSlots count: Int, after coveredNumber: UInt64) -> Bool {
        let last = lastNumber + UInt64(count)
        return last - min(coveredNumber, lastNumber) <= UInt64(RingContents.slotCount) && last <= Self.largestNumber
    }

    /// Removes all records, because the database contains them.
    ///
    /// The records would otherwise be applied to an older copy of the database that a user puts back.
    package func clear() { _ = write([UInt8](repeating: 0, count: RingContents.length), at: 0) }

    private func write(_ octets: [UInt8], at offset: Int) -> Bool {
        guard let memory else { return pwrite(file.rawValue, octets, octets.count, offset) == octets.count }
        UnsafeMutableRawBufferPointer(start: memory + offset, count: octets.count).copyBytes(from: octets)
        return true
    }

    /// Reads a ring that no process uses.
    static func read(_ path: String) -> Found {
        let file = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
        guard file.isOpen else { return errno == ENOENT ? .missing : .foreign(systemMessage(errno)) }
        guard Reserve.isOwn(file) else { return .foreign("it is not a file that only this user can write") }
        guard flock(file.rawValue, LOCK_SH | LOCK_NB) == 0 else { return .foreign("another daemon uses it") }
        return withExtendedLifetime(FileLock(file)) { .found(contents(of: file)) }
    }

    /// Reads one octet more than a ring has, so that a longer file is recognised as not being a ring.
    private static func contents(of file: OwnedDescriptor) -> RingContents {
        var octets = [UInt8](repeating: 0, count: RingContents.length + 1)
        let count = pread(file.rawValue, &octets, octets.count, 0)
        return RingContents(Array(octets.prefix(max(0, count))))
    }
}
