import ButtonModel
import Testing

@testable import Hub

@Suite("The journal of the store")
struct StoreJournalTests {
    private static let start = Instant(sinceBoot: .seconds(1))
    private static let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    private static let other = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))

    private static func cursor(_ eventCount: UInt32) -> EventCursor { EventCursor(bootID: 7, eventCount: eventCount) }

    private static func acknowledgement(_ eventCount: UInt32) -> Acknowledgement {
        Acknowledgement(button: button, cursor: cursor(eventCount))
    }

    /// Records an event and requests its sync.
    private static func handle(_ eventCount: UInt32, as token: RecordToken, in journal: inout StoreJournal) {
        _ = journal.record([], as: token)
        _ = journal.sync(token, acknowledging: acknowledgement(eventCount))
        #expect(journal.problems().isEmpty)
    }

    @Test("an event is acknowledged when its sync has succeeded, and once")
    func acknowledged() {
        var journal = StoreJournal()
        Self.handle(3, as: 1, in: &journal)
        #expect(journal.synced(1, true, at: Self.start) == [.acknowledge(Self.acknowledgement(3))])
        #expect(journal.synced(1, true, at: Self.start).isEmpty)
    }

    @Test("a sync of something else acknowledges nothing")
    func otherSync() {
        var journal = StoreJournal()
        Self.handle(3, as: 2, in: &journal)
        #expect(journal.synced(1, true, at: Self.start).isEmpty)
    }

    @Test("after a failed sync, an event is acknowledged by the first successful sync that was requested later")
    func failedSync() {
        var journal = StoreJournal()
        Self.handle(3, as: 1, in: &journal)
        Self.handle(4, as: 2, in: &journal)
        let failed = journal.synced(2, false, at: Self.start)
        #expect(failed.contains(.setTimer(Self.start + .seconds(1))) && failed.contains(.canRecord(true)))
        #expect(journal.fault != nil && journal.heldBack == [Self.button: Self.cursor(4)])
        // This sync was requested before the one that failed, so it does not prove that the store is mended.
        #expect(journal.synced(1, true, at: Self.start) == [.acknowledge(Self.acknowledgement(3))])
        #expect(journal.fault != nil)
        #expect(journal.retry(as: 3, at: Self.start) == [.record(3, []), .sync(3)])
        #expect(
            journal.synced(3, true, at: Self.start) == [
                .cancelTimer, .mended, .acknowledge(Self.acknowledgement(4)), .canRecord(true),
            ])
        #expect(journal.fault == nil && journal.heldBack.isEmpty && journal.problems().isEmpty)
    }

    @Test("failures that arrive out of order acknowledge nothing too early", arguments: RecordRefuge.allCases)
    func failuresOutOfOrder(refuge: RecordRefuge) {
        var journal = StoreJournal()
        Self.handle(3, as: 3, in: &journal)
        Self.handle(4, as: 4, in: &journal)
        _ = journal.record([], as: 5)
        _ = journal.sync(5, acknowledging: Acknowledgement(button: Self.other, cursor: Self.cursor(5)))
        _ = journal.recordFailed(5, "no space", refuge, at: Self.start)
        _ = journal.synced(3, false, at: Self.start)
        // This sync was requested before record 5 failed, so it proves nothing about that record.
        let effects = journal.synced(4, true, at: Self.start)
        #expect(effects == [.acknowledge(Self.acknowledgement(4))])
        #expect(journal.fault != nil)
        _ = journal.retry(as: 6, at: Self.start + .seconds(1))
        let acknowledged = journal.synced(6, true, at: Self.start + .seconds(1)).filter {
            if case .acknowledge = $0 { true } else { false }
        }
        #expect(journal.fault == nil && acknowledged.count == (refuge == .disk ? 1 : 2))
    }

    @Test("the reason why a record failed is shown until the store is mended, even if a sync fails later")
    func reason() {
        var journal = StoreJournal()
        Self.handle(3, as: 1, in: &journal)
        _ = journal.recordFailed(1, "the disk is full", .disk, at: Self.start)
        _ = journal.sync(2)
        _ = journal.synced(2, false, at: Self.start)
        #expect(journal.fault == "the disk is full; \(RecordRefuge.memory.consequence)")
        _ = journal.retry(as: 3, at: Self.start)
        _ = journal.synced(3, true, at: Self.start)
        _ = journal.sync(4)
        _ = journal.synced(4, false, at: Self.start)
        #expect(journal.fault?.contains("sync failed") == true)
    }

    @Test("a failed sync does not hide that a record is in the memory of the process only")
    func syncFailsAfterLostRecord() {
        var journal = StoreJournal()
        Self.handle(3, as: 3, in: &journal)
        _ = journal.record([], as: 4)
        _ = journal.recordFailed(4, "no space", .nowhere, at: Self.start)
        let effects = journal.synced(3, false, at: Self.start)
        #expect(!effects.contains(.canRecord(true)) && journal.isRecordLost)
    }

    @Test("an event in the reserve on the disk is acknowledged like an event in the database")
    func diskRefuge() {
        var journal = StoreJournal()
        Self.handle(3, as: 1, in: &journal)
        _ = journal.recordFailed(1, "no space", .disk, at: Self.start)
        #expect(journal.heldBack.isEmpty)
        #expect(journal.synced(1, true, at: Self.start) == [.acknowledge(Self.acknowledgement(3))])
    }

    @Test("presses are refused while they cannot be recorded anywhere, and a fault is reported once")
    func nowhere() {
        var journal = StoreJournal()
        Self.handle(3, as: 1, in: &journal)
        let first = journal.recordFailed(1, "no space", .nowhere, at: Self.start)
        #expect(first.contains(.canRecord(false)) && journal.heldBack == [Self.button: Self.cursor(3)])
        let sentence = "no space; until then presses are not handled, and the buttons store them"
        #expect(first.first == .faulted(sentence) && journal.fault == sentence)
        #expect(journal.recordFailed(nil, "no space", .nowhere, at: Self.start) == [.canRecord(false)])
    }

    @Test("the failure of a record without a token counts as one of the latest record")
    func withoutToken() {
        var journal = StoreJournal()
        Self.handle(3, as: 5, in: &journal)
        _ = journal.record([], as: nil)
        _ = journal.recordFailed(nil, "no space", .disk, at: Self.start)
        #expect(journal.synced(5, true, at: Self.start) == [.acknowledge(Self.acknowledgement(3))])
        #expect(journal.fault != nil)
    }

    @Test("the delay of retries doubles, and starts again after a repair")
    func backOff() {
        var journal = StoreJournal()
        var token: UInt64 = 1
        func fail() -> Duration? {
            token += 1
            let effects = journal.recordFailed(RecordToken(rawValue: token), "no space", .memory, at: Self.start)
            _ = journal.retry(as: RecordToken(rawValue: token + 1), at: Self.start)
            token += 1
            for case .setTimer(let deadline) in effects { return deadline - Self.start }
            return nil
        }
        #expect((0..<8).map { _ in fail() } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        token += 1
        _ = journal.sync(RecordToken(rawValue: token))
        _ = journal.synced(RecordToken(rawValue: token), true, at: Self.start)
        #expect(journal.fault == nil && fail() == .seconds(1))
    }

    @Test("a missing reserve is a fault, and attempts to create it become rarer until one succeeds")
    func reserve() {
        var journal = StoreJournal()
        let sentence = "no space; until then a reserve for presses on a full disk is missing"
        #expect(
            journal.reserveChanged("no space", at: Self.start) == [
                .faulted(sentence), .setTimer(Self.start + .seconds(60)),
            ])
        #expect(journal.reserveFault == sentence && journal.fault == nil && journal.problems().isEmpty)
        #expect(journal.reserveChanged("no space", at: Self.start).isEmpty)
        let delays = (0..<7).map { _ -> Duration? in
            let effects = journal.retry(as: 1, at: Self.start)
            #expect(effects.first == .record(nil, []) && journal.problems().isEmpty)
            if case .setTimer(let deadline)? = effects.last { return deadline - Self.start }
            return nil
        }
        #expect(delays == [120, 240, 480, 960, 1920, 3600, 3600].map { .seconds($0) })
        #expect(journal.reserveChanged(nil, at: Self.start) == [.cancelTimer, .reserveMade])
        #expect(journal.reserveFault == nil && !journal.isRetryScheduled && journal.problems().isEmpty)
        #expect(
            journal.reserveChanged("no space", at: Self.start).last == .setTimer(Self.start + .seconds(60)),
            "the delays start again")
    }

    @Test("a missing ring and a missing reserve are tried again together, until neither is missing")
    func ringAndReserve() {
        var journal = StoreJournal()
        let sentence = "in use; until then every press waits for the disk of the state directory"
        #expect(
            journal.ringChanged("in use", at: Self.start) == [
                .faulted(sentence), .setTimer(Self.start + .seconds(60)),
            ])
        #expect(journal.reserveChanged("no space", at: Self.start).count == 1)
        #expect(journal.ringFault == sentence && journal.reserveFault != nil && journal.problems().isEmpty)
        #expect(
            journal.retry(as: 1, at: Self.start) == [.record(nil, []), .setTimer(Self.start + .seconds(120))])
        #expect(journal.reserveChanged(nil, at: Self.start) == [.reserveMade])
        #expect(journal.isRetryScheduled && journal.problems().isEmpty)
        // A fault of the store is reported instead, and the missing ring is reported again after it.
        _ = journal.recordFailed(nil, "no space", .memory, at: Self.start)
        _ = journal.retry(as: 2, at: Self.start)
        #expect(journal.synced(2, true, at: Self.start).contains(.faulted(sentence)) && journal.problems().isEmpty)
        #expect(journal.ringChanged(nil, at: Self.start) == [.cancelTimer, .ringMade])
        #expect(!journal.isRetryScheduled && journal.problems().isEmpty)
    }

    @Test("a fault of the store has retry delays of its own, and a missing reserve is tried again after it")
    func reserveAndFault() {
        var journal = StoreJournal()
        _ = journal.reserveChanged("no reserve", at: Self.start)
        Self.handle(3, as: 1, in: &journal)
        let failed = journal.recordFailed(1, "no space", .nowhere, at: Self.start)
        #expect(failed.last == .setTimer(Self.start + .seconds(1)) && journal.isRecordLost)
        #expect(journal.reserveChanged("another", at: Self.start).isEmpty && journal.reserveFault != nil)
        #expect(journal.retry(as: 2, at: Self.start) == [.record(2, []), .sync(2)])
        let mended = journal.synced(2, true, at: Self.start)
        #expect(mended.first == .setTimer(Self.start + .seconds(120)) && journal.problems().isEmpty)
        #expect(!journal.isRecordLost && journal.isRetryScheduled)
        // A reserve that is created during a fault does not cancel the timer of the fault.
        _ = journal.recordFailed(nil, "no space", .memory, at: Self.start)
        #expect(journal.reserveChanged(nil, at: Self.start).isEmpty)
        #expect(journal.isRetryScheduled && journal.problems().isEmpty)
    }

    @Test("acknowledgements of a removed button are not sent to a later pairing")
    func removed() {
        var journal = StoreJournal(heldBack: [Self.other: Self.cursor(9)])
        Self.handle(3, as: 1, in: &journal)
        Self.handle(4, as: 2, in: &journal)
        _ = journal.recordFailed(1, "no space", .memory, at: Self.start)
        journal.forget(Self.button)
        #expect(journal.heldBack == [Self.other: Self.cursor(9)] && journal.awaitingSync.isEmpty)
    }
}
