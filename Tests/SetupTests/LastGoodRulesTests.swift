import DiskTestSupport
import Glibc
import Hub
import Platform
import Testing

@testable import Setup

@Suite("The last good rules")
struct LastGoodRulesTests {
    @Test("rules and secrets that are kept already are not written again, unless others could read them")
    func unchanged() throws {
        let temporary = TemporaryDirectory()
        defer { withExtendedLifetime(temporary) {} }
        let directory = temporary.path
        let rulesPath = ConfigurationFiles.lastGoodRules(in: directory)
        let secretsPath = ConfigurationFiles.lastGoodSecrets(in: directory)
        let contents = RecordedRules(files: [.init(name: "rules.yaml", text: Array("version: 1".utf8))]).fileContents
        #expect(FileText.write(contents, to: rulesPath))
        #expect(FileText.write(Array("pin: 1".utf8), to: secretsPath))
        var kept = try #require(LastGoodRules(in: directory))
        let inodes = (Self.inode(rulesPath), Self.inode(secretsPath))

        #expect(kept.write(in: directory))
        #expect(Self.inode(rulesPath) == inodes.0)
        #expect(Self.inode(secretsPath) == inodes.1)

        kept.rules.files[0].text = Array("version: 1\nrules: []".utf8)
        #expect(chmod(secretsPath, 0o644) == 0)
        #expect(kept.write(in: directory))
        #expect(LastGoodRules(in: directory)?.rules == kept.rules)
        #expect(try FileText(reading: secretsPath).octets == Array("pin: 1".utf8))
        #expect(try !FileText(reading: secretsPath).isReadableByOthers)
    }

    private static func inode(_ path: String) -> ino_t {
        var information = stat()
        stat(path, &information)
        return information.st_ino
    }
}
