import Foundation
import Testing

/// The words that `deploy/package` understands.
@Suite("The script that builds the package", .serialized, .ownThread)
struct PackageScriptTests {
    /// Runs a copy of the script beside a stand-in for `deploy/setup`, which is the first thing that a build needs, and which
    /// ends it.
    private static func run(_ words: [String]) throws -> (status: Int32, text: String, builds: Bool) {
        let workshop = try Workshop()
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        try FileManager.default.createDirectory(
            atPath: workshop.path("deploy"), withIntermediateDirectories: false)
        try workshop.write(
            "deploy/package",
            try String(contentsOf: repository.appending(path: "deploy/package"), encoding: .utf8))
        try workshop.write("deploy/setup", "#!/bin/sh\ntouch was-begun\nexit 7\n")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: workshop.path("deploy/setup"))
        let script = try workshop.start("/bin/sh", [workshop.path("deploy/package")] + words)
        let status = try script.status()
        return (status, script.text, FileManager.default.fileExists(atPath: workshop.path("was-begun")))
    }

    @Test("help is shown and nothing is built", arguments: ["--help", "-h"])
    func help(option: String) throws {
        let (status, text, builds) = try Self.run([option])
        #expect(status == 0)
        #expect(text.hasPrefix("usage: deploy/package\n"))
        #expect(text.contains("TRYCK_ORDER=FILE"))
        #expect(!builds)
    }

    @Test("an unknown word shows the help, too, and builds nothing", arguments: ["--hlep", "--release", "arm64", "-v"])
    func unknown(word: String) throws {
        let (status, text, builds) = try Self.run([word])
        #expect(status == 64)
        #expect(text.hasPrefix("usage: deploy/package\n"))
        #expect(!builds)
    }

    @Test("without a word a build begins")
    func build() throws {
        let (status, _, builds) = try Self.run([])
        #expect(status == 7)
        #expect(builds)
    }
}
