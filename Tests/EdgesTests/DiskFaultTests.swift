import ButtonModel
import DiskTestSupport
import Expressions
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Rules
import TestSupport
import Testing

@testable import Edges

/// One call of a store fails, or that call and all later ones do. This is repeated for every call of the store. Then the disk
/// works again.
@Suite("The store on a failing disk")
struct DiskFaultTests {
    enum Fault: Sendable, CaseIterable {
        case fullFrom, readOnlyFrom, brokenOnce

        func at(_ call: Int) -> DiskFault {
            switch self {
            case .fullFrom: .callsFrom(call, errno: ENOSPC)
            case .readOnlyFrom: .callsFrom(call, errno: EROFS)
            case .brokenOnce: .call(call, errno: EIO)
            }
        }
    }

    private static let changes: [[StoreChange]] = [
        [.putButton(.example(1)), .putButton(.example(2))],
        [.runStarted(.example(1, StoredButton.example(1).id)), .fact(StoredButton.example(1).id, .name("a"))],
        [.runEnded(1), .runStarted(.example(2, StoredButton.example(1).id))],
        [.removeButton(StoredButton.example(2).id), .rules(.variable("mood", .string("calm")))],
    ]

    private static let outcome = StoredState(
        installationID: "05a1", nextRun: 3, buttons: [.example(1, name: "a")],
        runs: [.example(2, StoredButton.example(1).id)],
        rules: {
            var rules = RuleState()
            rules.apply(.variable("mood", .string("calm")))
            return rules
        }())

    @Test(
        "the store reports the failure, loses no change, and records all changes when the disk works again",
        arguments: Fault.allCases)
    func everyCall(fault: Fault) async throws {
        var call = 0
        var startFailures: Set<String> = []
        while true {
            let directory = TemporaryDirectory(in: "/dev/shm")
            let disk = WatchedDisk(directory.path)
            let (count, failure) = try await withReactor { [call] in
                disk.begin(fault.at(call))
                defer { disk.end() }
                return try await Self.live(on: disk)
            }
            if let failure { startFailures.insert(failure.replacing(directory.path, with: "…")) }
            #expect(!directory.names.contains { $0.contains("damaged") })
            try await Self.cutPower(disk.events, "call \(call)")
            guard call < count else { break }
            call += 1
        }
        #expect(call > 60)
        // SQLite describes some failures by a number only.
        #expect(startFailures.allSatisfy { $0.contains("…") })
        let words = startFailures.joined(separator: "\n")
        switch fault {
        case .fullFrom: #expect(words.contains("no space left for …/tryck.sqlite: free space on its file system"))
        case .readOnlyFrom: #expect(words.contains("cannot be written: check the owner of the directory"))
        case .brokenOnce: #expect(words.contains("disk I/O error (SQLite 1034): sudo dmesg"))
        }
        #expect(!startFailures.isEmpty)
    }

    /// Starts a store, records `changes`, mends the disk, and checks the state.
    ///
    /// - Returns: the number of calls, and the failure of the first start.
    @ReactorActor
    private static func live(on disk: WatchedDisk) async throws -> (count: Int, failure: String?) {
        var failure: String?
        var store: StoreDisk?
        do {
            store = try open(disk)
            failure = store?.fault?.description
        } catch {
            failure = error.description
            disk.mend()
            store = try open(disk)
        }
        let notices = store?.notices ?? []
        #expect(
            notices.allSatisfy {
                switch $0 {
                case .wasEmpty: true
                case .directoryIsOpen, .fileWasOpen, .renamed, .writtenAgain, .unreadable, .repaired, .ringIgnored,
                    .ringOnDisk:
                    false
                }
            },
            "\(notices): \(disk.events.map(\.summary))")
        for changes in changes {
            try? store?.apply(changes)
            store?.settle()
            store?.settle()
        }
        let count = disk.callCount
        disk.mend()
        try store?.apply([])
        #expect(store?.settle() == true)
        disk.note(.promised(1))
        #expect(try store?.load() == outcome)
        return (count, failure)
    }

    @Test(
        "a first start on a full disk creates its database when there is room, even if the disk is full again meanwhile"
    )
    func firstStart() async throws {
        var room = 0
        var isCreated = false
        while !isCreated {
            let directory = TemporaryDirectory(in: "/dev/shm")
            let disk = WatchedDisk(directory.path)
            isCreated = try await withReactor { [room] in
                disk.seemFull(true)
                disk.begin(.callsFrom(0, errno: ENOSPC))
                defer {
                    disk.end()
                    disk.seemFull(false)
                }
                let store = try Self.open(disk)
                #expect(store.fault != nil)
                #expect(try store.load() == StoredState(installationID: "05a1"))
                disk.fail(.callsFrom(disk.callCount + room, errno: ENOSPC))
                try? store.apply(Self.changes.flatMap(\.self))
                let isCreated = store.database != nil
                disk.mend()
                try store.apply([])
                #expect(store.settle(), "room for \(room) calls: \(disk.events.map(\.summary))")
                #expect(try store.load() == Self.outcome)
                return isCreated
            }
            #expect(try await withReactor { try openStore(directory).load() } == Self.outcome)
            room += 1
        }
        #expect(room > 5)
    }

    @ReactorActor private static func open(_ disk: WatchedDisk) throws(StoreFailure) -> StoreDisk {
        try StoreDisk(
            directory: disk.path, entropy: 0x05A1, now: UTCTime(milliseconds: 0),
            checkpoints: CheckpointPolicy(pageCount: 6))
    }

    /// Checks that every promised transaction is on the disk after a power cut.
    private static func cutPower(_ events: [DiskEvent], _ what: String) async throws {
        var cut = CutDisk()
        for event in events {
            cut.take(event)
            if event == .promised(1) { break }
        }
        let directory = TemporaryDirectory(in: "/dev/shm")
        for (name, octets) in cut.afterCut { writeFile(directory.path + "/" + name, octets) }
        let state = try await withReactor { try openStore(directory).load() }
        #expect(state == outcome, "\(what): \(events.map(\.summary))")
    }
}
