import DiskTestSupport
import Glibc
import Testing

@testable import WebService

@Suite("Rule files on the disk")
struct RuleFileStoreTests {
    private let directory = TemporaryDirectory()
    private let store: RuleFileStore

    init() {
        mkdir(directory.path + "/set", 0o700)
        mkdir(directory.path + "/set/rooms", 0o700)
        writeFile(directory.path + "/outside.yaml", "outside".utf8)
        writeFile(directory.path + "/set/home.yaml", "one".utf8, mode: 0o640)
        writeFile(directory.path + "/set/rooms/hall.yaml", "hall".utf8)
        store = RuleFileStore(folder: directory.path + "/set", key: [1, 2, 3])
    }

    private func text(_ name: String) -> String {
        String(decoding: readFile(directory.path + "/" + name), as: UTF8.self)
    }

    @Test("a file is replaced, with its mode, and its text before is kept")
    func write() throws {
        let before = try store.read("home.yaml")
        #expect(before.octets == Array("one".utf8) && before.obstacle == nil)
        let after = try store.write(Array("two".utf8), to: "home.yaml", ifMatch: before.etag)
        #expect(after.etag != before.etag)
        #expect(try store.read("home.yaml") == after)
        #expect(text("set/home.yaml") == "two" && text("set/home.yaml~") == "one")
        #expect(mode(of: directory.path + "/set/home.yaml") == 0o640)
        #expect(mode(of: directory.path + "/set/home.yaml~") == 0o640)
        _ = try store.write(Array("three".utf8), to: "home.yaml", ifMatch: after.etag)
        #expect(text("set/home.yaml~") == "two")
        #expect(Set(entries("set")) == ["home.yaml", "home.yaml~", "rooms"])
    }

    @Test("a file that has changed meanwhile is not written")
    func stale() throws {
        let before = try store.read("home.yaml")
        writeFile(directory.path + "/set/home.yaml", "other".utf8)
        let present = try store.read("home.yaml")
        #expect(throws: RuleFileStore.Failure.changed(present)) {
            try store.write(Array("two".utf8), to: "home.yaml", ifMatch: before.etag)
        }
        #expect(throws: RuleFileStore.Failure.changed(present)) {
            try store.write(Array("two".utf8), to: "home.yaml", ifMatch: "*")
        }
        #expect(text("set/home.yaml") == "other")
    }

    @Test("a link is neither read nor written, as a file, as a folder, and as the text before")
    func links() throws {
        let set = directory.path + "/set"
        symlink("../outside.yaml", set + "/link.yaml")
        symlink("..", set + "/up")
        for name in ["link.yaml", "up/outside.yaml"] {
            #expect(throws: RuleFileStore.Failure.notFound) { try store.read(name) }
            #expect(throws: RuleFileStore.Failure.notFound) { try store.write([65], to: name, ifMatch: "*") }
        }
        symlink("../outside.yaml", set + "/home.yaml~")
        _ = try store.write([65], to: "home.yaml", ifMatch: try store.read("home.yaml").etag)
        #expect(text("outside.yaml") == "outside" && text("set/home.yaml~") == "one")
    }

    @Test(
        "no other name is a file",
        arguments: [
            "", ".", "..", "../outside.yaml", "rooms", "rooms/", "rooms/..", "rooms/../home.yaml", "/etc/passwd",
            "home.yaml/",
            "home.yaml\0", "rooms//hall.yaml", "none.yaml",
        ])
    func names(name: String) { #expect(throws: RuleFileStore.Failure.notFound) { try store.read(name) } }

    @Test("a pipe does not block")
    func pipe() {
        mkfifo(directory.path + "/set/pipe.yaml", 0o600)
        #expect(throws: RuleFileStore.Failure.notFound) { try store.read("pipe.yaml") }
    }

    @Test("a read-only file says how to change that")
    func readOnly() throws {
        chmod(directory.path + "/set/home.yaml", 0o440)
        let contents = try store.read("home.yaml")
        #expect(contents.obstacle?.contains("chmod") == true)
        #expect(throws: RuleFileStore.Failure.self) { try store.write([65], to: "home.yaml", ifMatch: contents.etag) }
        #expect(text("set/home.yaml") == "one")
    }

    @Test("an etag depends on the key")
    func key() throws {
        let other = RuleFileStore(folder: directory.path + "/set", key: [4])
        #expect(try other.read("home.yaml").etag != store.read("home.yaml").etag)
    }

    private func entries(_ folder: String) -> [String] {
        guard let stream = opendir(directory.path + "/" + folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }
}
