import CDisk
import Glibc
import Synchronization

/// A change of a file in a directory. Names are relative to the directory, which itself is `""`.
public enum DiskEvent: Hashable, Sendable {
    case created(String)
    case wrote(String, offset: Int, [UInt8])
    case truncated(String, length: Int)
    case syncBegan(String)
    case synced(String)
    case syncFailed(String)
    case unlinked(String)
    case renamed(String, to: String)
    /// This number of transactions is recorded, and survives a kill.
    case recorded(Int)
    /// This number of transactions was reported as synced, and survives a power cut.
    case promised(Int)
}

/// Which of the calls that change files fail.
public enum DiskFault: Hashable, Sendable {
    case none
    /// Only the call with this number fails, counted from 0.
    case call(Int, errno: Int32)
    /// The call with this number and all later calls fail.
    case callsFrom(Int, errno: Int32)
    /// Only the sync with this number fails, counted from 0.
    case sync(Int)
    /// The disk is full: only existing octets can be overwritten.
    case full
}

/// Observes every call that changes a file below a directory, on any thread, and can let it fail.
///
/// Only one object can be active: use it only on the reactor, where tests take turns.
public final class WatchedDisk: Sendable {
    private struct State {
        var events: [DiskEvent] = []
        var fault = DiskFault.none
        var callCount = 0
        var syncCount = 0
        var threads: Set<UInt> = []
    }

    /// Files whose contents do not matter: SQLite's index of the log, and the lock.
    public static let passing = ["tryck.sqlite-shm", "tryck.lock"]

    public let path: String
    private let state = Mutex(State())
    private static let current = Mutex<WatchedDisk?>(nil)
    /// The ends of a pipe. Calls wait until the second is closed. -1 if the disk has never stalled.
    private let gate = Atomic<Int32>(-1)
    private let gateEnd = Atomic<Int32>(-1)

    public init(_ path: String) { self.path = path }

    public func begin(_ fault: DiskFault = .none) {
        state.withLock { $0.fault = fault }
        WatchedDisk.current.withLock { $0 = self }
        disk_watch { call in
            guard let call, let disk = WatchedDisk.current.withLock({ $0 }) else { return 0 }
            return disk.refusal(of: call.pointee)
        }
    }

    public func end() {
        disk_watch(nil)
        WatchedDisk.current.withLock { $0 = nil }
    }

    /// Lets the file system say that it has no room, until this is called with false.
    public func seemFull(_ isFull: Bool) { disk_seem_full(isFull ? path : nil) }

    /// Sets the fault without clearing the events.
    public func fail(_ fault: DiskFault) { state.withLock { $0.fault = fault } }

    public func note(_ event: DiskEvent) { state.withLock { $0.events.append(event) } }

    /// The disk works again.
    public func mend() { state.withLock { $0.fault = .none } }

    public var events: [DiskEvent] { state.withLock { $0.events } }
    /// How many calls were counted.
    public var callCount: Int { state.withLock { $0.callCount } }
    public var syncCount: Int { state.withLock { $0.syncCount } }

    /// The threads that made calls.
    public var threads: Set<UInt> { state.withLock { $0.threads } }

    /// From now on, each call waits for `resume`.
    public func stall() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        gateEnd.store(ends[1], ordering: .sequentiallyConsistent)
        gate.store(ends[0], ordering: .sequentiallyConsistent)
    }

    public func resume() { close(gateEnd.exchange(-1, ordering: .sequentiallyConsistent)) }

    private func refusal(of call: disk_call) -> Int32 {
        guard let name = name(call.path), !Self.passing.contains(name) else { return 0 }
        var wait = pollfd(fd: gate.load(ordering: .sequentiallyConsistent), events: Int16(POLLIN), revents: 0)
        if wait.fd >= 0 { poll(&wait, 1, -1) }
        _ = state.withLock { $0.threads.insert(pthread_self()) }
        let event = event(call, name)
        return state.withLock { state in
            if call.operation == DISK_SYNCED {
                state.events.append(.synced(name))
                return 0
            }
            defer {
                state.callCount += 1
                if call.operation == DISK_SYNC { state.syncCount += 1 }
            }
            let refusal: Int32 =
                switch state.fault {
                case .none: 0
                case .call(let number, let errno): state.callCount == number ? errno : 0
                case .callsFrom(let number, let errno): state.callCount >= number ? errno : 0
                case .sync(let number): call.operation == DISK_SYNC && state.syncCount == number ? EIO : 0
                case .full: Self.needsRoom(call) ? ENOSPC : 0
                }
            if refusal == 0, let event { state.events.append(event) }
            if refusal != 0, call.operation == DISK_SYNC { state.events.append(.syncFailed(name)) }
            return refusal
        }
    }

    private static func needsRoom(_ call: disk_call) -> Bool {
        var information = stat()
        let length = call.path.map { stat($0, &information) == 0 ? Int64(information.st_size) : -1 } ?? 0
        return switch call.operation {
        case DISK_OPEN: call.flags & O_CREAT != 0 && length < 0
        case DISK_WRITE: call.offset + Int64(call.count) > length
        case DISK_TRUNCATE: call.offset > length
        case DISK_MKDIR: true
        default: false
        }
    }

    private func event(_ call: disk_call, _ name: String) -> DiskEvent? {
        switch call.operation {
        case DISK_OPEN: call.flags & O_CREAT == 0 ? nil : .created(name)
        case DISK_WRITE:
            .wrote(
                name, offset: Int(call.offset),
                Array(UnsafeRawBufferPointer(start: call.octets, count: call.count)))
        case DISK_TRUNCATE: .truncated(name, length: Int(call.offset))
        case DISK_SYNC: .syncBegan(name)
        case DISK_UNLINK: .unlinked(name)
        case DISK_RENAME: self.name(call.target).map { .renamed(name, to: $0) }
        default: nil
        }
    }

    /// The name within the directory; `nil` for a path elsewhere.
    private func name(_ path: UnsafePointer<CChar>?) -> String? {
        guard let path, strncmp(path, self.path, self.path.utf8.count) == 0 else { return nil }
        let rest = String(cString: path).dropFirst(self.path.count)
        return rest.isEmpty ? "" : rest.first == "/" ? String(rest.dropFirst()) : nil
    }
}
