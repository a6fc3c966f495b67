import ButtonModel
import Cryptography
import JSON
import TestSupport
import Testing

@testable import Flic

@Suite("Certificates of buttons")
struct CertificateTests {
    @Test("a certificate's signature is valid with exactly the variant that the button did not transmit")
    func variants() throws {
        let root = try Vectors.load("ed25519-variants").octets("root_public_key")
        for vector in try Vectors.cases("ed25519-variants", "valid") {
            let certificate = try Certificate(vector)
            let result = try #require(vector["result"])
            try #expect(certificate.variant(signedBy: [root]) == result.integer("variant"))
        }
    }

    @Test("a certificate that was altered, signed by another key or has a scalar out of range is refused")
    func negatives() throws {
        let root = try Vectors.load("ed25519-variants").octets("root_public_key")
        for vector in try Vectors.cases("ed25519-variants", "negative") {
            let certificate = try Certificate(vector)
            let why = try vector.text("why")
            #expect(certificate.variant(signedBy: [root]) == nil, "\(why)")
        }
    }

    @Test("a certificate may be signed by any of the roots, and without a root none is trusted")
    func roots() throws {
        let root = try Vectors.load("ed25519-variants").octets("root_public_key")
        let vector = try #require(try Vectors.cases("ed25519-variants", "valid").first)
        let certificate = try Certificate(vector)
        #expect(certificate.variant(signedBy: [ButtonSession.flicRoot, root]) != nil)
        #expect(certificate.variant(signedBy: [ButtonSession.flicRoot]) == nil)
        #expect(certificate.variant(signedBy: [[1, 2, 3]]) == nil)
        #expect(certificate.variant(signedBy: []) == nil)
    }

    @Test("the trusted root key is the manufacturer's")
    func flicRoot() throws {
        try #expect(ButtonSession.flicRoot == Vectors.load("test-root").octets("real_flic2_root_public_key"))
    }

    @Test(
        "an issued certificate is valid for its address, and the two low bits of its scalar are cleared",
        arguments: 0..<16)
    func issue(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rootSeed = generator.bytes(32)
        let address = BluetoothAddress(rawValue: generator.next(), kind: seed % 2 == 0 ? .public : .random)
        let issued = try #require(Certificate.issue(to: address, publicKey: generator.bytes(32), rootSeed: rootSeed))
        #expect(issued.certificate.signature[32] & 3 == 0)
        #expect(issued.certificate.isIssued(to: address))
        #expect(!issued.certificate.isIssued(to: BluetoothAddress(rawValue: address.rawValue ^ 1, kind: address.kind)))
        let root = try #require(Curve25519.signingPublicKey(seed: rootSeed))
        #expect(issued.certificate.variant(signedBy: [root]) == issued.variant)
    }

    @Test("the root key of the vectors belongs to its seed")
    func testRoot() throws {
        let root = try Vectors.load("test-root")
        try #expect(
            FlicPeripheral.rootPublicKey(seed: root.octets("ed25519_seed")) == root.octets("ed25519_public_key"))
        #expect(FlicPeripheral.rootPublicKey(seed: [1]) == [])
    }
}

extension Certificate {
    /// Makes a certificate from a vector's `message` and `transmitted_signature`.
    init(_ vector: JSONValue) throws {
        let message = try vector.octets("message")
        self.init(
            signature: try vector.octets("transmitted_signature"), addressOctets: Array(message.prefix(6)),
            addressKind: message[6], publicKey: Array(message.dropFirst(7)))
    }
}
