package import ButtonModel
package import Hub
package import Reactor

/// The store of the hub, on the reactor: it records changes in a `RecordRing`, and gives them to a `StoreThread`, which writes
/// them to the database of a `StoreDisk` and syncs it.
///
/// A change is safe from a kill when `record` returns, and from a power cut when the sync that was requested after it has
/// succeeded. The hub decides the order: record, act, sync, acknowledge.
///
/// `record` does not wait for a disk, except in three cases: there is no ring; the ring has no room for the changes, because
/// they are very large or the database could not take earlier ones; or the ring is not in memory. The first two then wait for
/// the transaction.
@ReactorActor
package final class StoreEdge {
    /// The state that was stored when the process started.
    package let stored: StoredState
    /// Findings of the start to show to the user.
    package private(set) var notices: [StoreNotice]
    /// Why the database could not be opened for writing at the start, or why its log could not be synced.
    package let fault: StoreFailure?
    /// The place of the changes that the database did not have at the start. If there were none: the best place available.
    package let refuge: RecordRefuge
    /// Why a reserve could not be opened or created at the start.
    package let reserveFault: StoreFailure?
    /// Why there is no ring; `nil` if there is one, or no runtime directory. Each record without changes tries again.
    package private(set) var ringFault: StoreFailure?

    private let thread: StoreThread
    private var ring: RecordRing?
    private let isRingMappable: Bool
    private let report: @ReactorActor (StoreEvent) -> Void
    private var watch: Watch?
    /// True after `close`. The thread has ended, so nothing may wait for it.
    private var isClosed = false
    /// The orders since the last `flush`.
    private var orders: [StoreThread.Order] = []
    /// A lower bound of `StoreThread.coveredNumber`.
    private var coveredNumber: UInt64

    /// Opens the state directory, as `StoreDisk.init` describes, and the ring in the runtime directory. Waits for the disk.
    ///
    /// - Parameters:
    ///   - isRingMappable: false to test the ring of a runtime directory that is not on a tmpfs.
    ///   - report: called for each event, but not from within the calls below.
    package init(
        loop: EventLoop, directory: String, runtimeDirectory: String? = nil, entropy: UInt16, now: UTCTime,
        checkpoints: CheckpointPolicy = CheckpointPolicy(), isRingMappable: Bool = true,
        _ report: @escaping @ReactorActor (StoreEvent) -> Void
    ) throws(StoreFailure) {
        let disk = try StoreDisk(
            directory: directory, runtimeDirectory: runtimeDirectory, entropy: entropy, now: now,
            checkpoints: checkpoints)
        var ring: RecordRing?
        var ringNotice: StoreNotice?
        var ringFault: StoreFailure?
        if let path = disk.ringPath, let position = disk.ringPosition {
            do throws(StoreFailure) {
                let opened = try RecordRing(
                    path, at: position, after: disk.coveredNumber, isMappable: isRingMappable)
                disk.ringOpened(isComplete: opened.isComplete)
                if !opened.isMapped { ringNotice = .ringOnDisk(path: path) }
                ring = opened
            } catch {
                ringFault = error
            }
        } else if runtimeDirectory != nil {
            ringFault = disk.fault
        }
        stored = try disk.load()
        notices = disk.takeNotices() + [ringNotice].compactMap(\.self)
        (fault, refuge, reserveFault) = (disk.fault, disk.refuge, disk.reserveFault)
        coveredNumber = disk.coveredNumber
        (self.ring, self.ringFault, self.isRingMappable) = (ring, ringFault, isRingMappable)
        self.report = report
        thread = try StoreThread(disk)
        watch = loop.watch(thread.answered.rawValue, .read) { [weak self] _ in self?.takeEvents() }
    }

    deinit { _ = thread.end() }

    /// Records the changes, together with earlier changes that could not be recorded.
    ///
    /// - Parameters:
    ///   - changes: may be empty, to try earlier changes again.
    ///   - token: for `StoreEvent.recordFailed`. A `sync` with the token of a record that failed is not answered, unless the
    ///     changes are in the reserve on the disk.
    package func record(_ changes: [StoreChange], as token: RecordToken? = nil) {
        guard !isClosed else { return }
        guard !changes.isEmpty else {
            orders.append(.record(token, [], nil))
            if ringFault != nil { orders.append(.offerRing) }
            return
        }
        var place: RingPlace?
        if let ring { place = self.place(of: changes, in: ring) }
        orders.append(.record(token, changes, place))
        guard place?.isInRing != true else { return }
        flush()
        thread.waitForRecords()
        coveredNumber = thread.coveredNumber
    }

    private func place(of changes: [StoreChange], in ring: RecordRing) -> RingPlace {
        let record = RingRecord(changes)
        if let place = ring.appendInPlace(record, after: coveredNumber) { return place }
        let payload = record.encoded()
        if !ring.hasRoom(for: payload, after: coveredNumber) { coveredNumber = thread.coveredNumber }
        return ring.append(payload, after: coveredNumber)
    }

    /// Brings everything that was recorded up to now to the disk. `StoreEvent.synced` has the result.
    package func sync(_ token: RecordToken) { orders.append(.sync(token)) }

    /// Gives the thread the orders since the last call. Called at the end of a turn, after the actions of a press.
    package func flush() {
        guard !isClosed, !orders.isEmpty else { return }
        thread.give(orders)
        orders.removeAll(keepingCapacity: true)
    }

    /// Brings everything to the disk, and closes the files. Waits for the disk, and reports nothing more.
    package func close() {
        flush()
        isClosed = true
        watch?.cancel()
        watch = nil
        if thread.end() { ring?.clear() }
    }

    private func takeEvents() {
        let (events, ringOffer) = thread.takeEvents()
        for event in events { report(event) }
        if let ringOffer { createRing(ringOffer) }
    }

    /// Creates the ring that could not be created at the start. On a tmpfs this does not wait.
    private func createRing(_ offer: RingOffer) {
        guard !isClosed, ring == nil else { return }
        do throws(StoreFailure) {
            let created = try RecordRing(
                offer.path, at: offer.position, after: offer.position.number, isMappable: isRingMappable)
            orders.append(.ringCreated)
            (ring, ringFault, coveredNumber) = (created, nil, offer.position.number)
            report(.ringFault(nil))
            if !created.isMapped { report(.notice(.ringOnDisk(path: offer.path))) }
            flush()
        } catch {
            guard error != ringFault else { return }
            ringFault = error
            report(.ringFault(error))
        }
    }
}
