import ButtonModel
import Bytes
import Hub
import TestSupport
import Testing

@testable import Setup

@Suite("Sealed exports")
struct ExportCipherTests {
    private static let state = ExportedState(
        StoredState(installationID: "05a1", buttons: [button(1, name: "Küche"), button(2)]))

    private static func button(_ number: UInt64, name: String? = nil) -> StoredButton {
        StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + number),
                uuid: "000102030405060708090a0b0c0d0e0f", serial: "BA00-A0000\(number)", nickname: "",
                firmwareVersion: 10),
            name: name, pairing: PairingKey((0..<16).map { 0xA0 + $0 }).map { Pairing(identifier: 7, key: $0) },
            pairedAt: UTCTime(milliseconds: 1_700_000_000_000))
    }

    private static let passphrase = Array("correct horse".utf8)

    private static func seal() throws -> ExportSeal { try #require(ExportSeal(entropy: Array(0..<28), cost: 1024)) }

    @Test("the octets are those that others make of the same: Python's hashlib.scrypt, and AES-GCM of OpenSSL")
    func vector() throws {
        let empty = ExportedState(StoredState(installationID: "05a1"))
        let file = try ExportCipher.seal(empty, with: Self.seal(), passphrase: Self.passphrase)
        let ciphertext = [UInt8](
            hex: "a72d5c7599f48993a0d5bcd8974eb067561bb9e5d0c891c3c036a2cedba4a111920c6e39ce3d"
                + "c1949a357ac8264575102754d62bc939ba")
        #expect(file == .sealed(try Self.seal(), ciphertext: try #require(ciphertext)))
    }

    @Test("with the passphrase it opens, and with no other", arguments: [1024, 1 << 15, 1 << 17] as [UInt64])
    func opens(cost: UInt64) throws {
        let seal = try #require(ExportSeal(entropy: Array(0..<28), cost: cost))
        let file = try ExportCipher.seal(Self.state, with: seal, passphrase: Self.passphrase)
        let ciphertext = try #require(file.ciphertext)
        #expect(try ExportCipher.open(ciphertext, with: seal, passphrase: Self.passphrase) == Self.state)
        for other in ["correct horsE", "correct horse ", ""] {
            #expect(throws: ExportFailure.wrongPassphrase, "\(other)") {
                try ExportCipher.open(ciphertext, with: seal, passphrase: Array(other.utf8))
            }
        }
    }

    @Test("nothing of it can be changed: neither a bit of the ciphertext nor a word before it")
    func authenticated() throws {
        let seal = try Self.seal()
        let ciphertext = try #require(
            ExportCipher.seal(Self.state, with: seal, passphrase: Self.passphrase).ciphertext)
        func expectRefused(_ ciphertext: [UInt8], _ seal: ExportSeal) {
            #expect(throws: ExportFailure.wrongPassphrase) {
                try ExportCipher.open(ciphertext, with: seal, passphrase: Self.passphrase)
            }
        }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<50 {
            var changed = ciphertext
            changed[Int(generator.next() % UInt64(changed.count))] ^= 1 << UInt8(generator.next() % 8)
            expectRefused(changed, seal)
        }
        for length in [0, 1, 15, 16, ciphertext.count - 1] { expectRefused(Array(ciphertext.prefix(length)), seal) }
        var other = seal
        other.nonce[0] ^= 1
        expectRefused(ciphertext, other)
        other = seal
        other.parallelization = 2
        expectRefused(ciphertext, other)
    }

    @Test("neither a key nor its digits are in the file, and nothing that can be printed has them")
    func secrecy() throws {
        let file = try ExportCipher.seal(Self.state, with: Self.seal(), passphrase: Self.passphrase)
        let octets = try file.encoded()
        let text = String(decoding: octets, as: UTF8.self)
        for button in Self.state.buttons {
            let key = try #require(button.pairing?.key.octets)
            #expect(octets.firstRange(of: key) == nil)
            #expect(!text.lowercased().contains(key.hex))
            #expect(!text.contains(button.identity.serial))
        }
        // In the clear they are there: the search above finds what there is to find.
        let clear = String(decoding: try ExportFile.clear(Self.state).encoded(), as: UTF8.self)
        let first = try #require(Self.state.buttons[0].pairing?.key.octets)
        #expect(clear.contains(first.hex))

        var dumped = "\(Self.state) \(String(reflecting: Self.state))"
        dump(Self.state, to: &dumped)
        dump(ImportPlan(Self.state, into: StoredState(installationID: "ffff"), isReplacing: false), to: &dumped)
        #expect(!dumped.contains("160, 161") && !dumped.contains("a0a1"))
    }
}

extension ExportFile {
    fileprivate var ciphertext: [UInt8]? { if case .sealed(_, let ciphertext) = self { ciphertext } else { nil } }
}
