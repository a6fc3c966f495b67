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

/// A sound database is damaged in different ways. The start succeeds, a new database is always reported, and the
/// damaged file is kept for inspection.
@Suite("A damaged database")
struct DamagedStoreTests {
    /// A database with three buttons, two runs and a variable.
    ///
    /// - Returns: the file after the daemon has ended, and the file and its log while the daemon runs.
    private static func good() async throws -> (closed: [UInt8], open: [UInt8], log: [UInt8]) {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let file = directory.path + "/tryck.sqlite"
        let (open, log) = try await withReactor {
            let store = try openStore(directory)
            for number in 1...3 as ClosedRange<UInt64> {
                try store.apply([.putButton(.example(number, name: "n\(number)"))])
            }
            try store.apply([.runStarted(.example(1, StoredButton.example(1).id))])
            try store.apply([.runStarted(.example(2, StoredButton.example(2).id))])
            try store.apply([.rules(.variable("mood", .string("calm")))])
            return (readFile(file), readFile(file + "-wal"))
        }
        return (readFile(file), open, log)
    }

    /// Starts with these files, and uses the store.
    ///
    /// - Returns: the number of buttons, and the notices.
    @discardableResult @ReactorActor
    private static func start(_ octets: [UInt8], log: [UInt8] = [], _ what: String) throws -> (Int, [StoreNotice]) {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let file = directory.path + "/tryck.sqlite"
        writeFile(file, octets)
        if !log.isEmpty { writeFile(file + "-wal", log) }
        let store = try openStore(directory)
        let state = try store.load()
        #expect(state.buttons.count == 3 || !store.notices.isEmpty, "\(what)")
        #expect(state.installationID == "05a1", "\(what)")
        for case .renamed(_, let aside, _) in store.notices {
            #expect(readFile(aside) == octets && readFile(aside + "-wal") == log, "\(what)")
        }
        try store.apply([.putButton(.example(100))])
        #expect(try store.load().buttons.count == state.buttons.count + 1, "\(what)")
        return (state.buttons.count, store.notices)
    }

    @Test("one bit of each octet of the header is flipped")
    func header() async throws {
        let good = try await Self.good().closed
        try await withReactor {
            var random = SeededGenerator(seed: 1)
            // Octets 61 to 63 are part of the version, where a change means a newer file.
            for index in 0..<100 where !(61...63).contains(index) {
                var octets = good
                octets[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try Self.start(octets, "octet \(index): \(good[index]) is \(octets[index])")
            }
        }
    }

    @Test("bits are flipped anywhere", arguments: 0..<8 as Range<UInt64>)
    func bits(seed: UInt64) async throws {
        let good = try await Self.good().closed
        try await withReactor {
            var random = SeededGenerator(seed: seed)
            for round in 0..<30 {
                var octets = good
                for _ in 0..<[1, 1, 4, 64][round % 4] {
                    let index = Int.random(in: 100..<octets.count, using: &random)
                    octets[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
                try Self.start(octets, "seed \(seed), round \(round)")
            }
        }
    }

    @Test("the file is cut off")
    func truncated() async throws {
        let good = try await Self.good()
        try await withReactor {
            let whole = good.closed.count
            for length in [2, 15, 99, 100, 511, 512, 1024, 4095, 4096, 4097, 8192, whole - 4096] {
                let (_, notices) = try Self.start(Array(good.closed.prefix(length)), "\(length) octets")
                #expect(notices.contains { if case .renamed = $0 { true } else { false } }, "\(length) octets")
            }
        }
    }

    @Test("an empty file is reported, and if it has a log, both are renamed")
    func empty() async throws {
        let good = try await Self.good()
        try await withReactor {
            // SQLite considers a file of one octet to be empty.
            for octets in [[], [7]] as [[UInt8]] {
                let (_, notices) = try Self.start(octets, "\(octets)")
                #expect("\(notices)".contains("was empty, and is created again"))
            }
            let (_, others) = try Self.start([], log: good.log, "a log alone")
            #expect("\(others)".contains("it is empty, and its log is not"))
        }
    }

    @Test("a page is zeroed")
    func zeroed() async throws {
        let good = try await Self.good().closed
        try await withReactor {
            for page in 0..<good.count / 4096 {
                var octets = good
                octets.replaceSubrange(page * 4096..<(page + 1) * 4096, with: [UInt8](repeating: 0, count: 4096))
                try Self.start(octets, "page \(page)")
            }
        }
    }

    @Test("the log contains garbage: transactions before it are loaded", arguments: 0..<4 as Range<UInt64>)
    func log(seed: UInt64) async throws {
        let good = try await Self.good()
        try await withReactor {
            var random = SeededGenerator(seed: seed)
            var counts: Set<Int> = []
            for _ in 0..<15 {
                let start = Int.random(in: 0..<good.log.count, using: &random)
                let length = Int.random(in: 1...5000, using: &random)
                let directory = TemporaryDirectory(in: "/dev/shm")
                writeFile(directory.path + "/tryck.sqlite", good.open)
                writeFile(
                    directory.path + "/tryck.sqlite-wal",
                    good.log.prefix(start) + random.bytes(length) + good.log.dropFirst(start + length))
                let store = try openStore(directory)
                #expect(store.notices.isEmpty)
                let state = try store.load()
                counts.insert(state.buttons.count)
                #expect(state.runs.isEmpty || state.buttons.count == 3)
                #expect(state.rules.variables.isEmpty || state.runs.count == 2)
            }
            #expect(counts.count > 1)
        }
    }

    @Test("a directory with the database's name is renamed, with its contents")
    func directory() async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        mkdir(file, 0o700)
        writeFile(file + "/letter", Array("dear".utf8))
        let aside = file + ".damaged-20261121T023000Z"
        try await withReactor {
            let store = try openStore(directory)
            #expect(store.notices == [.renamed(path: file, as: aside, cause: "it is not a file")])
            try store.apply([.putButton(.example(1))])
        }
        #expect(readFile(aside + "/letter") == Array("dear".utf8))
    }

    @Test(
        "another program's database is renamed and not changed",
        arguments: ["PRAGMA application_id = 252006673", "CREATE TABLE moz_places (id INTEGER)"])
    func foreign(sql: String) async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/tryck.sqlite"
        try await withReactor {
            writeFile(file, [])
            let database = try Database(path: file, busyTimeout: .zero)
            try database.run("CREATE TABLE t (a)")
            for literal in ["PRAGMA application_id = 252006673", "CREATE TABLE moz_places (id INTEGER)"]
            where literal == sql {
                try database.run(literal)
            }
        }
        let before = readFile(file)
        let aside = file + ".damaged-20261121T023000Z"
        let notices = try await withReactor { try openStore(directory).notices }
        #expect(notices == [.renamed(path: file, as: aside, cause: "it is another program's database")])
        #expect(readFile(aside) == before)
    }

    @Test("an installation id that cannot be part of a topic is replaced and reported; the buttons stay")
    func installation() async throws {
        for id in ["05#1", "05a", "", "05A1", "ффффф"] {
            let directory = TemporaryDirectory(in: "/dev/shm")
            try await withReactor {
                let store = try openStore(directory)
                try store.apply([.putButton(.example(1))])
                try store.database?.setInstallationID(id)
            }
            let (state, notices) = try await withReactor {
                let store = try openStore(directory, entropy: 0xBEEF)
                return (try store.load(), store.notices)
            }
            #expect(state == StoredState(installationID: "beef", buttons: [.example(1)]))
            #expect(notices == [.unreadable(table: "installation", row: "1")])
        }
    }
}
