import Foundation
import JSON
import Testing

/// `tryck export` on one machine and `tryck import` on another, with the daemons of both.
@Suite("tryck export and import", .serialized, .ownThread)
struct ExportTests {
    private static let passphrase = "correct horse battery staple"

    @Test("an exported button is ready without pairing after an import on another machine")
    func replaced() throws {
        let (workshop, button) = try Self.buttonOnAir()
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is ready")
        let pair = try workshop.tryck(["pair", "--time", "60"])
        #expect(try pair.status() == 0, "\(pair.text)")
        try daemon.line(containing: "kitchen is ready")
        try workshop.write("passphrase", Self.passphrase + "\n", mode: 0o600)
        let sealed = workshop.path("buttons.tryck"), clear = workshop.path("clear.tryck")
        let secret = ["--passphrase-file", workshop.path("passphrase")]

        let early = try Self.tryck(workshop, ["export", sealed] + secret)
        #expect(try early.status() == 69)
        #expect(early.text.contains("Stop it first: systemctl stop tryck"), "\(early.text)")
        #expect(!FileManager.default.fileExists(atPath: sealed))
        // The check comes before the question for a passphrase, for which there is no terminal.
        let earlyImport = try Self.tryck(workshop, ["import", sealed])
        #expect(try earlyImport.status() == 69)
        #expect(earlyImport.text.contains("Stop it first: systemctl stop tryck"), "\(earlyImport.text)")

        let rename = try workshop.tryck(["button", "kitchen", "rename", "by the stove"])
        #expect(try rename.status() == 0)
        daemon.stop()
        let export = try Self.tryck(workshop, ["export", sealed] + secret)
        #expect(try export.status() == 0, "\(export.text)")
        #expect(export.text == "1 button in \(sealed), encrypted. It cannot be read without the passphrase.")
        let inClear = try Self.tryck(workshop, ["export", clear, "--clear"])
        #expect(try inClear.status() == 0, "\(inClear.text)")
        #expect(inClear.text.contains("clear.tryck is not encrypted"))

        // The key, read from the database.
        let contents = try #require(try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: clear))))["contents"])
        let key = try #require(contents["buttons"]?.arrayValue?.first?["pairing"]?["key"]?.stringValue)
        #expect(key.count == 32)
        let octets = try Data(contentsOf: URL(filePath: sealed))
        let keyOctets = Data(
            stride(from: 0, to: 32, by: 2).compactMap { UInt8(key.dropFirst($0).prefix(2), radix: 16) })
        #expect(keyOctets.count == 16 && octets.range(of: keyOctets) == nil)
        #expect(octets.range(of: Data(key.utf8)) == nil)
        #expect(octets.range(of: Data("BA00-K00001".utf8)) == nil)
        for path in [sealed, clear] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }

        // The other machine has only a configuration.
        try FileManager.default.moveItem(atPath: workshop.path("state"), toPath: workshop.path("dead"))
        try workshop.write("wrong", "incorrect horse\n", mode: 0o600)
        let refused = try Self.tryck(workshop, ["import", sealed, "--passphrase-file", workshop.path("wrong")])
        #expect(try refused.status() == 1)
        #expect(refused.text.contains("buttons.tryck cannot be decrypted: the passphrase is wrong"), "\(refused.text)")
        #expect(!FileManager.default.fileExists(atPath: workshop.path("state")))

        let imported = try Self.tryck(workshop, ["import", sealed, "--json"] + secret)
        #expect(try imported.status() == 0, "\(imported.text)")
        let answer = try JSONValue(parsing: imported.text)
        #expect(answer["installation_id"] == contents["installation_id"])
        #expect(answer["buttons"]?.arrayValue?.first?["name"] == "by the stove")
        #expect(answer["buttons"]?.arrayValue?.first?["result"] == "added")
        let again = try Self.tryck(workshop, ["import", clear])
        #expect(try again.status() == 0, "\(again.text)")
        #expect(again.lines.contains { $0.hasPrefix("by the stove") && $0.hasSuffix("kept") }, "\(again.text)")

        #expect(again.text.contains("clear.tryck is not encrypted"))
        let unneeded = try Self.tryck(workshop, ["import", clear] + secret)
        #expect(try unneeded.status() == 64, "\(unneeded.text)")

        let other = try workshop.daemon()
        try other.line(containing: "commands reach it at")
        let buttons = try workshop.tryck(["buttons"])
        #expect(try buttons.status() == 0)
        #expect(buttons.text.contains("by the stove"), "\(buttons.text)")
        button.write("kitchen click")
        try other.line(containing: "by the stove is ready")
        other.stop()

        for program in [daemon, other, early, export, inClear, refused, imported, again, buttons] {
            #expect(!program.text.lowercased().contains(key))
            #expect(!program.text.contains(Self.passphrase))
        }
    }

    @Test("without a database or a paired button nothing is exported")
    func nothing() throws {
        let workshop = try Workshop()
        let file = workshop.path("buttons.tryck")
        let missing = try Self.tryck(workshop, ["export", file, "--clear"])
        #expect(try missing.status() == 69)
        #expect(missing.text.contains("contains no database"), "\(missing.text)")
        #expect(!FileManager.default.fileExists(atPath: workshop.path("state")))

        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "commands reach it at")
        daemon.stop()
        let empty = try Self.tryck(workshop, ["export", file, "--clear"])
        #expect(try empty.status() == 1)
        #expect(empty.text.contains("tryck pair"), "\(empty.text)")
        #expect(!FileManager.default.fileExists(atPath: file))

        try workshop.write("buttons.tryck", #"{"format":"tryck-export","version":1}"#)
        let damaged = try Self.tryck(workshop, ["import", file])
        #expect(try damaged.status() == 1)
        #expect(damaged.text.contains(#"is damaged: "contents" is missing or wrong"#), "\(damaged.text)")
    }

    /// With root, the owner is another user; otherwise it is the user of the tests.
    @Test("the files of an import by root belong to the owner of the directory")
    func owner() throws {
        let workshop = try Workshop()
        let nobody = geteuid() == 0 ? 65534 : Int(geteuid())
        let state = workshop.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.ownerAccountID: nobody, .posixPermissions: 0o700], ofItemAtPath: state)
        try workshop.write(
            "buttons.tryck",
            #"{"format":"tryck-export","version":1,"contents":{"installation_id":"05a1","buttons":[]}}"#)
        let imported = try Self.tryck(workshop, ["import", workshop.path("buttons.tryck")])
        #expect(try imported.status() == 0, "\(imported.text)")
        for name in ["tryck.lock", "tryck.sqlite"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: state + "/" + name)
            #expect(attributes[.ownerAccountID] as? Int == nobody, "\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    /// A button on RootCanal, which outlives the daemon, and the configuration for it.
    private static func buttonOnAir() throws -> (Workshop, Program) {
        let workshop = try Workshop()
        let (port, button, root) = try workshop.buttonsOnAir("kitchen: {public: true, serial: BA00-K00001}")
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: "h4:tcp:127.0.0.1:\(port)", trust_roots: ["\(root)"]}
            mqtt: {broker: none}
            """)
        return (workshop, button)
    }

    private static func tryck(_ workshop: Workshop, _ arguments: [String]) throws -> Program {
        try workshop.start(
            Workshop.built("tryck"), arguments + ["--state-directory", workshop.path("state")],
            environment: ["NO_COLOR": "1"])
    }
}

extension Workshop {
    fileprivate func write(_ name: String, _ text: String, mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: write(name, text))
    }
}
