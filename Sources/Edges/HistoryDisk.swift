import Glibc
import Platform
import Synchronization

/// The directory of a history, its open segment, and the orders for them. Helper threads carry out the orders one after
/// the other; at the end, the loop's thread does.
final class HistoryDisk: Sendable {
    enum Order: Hashable, Sendable {
        case remove(String)
        /// Closes the open segment, and creates the one with this name. A file with this name is replaced, because the number of
        /// a segment is new.
        case open(String)
        case write([UInt8])
        case close

        /// True for an order that removes a segment.
        var isRemoval: Bool { if case .remove = self { true } else { false } }
    }

    struct Fault: Error, Hashable, Sendable {
        /// Continues a sentence.
        var reason: String
        /// The length of the segment, which has only complete lines, in octets.
        var length: Int
    }

    private struct File {
        var descriptor: Int32 = -1
        var length = 0
    }

    private let directory: String
    private let leastFree: UInt64
    private let file = Mutex(File())
    /// The orders that no thread has begun to carry out.
    private let orders = Mutex<[Order]>([])

    /// - Parameters:
    ///   - directory: absolute.
    ///   - leastFree: a write fails if it would leave fewer octets of the disk free.
    init(_ directory: String, leastFree: UInt64) {
        self.directory = directory
        self.leastFree = leastFree
    }

    /// Adds orders behind those that wait, without waiting for the disk.
    func add(_ orders: [Order]) { self.orders.withLock { $0 += orders } }

    /// Carries out the orders that wait. After an order has failed, the segment is closed, and only removals are carried
    /// out, because they free space.
    ///
    /// - Returns: the fault of the first order that failed; `nil` if none has.
    func carryOut() -> Fault? {
        file.withLock { file in
            // The orders are taken while the file is locked. Otherwise another thread could carry out later orders first.
            let orders = orders.withLock { orders in
                defer { orders = [] }
                return orders
            }
            var fault: Fault?
            for order in orders where fault == nil || order.isRemoval {
                do throws(Fault) {
                    try carryOut(order, &file)
                } catch {
                    Self.close(&file)
                    fault = error
                }
            }
            return fault
        }
    }

    private func carryOut(_ order: Order, _ file: inout File) throws(Fault) {
        switch order {
        case .remove(let name): unlink("\(directory)/\(name)")
        case .open(let name):
            Self.close(&file)
            SystemEnvironment.makeDirectory(directory)
            let path = "\(directory)/\(name)"
            unlink(path)
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Fault(reason: "\(path): \(systemMessage(errno))", length: 0) }
            file = File(descriptor: descriptor)
        case .write(let octets):
            if file.descriptor >= 0 { try write(octets, &file) }
        case .close: Self.close(&file)
        }
    }

    private func write(_ octets: [UInt8], _ file: inout File) throws(Fault) {
        var code = freeOctets(file.descriptor).map { $0 < leastFree + UInt64(octets.count) } ?? false ? ENOSPC : 0
        var remaining = octets[...]
        while code == 0, !remaining.isEmpty {
            let count = remaining.withUnsafeBytes { Glibc.write(file.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count > 0 { remaining = remaining.dropFirst(count) } else { code = count < 0 ? errno : ENOSPC }
        }
        guard code == 0 else {
            // An incomplete line would be read as that of a process that was killed.
            if remaining.count < octets.count { ftruncate(file.descriptor, file.length) }
            throw Fault(reason: "\(directory): \(systemMessage(code))", length: file.length)
        }
        file.length += octets.count
    }

    private func freeOctets(_ descriptor: Int32) -> UInt64? {
        var information = statvfs()
        guard fstatvfs(descriptor, &information) == 0 else { return nil }
        return UInt64(information.f_bavail).multipliedReportingOverflow(by: UInt64(information.f_frsize)).partialValue
    }

    private static func close(_ file: inout File) {
        if file.descriptor >= 0 { Glibc.close(file.descriptor) }
        file = File()
    }
}
