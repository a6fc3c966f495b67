import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("The store without a daemon")
struct OfflineStoreTests {
    private static let exported = ExportedState(
        StoredState(installationID: "beef", buttons: [.example(1, name: "exported"), .example(2)]))

    @Test("the state that a daemon stored is loaded and not changed")
    func load() async throws {
        let directory = TemporaryDirectory()
        try await withReactor { try openStore(directory).apply([.putButton(.example(1))]) }
        let (state, notices) = try OfflineStore.load(directory.path)
        #expect(state == StoredState(installationID: "05a1", buttons: [.example(1)]))
        #expect(notices.isEmpty)
        #expect(try await withReactor { try openStore(directory).load() } == state)
    }

    @Test("a load does not create a missing store")
    func nothing() {
        let directory = TemporaryDirectory()
        for path in [directory.path, directory.path + "/missing"] {
            #expect(throws: StoreFailure.noStore(directory: path)) { try OfflineStore.load(path) }
        }
        #expect(mode(of: directory.path + "/tryck.lock") == nil)
        #expect(mode(of: directory.path + "/missing") == nil)
    }

    @Test("an import creates the directory, and the daemon finds the buttons and the installation id")
    func fresh() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/lib/tryck"
        let (plan, notices) = try OfflineStore.change(path, entropy: 1) {
            ImportPlan(Self.exported, into: $0, isReplacing: false)
        }
        #expect(plan.entries.map(\.outcome) == [.added, .added])
        #expect(notices.isEmpty)
        #expect(mode(of: path) == 0o700 && mode(of: path + "/tryck.sqlite") == 0o600)
        // Everything was copied into the database file, so there is no log.
        #expect(mode(of: path + "/tryck.sqlite-wal") == nil)
        let state = try await withReactor {
            try StoreDisk(directory: path, entropy: 2, now: UTCTime(milliseconds: 0)).load()
        }
        #expect(state == StoredState(installationID: "beef", buttons: Self.exported.buttons))
    }

    @Test("an import keeps or replaces a known button, and keeps the installation id")
    func known() async throws {
        let directory = TemporaryDirectory()
        try await withReactor { try openStore(directory).apply([.putButton(.example(1, name: "here"))]) }
        for (isReplacing, name) in [(false, "here"), (true, "exported")] {
            _ = try OfflineStore.change(directory.path, entropy: 1) {
                ImportPlan(Self.exported, into: $0, isReplacing: isReplacing)
            }
            let (state, _) = try OfflineStore.load(directory.path)
            #expect(state.installationID == "05a1")
            #expect(state.buttons.map(\.name) == [name, nil])
        }
    }

    @Test("a reserve in memory is applied before an import, and not once more at the next start")
    func memoryReserve() async throws {
        let (directory, runtime) = (TemporaryDirectory(in: "/dev/shm"), TemporaryDirectory(in: "/dev/shm"))
        @ReactorActor func open() throws(StoreFailure) -> StoreDisk {
            try StoreDisk(
                directory: directory.path, runtimeDirectory: runtime.path, entropy: 0x05A1,
                now: UTCTime(milliseconds: 0))
        }
        let id = StoredButton.example(1).id
        let here = {
            var button = StoredButton.example(1, name: "here")
            button.pairing = StoredButton.example(9).pairing
            return button
        }()
        try await withReactor {
            try open().apply([.putButton(here)])
            let disk = WatchedDisk(directory.path)
            disk.begin()
            defer { disk.end() }
            let store = try open()
            disk.fail(.callsFrom(0, errno: EROFS))
            #expect(throws: StoreFailure.self) {
                try store.apply([
                    .progress(
                        id, EventCursor(bootID: 7, eventCount: 700), recogniser: "", pressCount: 70, sequence: 71,
                        publishWatermark: 70),
                    .runStarted(.example(9, id)),
                ])
            }
            #expect(store.refuge == .memory)
        }
        let (found, _) = try OfflineStore.load(directory.path, runtimeDirectories: [runtime.path])
        #expect(found.buttons.map(\.pressCount) == [70] && found.runs.map(\.id) == [9])
        _ = try OfflineStore.change(directory.path, runtimeDirectories: [runtime.path], entropy: 1) {
            ImportPlan(Self.exported, into: $0, isReplacing: true)
        }
        let state = try await withReactor { try open().load() }
        #expect(state.buttons.map(\.name) == ["exported", nil])
        #expect(state.buttons.map(\.pressCount) == [70, 2] && state.runs.map(\.id) == [9])
        // The cursor of the replaced pairing does not apply to the imported one.
        #expect(state.buttons.map(\.cursor) == Self.exported.buttons.map(\.cursor))
    }

    @Test("a directory in use by a daemon is neither read nor changed, and a daemon cannot use it during an import")
    func inUse() async throws {
        let directory = TemporaryDirectory()
        let failure = StoreFailure.inUse(directory: directory.path)
        try await withReactor {
            let daemon = try openStore(directory)
            #expect(throws: failure) { try OfflineStore.load(directory.path) }
            #expect(throws: failure) {
                try OfflineStore.change(directory.path, entropy: 1) {
                    ImportPlan(Self.exported, into: $0, isReplacing: false)
                }
            }
            #expect(try daemon.load().buttons.isEmpty)
        }
        try await withReactor {
            _ = try OfflineStore.change(directory.path, entropy: 1) { stored in
                #expect(throws: failure) { try openStore(directory) }
                return ImportPlan(Self.exported, into: stored, isReplacing: false)
            }
        }
    }

    @Test("a damaged file is not changed, because the daemon renames it")
    func damaged() {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        let garbage = Array("this is not a database at all, whatever its name says".utf8)
        writeFile(file, garbage)
        #expect(throws: StoreFailure.damaged(path: file, cause: "file is not a database")) {
            try OfflineStore.load(directory.path)
        }
        #expect(readFile(file) == garbage)
    }
}
