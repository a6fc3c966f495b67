import DiskTestSupport
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("Watching files")
struct FileWatchTests {
    @Test("a file that is written in place is one change, however many writes it takes")
    func inPlace() async throws {
        try await watching { place in
            for count in 1...20 { writeFile(place.file, String(repeating: "x", count: count).utf8) }
            await place.change()
            writeFile(place.file, "later".utf8)
            await place.change()
        }
    }

    @Test("a file that takes another's place is a change, and so is what is written to it later")
    func renamed() async throws {
        try await watching { place in
            writeFile(place.folder + "/home.yaml.new", "new".utf8)
            rename(place.folder + "/home.yaml.new", place.file)
            await place.change()
            writeFile(place.file, "newer".utf8)
            await place.change()
        }
    }

    @Test("a backup, a new file and the backup's end are one change")
    func backup() async throws {
        try await watching { place in
            rename(place.file, place.file + "~")
            writeFile(place.file, "new".utf8)
            chmod(place.file, 0o644)
            unlink(place.file + "~")
            await place.change()
        }
    }

    @Test("a file that is deleted is a change, and so is its return")
    func deleted() async throws {
        try await watching { place in
            unlink(place.file)
            await place.change()
            writeFile(place.file, "again".utf8)
            await place.change()
        }
    }

    @Test("who may read a file is part of it")
    func attributes() async throws {
        try await watching { place in
            chmod(place.file, 0o644)
            await place.change()
        }
    }

    @Test("other files of the directory are not looked at")
    func others() async throws {
        try await watching { place in
            writeFile(place.folder + "/.home.yaml.swp", "x".utf8)
            writeFile(place.folder + "/state.db", "x".utf8)
            writeFile(place.folder + "/other.yaml", "x".utf8)
            _ = readFile(place.file)
            // Had they counted, their change would come with this one, and before it.
            await place.turn(milliseconds: 300)
            #expect(place.changes.takeAll() == [])
            writeFile(place.file, "x".utf8)
            await place.change()
        }
    }

    @Test("where patterns look, every YAML file and every directory counts")
    func searched() async throws {
        try await watching { place in
            place.watch.watch(files: [place.file], directories: [place.folder])
            writeFile(place.folder + "/other.yaml", "x".utf8)
            await place.change()
            mkdir(place.folder + "/rooms", 0o700)
            await place.change()
            writeFile(place.folder + "/.other.yaml", "x".utf8)
            writeFile(place.folder + "/notes", "x".utf8)
            await place.turn(milliseconds: 300)
            #expect(place.changes.takeAll() == [])
        }
    }

    @Test("a directory may come later, with the file already in it, and go again")
    func laterDirectory() async throws {
        try await watching { place in
            let folder = place.folder + "/one/two"
            place.watch.watch(files: [folder + "/home.yaml"])
            mkdir(place.folder + "/one", 0o700)
            await place.change()
            mkdir(folder, 0o700)
            writeFile(folder + "/home.yaml", "x".utf8)
            await place.change()
            writeFile(folder + "/home.yaml", "y".utf8)
            await place.change()
            rename(folder, place.folder + "/away")
            await place.change()
            writeFile(place.folder + "/away/home.yaml", "y".utf8)
            mkdir(folder, 0o700)
            await place.change()
            writeFile(folder + "/home.yaml", "z".utf8)
            await place.change()
        }
    }

    @Test("a link that leads elsewhere is a change, and so is what is written where it leads")
    func links() async throws {
        try await watching { place in
            for name in ["a", "b"] {
                mkdir("\(place.folder)/\(name)", 0o700)
                writeFile("\(place.folder)/\(name)/home.yaml", name.utf8)
            }
            symlink("a", place.folder + "/current")
            symlink("current/home.yaml", place.folder + "/linked.yaml")
            place.watch.watch(files: [place.folder + "/linked.yaml"])
            writeFile(place.folder + "/a/home.yaml", "x".utf8)
            await place.change()
            symlink("b", place.folder + "/next")
            rename(place.folder + "/next", place.folder + "/current")
            await place.change()
            writeFile(place.folder + "/b/home.yaml", "x".utf8)
            await place.change()
            writeFile(place.folder + "/a/home.yaml", "y".utf8)
            await place.turn(milliseconds: 300)
            #expect(place.changes.takeAll() == [])
        }
    }

    @Test("links in a circle lead nowhere, until one of them is mended")
    func circle() async throws {
        try await watching { place in
            symlink("b.yaml", place.folder + "/a.yaml")
            symlink("a.yaml", place.folder + "/b.yaml")
            let steps = PathResolution(place.folder + "/a.yaml")
            #expect(steps.end == nil)
            #expect(steps.steps.count == PathResolution.maximumLinks + 1)
            place.watch.watch(files: [place.folder + "/a.yaml"])
            unlink(place.folder + "/b.yaml")
            writeFile(place.folder + "/b.yaml", "x".utf8)
            await place.change()
        }
    }

    @Test("who never rests is heard all the same, after two seconds")
    func restless() async throws {
        try await watching { place in
            let loop = EventLoop.shared
            let start = loop.nanosecondsSinceBoot
            while place.changes.takeAll().isEmpty {
                writeFile(place.file, "x".utf8)
                await place.turn(milliseconds: 50)
            }
            #expect(loop.nanosecondsSinceBoot - start >= 2_000_000_000)
            // The last writes.
            await place.turn(milliseconds: 250)
            #expect(place.changes.takeAll().count <= 1)
        }
    }

    @Test("a change is reported a fifth of a second after its last step")
    func quiet() async throws {
        try await watching { place in
            let start = EventLoop.shared.nanosecondsSinceBoot
            writeFile(place.file, "x".utf8)
            _ = await place.changes.next()
            #expect(EventLoop.shared.nanosecondsSinceBoot - start >= 200_000_000)
        }
    }

    @Test("after `stop` nothing is reported")
    func stopped() async throws {
        try await watching { place in
            writeFile(place.file, "x".utf8)
            place.watch.stop()
            place.watch.stop()
            await place.turn(milliseconds: 300)
            #expect(place.changes.takeAll() == [])
        }
    }
}

@ReactorActor
private final class Place {
    let folder: String
    var file: String { folder + "/home.yaml" }
    let changes = Happenings<Bool>()
    let watch: FileWatch

    init(_ folder: String) {
        self.folder = folder
        watch = FileWatch(loop: .shared) { [changes] in changes.add(true) }
        writeFile(file, "old".utf8)
        let failure = watch.watch(files: [file])
        #expect(failure == nil)
    }

    /// Waits for one: what was done to the files is read in a turn of the loop, and then it is quiet for long enough.
    func change() async {
        await turn(milliseconds: 0)
        EventLoop.shared.advanceClock(nanoseconds: FileWatch.settleTime)
        _ = await changes.next()
    }

    /// Reads what was done to the files, lets that much time pass on the loop's clock, and does what is due then.
    func turn(milliseconds: Int64) async {
        await pause(milliseconds: 0)
        EventLoop.shared.advanceClock(nanoseconds: milliseconds * 1_000_000)
        await pause(milliseconds: 0)
        await pause(milliseconds: 0)
    }
}

private func watching(_ body: @escaping @ReactorActor @Sendable (Place) async throws -> Void) async throws {
    let directory = TemporaryDirectory()
    try await withReactor {
        let place = Place(directory.path)
        try await body(place)
        // Each change was reported once.
        await place.turn(milliseconds: 250)
        #expect(place.changes.takeAll() == [])
        place.watch.stop()
    }
}
