import JSON
import Testing

@testable import Flic

@Suite("Chaskey signatures")
struct ChaskeyTests {
    @Test("the two subkeys are the key doubled once and twice")
    func subkeys() throws {
        for vector in try Vectors.cases("chaskey-subkeys") {
            let key = try #require(SessionKey(vector.octets("key")))
            let subkeys = Chaskey.subkeys(of: key)
            try #expect(subkeys.key == vector.octets("k"))
            try #expect(subkeys.full == vector.octets("k1"))
            try #expect(subkeys.short == vector.octets("k2"))
        }
    }

    @Test("a block has the tag that both references compute")
    func block() throws {
        for vector in try Vectors.cases("chaskey-16") {
            let key = try #require(SessionKey(vector.octets("key")))
            try #expect(Chaskey(key).tag(of: vector.octets("message")) == vector.octets("tag"))
        }
    }

    @Test("a packet has the signature that both references compute, for every length, direction and counter")
    func signature() throws {
        for vector in try Vectors.cases("chaskey-mac") {
            let key = try #require(SessionKey(vector.octets("key")))
            let sender = try #require(Chaskey.Sender(rawValue: vector.integer("direction")))
            let counter = try #require(UInt64(vector.text("counter")))
            let signature = Chaskey.octets(
                ofSignature: Chaskey(key).signature(
                    of: try vector.octets("message")[...], from: sender, counter: counter))
            try #expect(signature == vector.octets("tag"))
        }
    }

    @Test("a signature in octets is the same number again, in the middle of a packet, too")
    func signatureOctets() {
        #expect(Chaskey.octets(ofSignature: 0x05_0403_0201) == [1, 2, 3, 4, 5])
        for signature: UInt64 in [0, 1, 0x80, 0x05_0403_0201, 0xFF_FFFF_FFFF] {
            let packet = [9, 9, 9] + Chaskey.octets(ofSignature: signature) + [9]
            #expect(Chaskey.signature(from: packet[3..<8]) == signature)
        }
        #expect(Chaskey.signature(from: []) == 0 && Chaskey.signature(from: [1, 2][...]) == 0x0201)
    }

    @Test("a key whose length is not 16 octets is refused", arguments: [0, 15, 17, 32])
    func keyLength(length: Int) {
        #expect(SessionKey([UInt8](repeating: 1, count: length)) == nil)
    }

    @Test("the description of a key does not contain the key")
    func redaction() throws {
        let key = try #require(SessionKey([UInt8](repeating: 0xAB, count: 16)))
        var text = "\(key) \(String(reflecting: key)) \(Chaskey(key)) \(String(reflecting: Chaskey(key)))"
        dump(key, to: &text)
        dump(Chaskey(key), to: &text)
        #expect(!text.contains("171") && !text.lowercased().contains("ab"))
    }
}
