import ArgumentParser
import ButtonModel
import Edges
import Foundation
import Hub
import JSON
import Testing

@testable import CommandSupport
@testable import DaemonCommands
@testable import ExportCommands
@testable import Platform

@Suite("Export and import")
struct ExportTests {
    private static func plan(isReplacing: Bool) -> ImportPlan {
        let exported = ExportedState(
            StoredState(installationID: "05a1", buttons: [button(1, "kitchen"), button(2, nil)]))
        let here = StoredState(installationID: "ffff", buttons: [button(1, "Küche")])
        return ImportPlan(exported, into: here, isReplacing: isReplacing)
    }

    private static func button(_ number: UInt64, _ name: String?) -> StoredButton {
        StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + number), uuid: "", serial: "BA00-A0000\(number)",
                nickname: "", firmwareVersion: 10),
            name: name,
            pairing: Pairing(
                identifier: 1, key: PairingKey([UInt8](repeating: 1, count: 16)) ?? { preconditionFailure("16") }()),
            pairedAt: UTCTime(milliseconds: 0))
    }

    @Test("an import says of each button what became of it")
    func table() {
        #expect(
            ImportText.lines(Self.plan(isReplacing: false)).map { $0.rendered(.plain) } == [
                "BUTTON       SERIAL       ADDRESS            NOW",
                "Küche        BA00-A00001  80:E4:DA:00:00:01  kept",
                "BA00-A00002  BA00-A00002  80:E4:DA:00:00:02  added",
                "Start the daemon, and press a button: systemctl start tryck",
            ])
        let again = ImportPlan(
            ExportedState(StoredState(installationID: "05a1", buttons: [Self.button(1, "kitchen")])),
            into: StoredState(installationID: "ffff", buttons: [Self.button(1, "Küche")]), isReplacing: false)
        #expect(
            ImportText.lines(again).last?.rendered(.plain)
                == "Nothing was changed. To replace the known buttons: --replace")
    }

    @Test("the same as JSON, without keys")
    func json() {
        #expect(
            ImportText.json(Self.plan(isReplacing: true)) == [
                "buttons": [
                    [
                        "id": "80e4da000001", "name": "kitchen", "serial": "BA00-A00001", "result": "replaced",
                    ],
                    [
                        "id": "80e4da000002", "name": "BA00-A00002", "serial": "BA00-A00002", "result": "added",
                    ],
                ],
                "installation_id": .null,
            ])
    }

    @Test("a button of another flicd is not exported, and does not count")
    func otherFlicd() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "tryck-test-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = try OfflineStore.change(directory, entropy: 1) { stored in
            let exported = ExportedState(StoredState(installationID: "05a1", buttons: [Self.button(1, "kitchen")]))
            var plan = ImportPlan(exported, into: stored, isReplacing: false)
            (plan.entries[0].button.pairing, plan.entries[0].button.source) = (nil, "attic")
            return plan
        }
        let file = directory + "/buttons.tryck"
        let command = try ExportCommand.parse([file, "--clear", "--state-directory", directory])
        let failure = #expect(throws: Failure.self) { try command.run() }
        #expect(failure?.status == .negativeResult && !FileManager.default.fileExists(atPath: file))
    }

    @Test("a file is made for its owner alone, and one that is there stays unless it is to be replaced")
    func newFile() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/buttons.tryck"
        try NewFile(path, isReplacing: false).write([1, 2, 3])
        #expect(try FileText(reading: path).octets == [1, 2, 3])
        #expect(mode(of: path) == 0o600)

        let exists = Failure(.usage, "\(path) already exists. Specify another file, or replace it with --force.")
        #expect(throws: exists) { try NewFile(path, isReplacing: false) }
        chmod(path, 0o644)
        try NewFile(path, isReplacing: true).write([4])
        #expect(try FileText(reading: path).octets == [4])
        #expect(mode(of: path) == 0o600)
    }

    @Test("what came there since it was looked at stays too; no link is followed, and no device replaced")
    func obstacles() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/buttons.tryck"
        let early = try NewFile(path, isReplacing: false)
        #expect(symlink(directory.path + "/elsewhere", path) == 0)
        #expect(throws: Failure.self) { try early.write([1]) }
        #expect(mode(of: directory.path + "/elsewhere") == nil)
        for path in [path, "/dev/null", directory.path] {
            #expect(
                throws: Failure(
                    .inputOutput, "\(path) is not a regular file and cannot be replaced. Specify another file.")
            ) {
                try NewFile(path, isReplacing: true)
            }
        }
        #expect(
            throws: Failure(
                .inputOutput,
                "\(directory.path)/no/file cannot be written: No such file or directory. Create its directory, or "
                    + "specify another file.")
        ) { try NewFile(directory.path + "/no/file", isReplacing: false).write([1]) }
    }

    @Test("what cannot be replaced stays")
    func stays() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/buttons.tryck"
        try NewFile(path, isReplacing: false).write([1])
        #expect(mkdir(path + ".new", 0o700) == 0)
        #expect(throws: Failure.self) { try NewFile(path, isReplacing: true).write([2]) }
        #expect(try FileText(reading: path).octets == [1])
    }

    private func mode(of path: String) -> mode_t? {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_mode & 0o7777 : nil
    }
}
