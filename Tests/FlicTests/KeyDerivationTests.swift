import ButtonModel
import Cryptography
import JSON
import Testing

@testable import Flic

@Suite("Key derivation")
struct KeyDerivationTests {
    @Test("a full verify derives the same keys on both sides")
    func fullVerify() throws {
        for vector in try Vectors.cases("full-verify") {
            let sides = [("host_private", "button_static_public"), ("button_static_private", "host_public")]
            for (privateKey, publicKey) in sides {
                let master = try #require(
                    MasterSecret(
                        privateKey: vector.octets(privateKey), publicKey: vector.octets(publicKey),
                        variant: vector.integer("variant"), buttonRandom: vector.octets("button_random"),
                        hostRandom: vector.octets("host_random"), flags: vector.integer("flags")))
                try #expect(master.octets == vector.octets("master_secret"))
                try #expect(master.verifier() == vector.octets("verifier"))
                try #expect(master.sessionKey?.octets == vector.octets("session_key"))
                try #expect(master.pairing?.identifier == vector.integer("pairing_identifier"))
                try #expect(master.pairing?.key.octets == vector.octets("pairing_key"))
                let appToken = try #require(vector["app_token"])
                let encrypted = try appToken.octets("encrypted_app_token")
                try #expect(master.verifier(encryptedAppToken: encrypted) == appToken.octets("verifier"))
            }
        }
    }

    @Test("a private key has the public key of the vectors")
    func publicKeys() throws {
        for vector in try Vectors.cases("full-verify") {
            try #expect(
                Curve25519.agreementPublicKey(privateKey: vector.octets("host_private")) == vector.octets("host_public")
            )
            try #expect(
                Curve25519.sharedSecret(
                    privateKey: vector.octets("host_private"), publicKey: vector.octets("button_static_public"))
                    == vector.octets("shared_secret"))
        }
    }

    @Test("a quick verify derives the session key, and the button's response has the first signature")
    func quickVerify() throws {
        for vector in try Vectors.cases("quick-verify") {
            let key = try #require(PairingKey(vector.octets("pairing_key")))
            let session = try #require(
                SessionKey(
                    quickVerify: key, hostRandom: vector.octets("host_random7"), flags: vector.integer("flags"),
                    buttonRandom: vector.octets("button_random8")))
            try #expect(session.octets == vector.octets("session_key"))
            let response = try vector.octets("quick_verify_response_body")
            let signature = Chaskey.octets(
                ofSignature: Chaskey(session).signature(of: response[...], from: .button, counter: 0))
            try #expect(signature == vector.octets("response_mac"))
        }
    }

    /// The reference host checks "exists" over 16 octets of the pairing; ours checks it over the token (5.5).
    @Test("the proofs that a button knows or does not know a pairing are computed over the token")
    func unpairedProof() throws {
        for vector in try Vectors.cases("test-unpaired") {
            let pairing = try #require(Pairing(octets: vector.octets("stored_pairing")))
            let master = try MasterSecret(octets: vector.octets("master_secret"))
            let proof = try #require(master.unpairedProof(of: pairing))
            try #expect(proof.token == vector.octets("pairing_token"))
            try #expect(proof.notExists == vector.octets("not_exists_NE"))
            try #expect(proof.exists == vector.octets("exists_EX_over_token"))
            try #expect(proof.exists != vector.octets("exists_EX_c_module_variant"))
        }
    }

    @Test("random numbers of a wrong length derive no key")
    func wrongLengths() throws {
        let pairingKey = try #require(PairingKey([UInt8](repeating: 1, count: 16)))
        #expect(SessionKey(quickVerify: pairingKey, hostRandom: [1], flags: 0, buttonRandom: [2]) == nil)
    }
}
