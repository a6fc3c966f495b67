import Cryptography
import Testing

@Suite("Cryptography")
struct CryptographyTests {
    @Test("keys of a wrong length are refused")
    func wrongLengths() {
        let key = [UInt8](repeating: 7, count: 32)
        for length in [0, 1, 31, 33] {
            let wrong = [UInt8](repeating: 7, count: length)
            #expect(Curve25519.agreementPublicKey(privateKey: wrong) == nil)
            #expect(Curve25519.sharedSecret(privateKey: wrong, publicKey: key) == nil)
            #expect(Curve25519.sharedSecret(privateKey: key, publicKey: wrong) == nil)
            #expect(Curve25519.sign([1], seed: wrong) == nil)
            #expect(!Curve25519.isValid(wrong, of: [1], publicKey: key))
        }
    }

    @Test("a public key of small order, which would give a secret that an eavesdropper knows, is refused")
    func smallOrder() {
        let key = [UInt8](repeating: 7, count: 32)
        #expect(Curve25519.sharedSecret(privateKey: key, publicKey: [UInt8](repeating: 0, count: 32)) == nil)
    }

    @Test("the constant-time comparison is true only for the same length and octets")
    func constantTime() {
        #expect(Digest.isEqualInConstantTime([1, 2, 3], [1, 2, 3]))
        #expect(!Digest.isEqualInConstantTime([1, 2, 3], [1, 2, 4]))
        #expect(!Digest.isEqualInConstantTime([1, 2, 3], [1, 2]))
        #expect(Digest.isEqualInConstantTime([], []))
    }

    /// - Source: FIPS 180-4, examples of the algorithms; the last one has two blocks of padding.
    @Test(
        "the digest is that of the standard",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func digest(message: String, digest: String) {
        let digits = Digest.sha256(Array(message.utf8)).map { octet in
            let text = String(octet, radix: 16)
            return octet < 16 ? "0" + text : text
        }
        #expect(digits.joined() == digest)
    }
}
