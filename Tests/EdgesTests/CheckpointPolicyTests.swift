import Testing

@testable import Edges

@Suite("When the write-ahead log is copied into the database")
struct CheckpointPolicyTests {
    private let policy = CheckpointPolicy(pageCount: 10)

    private func mode(_ pages: Int, isSyncWaiting: Bool = false, isLogSuspect: Bool = false) -> Database.CheckpointMode?
    {
        policy.mode(logPageCount: pages, isSyncWaiting: isSyncWaiting, isLogSuspect: isLogSuspect)
    }

    @Test("a log that is longer than the limit is copied without making writers wait")
    func long() {
        #expect(mode(0) == nil)
        #expect(mode(10) == nil)
        #expect(mode(11) == .passive)
        #expect(mode(160) == .passive)
    }

    @Test("a waiting sync goes first")
    func waiting() {
        #expect(mode(11, isSyncWaiting: true) == nil)
        #expect(mode(160, isSyncWaiting: true) == nil)
    }

    @Test("a log sixteen times longer than the limit is copied completely, even while a sync waits")
    func forced() {
        #expect(mode(161) == .truncate)
        #expect(mode(161, isSyncWaiting: true) == .truncate)
    }

    @Test("a log whose content on the disk is unknown is never copied", arguments: [11, 161])
    func suspect(pages: Int) {
        #expect(mode(pages, isLogSuspect: true) == nil)
        #expect(mode(pages, isSyncWaiting: true, isLogSuspect: true) == nil)
    }
}
