import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import TestSupport
import Testing

@testable import Edges

@Suite("The state directory")
struct StoreFilesTests {
    @Test("a missing directory and all files in it are created for their owner alone")
    func permissions() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/lib/tryck"
        let notices = try await withReactor {
            let store = try StoreDisk(directory: path, entropy: 1, now: UTCTime(milliseconds: 0))
            try store.apply([.putButton(.example(1))])
            for name in ["tryck.sqlite", "tryck.sqlite-wal", "tryck.sqlite-shm", "tryck.lock"] {
                #expect(mode(of: path + "/" + name) == 0o600, "\(name)")
            }
            return store.notices
        }
        #expect(mode(of: path) == 0o700)
        #expect(notices.isEmpty)
    }

    @Test("SQLite takes its configuration, because no connection is opened before")
    func configuration() throws {
        _ = try Database(path: ":memory:", busyTimeout: .zero)
        #expect(Database.configurationCode == 0)
    }

    @Test("a directory that others may enter is reported; a file that they could read becomes private")
    func tooOpen() async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        try await withReactor { _ = try openStore(directory) }
        chmod(directory.path, 0o755)
        chmod(file, 0o644)
        let notices = try await withReactor { try openStore(directory).notices }
        #expect(
            notices == [
                .directoryIsOpen(path: directory.path, mode: 0o755), .fileWasOpen(path: file, mode: 0o644),
            ])
        #expect(notices.first?.description.hasSuffix("chmod 700 \(directory.path)") == true)
        #expect(mode(of: file) == 0o600)
    }

    @Test("a second daemon for the same directory is refused until the first has ended")
    func locked() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            var first: StoreDisk? = try openStore(directory)
            #expect(throws: StoreFailure.inUse(directory: directory.path)) { try openStore(directory) }
            #expect(first?.notices == [])
            first = nil
            _ = try openStore(directory)
        }
    }

    @Test("an empty database with a log has contents; a log that a deleted database has left has none")
    func lacksDatabase() {
        func lacks(database: [UInt8]?, log: [UInt8]?) -> Bool {
            let directory = TemporaryDirectory()
            for (name, octets) in [("tryck.sqlite", database), ("tryck.sqlite-wal", log)] {
                if let octets { writeFile(directory.path + "/" + name, octets) }
            }
            return StoreFiles.lacksDatabase(directory.path)
        }
        #expect(lacks(database: nil, log: nil) && lacks(database: nil, log: [1]) && lacks(database: [], log: nil))
        #expect(lacks(database: [], log: []))
        #expect(!lacks(database: [], log: [1]) && !lacks(database: [1, 2], log: nil))
    }

    @Test("a lock ends immediately, even if a child process still has a copy of its descriptor")
    func copied() throws {
        let directory = TemporaryDirectory()
        let original = open(directory.path + "/" + StoreFiles.lockName, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        let copy = OwnedDescriptor(dup(original))
        #expect(copy.isOpen && flock(original, LOCK_EX | LOCK_NB) == 0)
        var lock: FileLock? = FileLock(OwnedDescriptor(original))
        #expect(throws: StoreFailure.inUse(directory: directory.path)) {
            _ = try StoreFiles.lock(directory: directory.path)
        }
        #expect(lock != nil)
        lock = nil
        _ = try StoreFiles.lock(directory: directory.path)
    }

    @Test("a daemon that could only lock the directory, on a read-only disk, is noticed later, too")
    func directoryLocked() throws {
        let directory = TemporaryDirectory()
        let descriptor = OwnedDescriptor(open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        #expect(flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0)
        #expect(throws: StoreFailure.inUse(directory: directory.path)) {
            _ = try StoreFiles.lock(directory: directory.path)
        }
        #expect(flock(descriptor.rawValue, LOCK_UN) == 0)
        var lock: FileLock? = try StoreFiles.lock(directory: directory.path)
        #expect(flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 && lock != nil)
        lock = nil
        #expect(flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0)
    }

    @Test("a directory that cannot be created is an error with its path")
    func impossible() async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/file"
        writeFile(file, [])
        try await withReactor {
            #expect(
                throws: StoreFailure.file(operation: "create", path: file + "/tryck", cause: "Not a directory")
            ) {
                try StoreDisk(directory: file + "/tryck", entropy: 1, now: UTCTime(milliseconds: 0))
            }
        }
    }

    @Test("a file that is not a database is renamed with its log, and reported")
    func damaged() async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        let garbage = Array("this is not a database at all, whatever its name says".utf8)
        writeFile(file, garbage)
        writeFile(file + "-wal", [1, 2, 3])
        let notices = try await withReactor {
            let store = try openStore(directory)
            #expect(try store.load() == StoredState(installationID: "05a1"))
            try store.apply([.putButton(.example(1))])
            return store.notices
        }
        let aside = file + ".damaged-20261121T023000Z"
        #expect(notices == [.renamed(path: file, as: aside, cause: "file is not a database")])
        #expect(readFile(aside) == garbage)
        #expect(readFile(aside + "-wal") == [1, 2, 3])
        // A second damaged file in the same second does not replace the first.
        writeFile(file, garbage.reversed())
        let again = try await withReactor { try openStore(directory).notices }
        #expect(again == [.renamed(path: file, as: aside + "-2", cause: "file is not a database")])
        #expect(readFile(aside) == garbage)
    }

    @Test(
        "a start succeeds with overwritten pages: the file is read or renamed", arguments: 1...12 as ClosedRange<UInt64>
    )
    func corruption(seed: UInt64) async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        try await withReactor {
            let store = try openStore(directory)
            for number in 0..<60 { try store.apply([.putButton(.example(UInt64(number)))]) }
        }
        var generator = SeededGenerator(seed: seed)
        var octets = readFile(file)
        #expect(octets.count > 8192)
        for _ in 0..<4 {
            let start = Int.random(in: 0..<octets.count - 200, using: &generator)
            octets.replaceSubrange(start..<start + 200, with: generator.bytes(200))
        }
        writeFile(file, octets)
        let (notices, count) = try await withReactor {
            let store = try openStore(directory)
            let count = try store.load().buttons.count
            try store.apply([.putButton(.example(100))])
            return (store.notices, count)
        }
        #expect(count == 60 || !notices.isEmpty)
    }

    @Test("a newer file is not changed, and the error says what to do")
    func newerSchema() async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        try await withReactor {
            let store = try openStore(directory)
            try store.apply([.putButton(.example(1))])
            try store.database?.run("PRAGMA user_version = \(StoreSchema.version + 1)")
        }
        let failure = StoreFailure.newerSchema(path: file, found: StoreSchema.version + 1, known: StoreSchema.version)
        try await withReactor { #expect(throws: failure) { try openStore(directory) } }
        let versions = "schema \(StoreSchema.version + 1), this version knows \(StoreSchema.version)"
        #expect(failure.description.contains("written by a newer version (\(versions))"))
        try await withReactor {
            let database = try Database(path: file, busyTimeout: .zero)
            #expect(try database.rows("SELECT count(*) FROM buttons") { $0.integer(0) } == [1])
        }
    }

    @Test("a file whose tables do not match its version is renamed")
    func foreignTables() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let database = try Database(path: directory.path + "/tryck.sqlite", busyTimeout: .zero)
            try database.run("CREATE TABLE buttons (id TEXT)")
        }
        let notices = try await withReactor { try openStore(directory).notices }
        #expect(notices.contains { if case .renamed = $0 { true } else { false } })
    }

    @Test("an invalid row is reported and ignored; the other rows are loaded")
    func unreadableRows() async throws {
        let directory = TemporaryDirectory()
        let edits = [
            "pairing_key = x'00'", "id = 'kitchen'", "address_kind = 2", "address_kind = -1", "latency_mode = 'fast'",
            "trigger_mode = 'shake'", "boot_id = -1", "event_count = 4294967296", "firmware = -5",
            "nickname = CAST(x'ff' AS TEXT)",
        ]
        try await withReactor {
            let store = try openStore(directory)
            for (number, edit) in edits.enumerated() {
                let button = StoredButton.example(UInt64(number))
                try store.apply([.putButton(button)])
                try store.database?.run("UPDATE buttons SET \(edit) WHERE id = ?", .text(button.id.description))
            }
            try store.apply([.putButton(.example(99)), .runStarted(.example(1, StoredButton.example(99).id))])
            try store.database?.run("UPDATE runs SET button = 'kitchen'")
            let state = try store.load()
            #expect(state.buttons == [.example(99)])
            #expect(state.runs.isEmpty)
            #expect(store.notices.count == edits.count + 1)
            #expect(store.notices.contains(.unreadable(table: "buttons", row: "80e4da000000")))
            #expect(store.notices.contains(.unreadable(table: "runs", row: "1")))
        }
    }

    @Test("a number out of range is replaced by the nearest valid number and reported; all buttons are loaded")
    func repairedNumbers() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            try store.apply([.putButton(.example(1)), .putButton(.example(2))])
            let top = Tally.range.upperBound
            for (value, expected) in [(Int64.max, top), (top + 1, top), (top, top), (-1, 0), (.min, 0)] {
                try store.database?.run(
                    "UPDATE buttons SET press_count = ?1, seq = ?1, heard = ?1 WHERE id = '80e4da000001'",
                    .integer(value))
                try store.database?.run("UPDATE installation SET next_run = ?", .integer(value))
                let before = store.notices.count
                let state = try store.load()
                let tally = Tally(clamping: expected)
                #expect(state.buttons.map(\.pressCount) == [tally, 2] && state.buttons.map(\.sequence) == [tally, 4])
                #expect(state.buttons[0].publishWatermark == expected && state.nextRun == UInt64(max(1, expected)))
                let found: [StoreNotice] = [
                    .repaired(table: "installation", row: "1"), .repaired(table: "buttons", row: "80e4da000001"),
                ]
                #expect(Array(store.notices[before...]) == (value == expected ? [] : found))
            }
            try store.database?.run("INSERT INTO runs VALUES (9223372036854775807, 'r', '', 0, 0, 0, 0)")
            #expect(try store.load().runs == [])
        }
    }

    @Test("descriptions contain no pairing key")
    func redaction() throws {
        let button = StoredButton.example(1)
        let key = try #require(button.pairing?.key.octets)
        var dumped = ""
        dump(StoreChange.putButton(button), to: &dumped)
        dump(DatabaseValue.blob(key), to: &dumped)
        dumped += "\(StoreChange.putButton(button)) \(DatabaseValue.blob(key)) \(String(reflecting: button))"
        #expect(!dumped.contains("160, 161") && !dumped.contains("a0a1"))
        #expect(dumped.contains("***") && dumped.contains("16 octets"))
    }
}
