import CLinux
import Glibc
package import Hub
import Synchronization

/// The thread that makes all calls of a store that can wait for the disk, from the start to the end of the daemon.
///
/// The reactor gives it orders, and takes its results when `answered` is readable. Orders and results are values, so nothing
/// of the reactor is released here. All records of the orders that wait are one transaction, and all their syncs are one sync.
final class StoreThread: Sendable {
    enum Order: Sendable {
        /// Apply the changes, which are at this place in the ring.
        case record(RecordToken?, [StoreChange], RingPlace?)
        /// Sync the records of all earlier orders.
        case sync(RecordToken)
        /// Report where a ring can be created, after the records of the orders that wait.
        case offerRing
        /// A ring was created, and the records from now on are in it.
        case ringCreated
        /// End a call of `waitForRecords`.
        case answer
        /// Bring everything to the disk, close the files, release the lock of the directory, and end.
        case end
    }

    private struct Results {
        var events: [StoreEvent] = []
        /// The answer to `offerRing`; `nil` if there is none.
        var ringOffer: RingOffer?
        var coveredNumber: UInt64 = 0
        var isAllRecorded = false
    }

    /// The values that only the thread uses. They are gone when it has ended.
    private struct Work {
        var disk: StoreDisk
        var failedRecords = FailedRecords()
        var reserveFault: StoreFailure?
    }

    private static let stackSize = 1024 * 1024

    /// Readable when there are events.
    let answered = OwnedDescriptor(eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)))
    private let wakeUp = OwnedDescriptor(eventfd(0, Int32(EFD_CLOEXEC)))
    private let recorded = OwnedDescriptor(eventfd(0, Int32(EFD_CLOEXEC)))
    private let orders = Mutex<[Order]>([])
    private let results = Mutex(Results())
    private let work: Mutex<Work?>
    /// The thread; `nil` when it was joined.
    private let thread = Mutex<pthread_t?>(nil)

    /// Starts the thread, which does not receive signals.
    init(_ disk: sending StoreDisk) throws(StoreFailure) {
        let (directory, coveredNumber) = (disk.directory, disk.coveredNumber)
        let reserveFault = disk.reserveFault
        work = Mutex(Work(disk: disk, reserveFault: reserveFault))
        results.withLock { $0.coveredNumber = coveredNumber }
        guard answered.isOpen, wakeUp.isOpen, recorded.isOpen else {
            throw StoreFailure(operation: "start a thread for", path: directory, code: errno)
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<StoreThread>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            throw StoreFailure(operation: "start a thread for", path: directory, code: code)
        }
        self.thread.withLock { [thread] in $0 = thread }
    }

    // MARK: Calls of the reactor

    /// Gives the thread orders. Does not wait.
    func give(_ orders: [Order]) {
        self.orders.withLock { $0 += orders }
        _ = eventfd_write(wakeUp.rawValue, 1)
    }

    /// Waits until the records of all orders are written, or have failed. Only one call may be made at a time.
    func waitForRecords() {
        give([.answer])
        Self.read(recorded)
    }

    func takeEvents() -> (events: [StoreEvent], ringOffer: RingOffer?) {
        var count: eventfd_t = 0
        _ = eventfd_read(answered.rawValue, &count)
        return results.withLock { results in
            defer { (results.events, results.ringOffer) = ([], nil) }
            return (results.events, results.ringOffer)
        }
    }

    /// The number of the last record of the ring that is in the database or in a reserve.
    var coveredNumber: UInt64 { results.withLock { $0.coveredNumber } }

    /// Carries out all orders, closes the files, and waits for the end of the thread.
    ///
    /// - Returns: true if the database contains everything, and is synced.
    func end() -> Bool {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread {
            give([.end])
            pthread_join(thread, nil)
        }
        return results.withLock { $0.isAllRecorded }
    }

    // MARK: The thread

    private func run() {
        repeat { Self.read(wakeUp) } while carryOut(takeOrders())
    }

    private func takeOrders() -> [Order] {
        orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
    }

    private static func read(_ descriptor: OwnedDescriptor) {
        var count: eventfd_t = 0
        while eventfd_read(descriptor.rawValue, &count) != 0, errno == EINTR {}
    }

    /// - Returns: false after the last order.
    private func carryOut(_ orders: [Order]) -> Bool {
        work.withLock { work in
            guard var current = work.take() else { return false }
            if orders.contains(where: \.isRingCreated) { current.disk.ringCreated() }
            record(orders, &current)
            if orders.contains(where: \.isOfferRing), let offer = current.disk.ringOffer() {
                results.withLock { $0.ringOffer = offer }
                _ = eventfd_write(answered.rawValue, 1)
            }
            sync(orders, &current)
            guard orders.contains(where: \.isEnd) else {
                work = current
                return true
            }
            let isAllRecorded = current.disk.sync() && current.disk.isAllRecorded
            results.withLock { $0.isAllRecorded = isAllRecorded }
            // The database and the lock are closed with `current`.
            return false
        }
    }

    private func record(_ orders: [Order], _ work: inout Work) {
        var (tokens, changes, place): ([RecordToken?], [StoreChange], RingPlace?) = ([], [], nil)
        for case .record(let token, let recorded, let ring) in orders {
            tokens.append(token)
            changes += recorded
            guard let ring else { continue }
            place = RingPlace(number: ring.number, isInRing: ring.isInRing && place?.isInRing != false)
        }
        var events: [StoreEvent] = []
        if !tokens.isEmpty {
            do throws(StoreFailure) {
                try work.disk.apply(changes, at: place)
                work.failedRecords.recorded()
            } catch {
                for token in tokens {
                    work.failedRecords.recordFailed(token, work.disk.refuge)
                    events.append(.recordFailed(token, error, work.disk.refuge))
                }
            }
            if work.disk.reserveFault != work.reserveFault {
                work.reserveFault = work.disk.reserveFault
                events.append(.reserveFault(work.reserveFault))
            }
            events += work.disk.takeNotices().map(StoreEvent.notice)
        }
        report(events, coveredNumber: work.disk.coveredNumber)
        if orders.contains(where: \.isAnswer) { _ = eventfd_write(recorded.rawValue, 1) }
    }

    private func sync(_ orders: [Order], _ work: inout Work) {
        var tokens: [RecordToken] = []
        for case .sync(let token) in orders where work.failedRecords.isSyncUseful(token) { tokens.append(token) }
        guard !tokens.isEmpty else { return }
        let isSynced = work.disk.sync()
        // The sync may have written a snapshot.
        report(tokens.map { .synced($0, isSynced) }, coveredNumber: work.disk.coveredNumber)
        work.disk.copyLog(isSyncWaiting: self.orders.withLock { $0.contains(where: \.isSync) })
    }

    private func report(_ events: [StoreEvent], coveredNumber: UInt64) {
        results.withLock {
            $0.coveredNumber = coveredNumber
            $0.events += events
        }
        if !events.isEmpty { _ = eventfd_write(answered.rawValue, 1) }
    }
}

/// An event that a store reports.
package enum StoreEvent: Hashable, Sendable {
    /// The changes are not in the database; the refuge has them.
    case recordFailed(RecordToken?, StoreFailure, RecordRefuge)
    /// Why a reserve is missing; `nil` if none is missing any more.
    case reserveFault(StoreFailure?)
    /// Why a ring could not be created; `nil` if it was created.
    case ringFault(StoreFailure?)
    /// True if everything that was recorded before the sync was requested would survive a power cut; false if that is not
    /// certain.
    case synced(RecordToken, Bool)
    case notice(StoreNotice)
}

extension StoreThread.Order {
    fileprivate var isOfferRing: Bool { if case .offerRing = self { true } else { false } }
    fileprivate var isRingCreated: Bool { if case .ringCreated = self { true } else { false } }
    fileprivate var isAnswer: Bool { if case .answer = self { true } else { false } }
    fileprivate var isSync: Bool { if case .sync = self { true } else { false } }
    fileprivate var isEnd: Bool { if case .end = self { true } else { false } }
}
