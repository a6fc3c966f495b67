import ButtonModel
import Bytes

/// What a full verify agrees on. Everything else follows from it by HMAC with a label.
///
///     SHA-256( shared secret | variant | button random | host random | flags )
///
/// Neither side ever sends it or prints it.
///
/// - Source: protocol notes, 5.3.
struct MasterSecret: Sendable {
    let octets: [UInt8]

    /// Of a secret that is known already.
    init(octets: [UInt8]) { self.octets = octets }

    /// `nil` unless the keys have 32 octets and the public one is no point of small order.
    ///
    /// - Parameters:
    ///   - flags: those of the FullVerifyRequest2 that is sent.
    init?(
        privateKey: [UInt8], publicKey: [UInt8], variant: UInt8, buttonRandom: [UInt8], hostRandom: [UInt8],
        flags: UInt8
    ) {
        guard let shared = Curve25519.sharedSecret(privateKey: privateKey, publicKey: publicKey) else { return nil }
        octets = Digest.sha256(shared + [variant] + buttonRandom + hostRandom + [flags])
    }

    /// 16 octets that prove to the button that the host knows the secret.
    func verifier(encryptedAppToken: [UInt8] = []) -> [UInt8]? { derive("AT", encryptedAppToken, count: 16) }

    var sessionKey: SessionKey? { derive("SK", count: 16).flatMap(SessionKey.init) }

    var pairing: Pairing? {
        guard let octets = derive("PK", count: 20) else { return nil }
        return Pairing(octets: octets)
    }

    private func derive(_ label: StaticString, _ more: [UInt8] = [], count: Int) -> [UInt8]? {
        Digest.hmacSHA256(Array("\(label)".utf8) + more, key: octets).map { Array($0.prefix(count)) }
    }
}

extension MasterSecret {
    /// What a button answers to the question whether it really forgot a pairing.
    ///
    /// - Source: protocol notes, 5.5.
    struct UnpairedProof: Sendable {
        /// The host's part: it shows which pairing it asks about.
        var token: [UInt8]
        /// The answer of a button that knows the pairing.
        var exists: [UInt8]
        /// The answer of a button that does not.
        var notExists: [UInt8]
    }

    func unpairedProof(of pairing: Pairing) -> UnpairedProof? {
        guard let token = derive("PT", pairing.octets, count: 16), let exists = derive("EX", token, count: 16),
            let notExists = denial(of: token)
        else { return nil }
        return UnpairedProof(token: token, exists: exists, notExists: notExists)
    }

    /// The answer of a button that knows no pairing with this token.
    func denial(of token: [UInt8]) -> [UInt8]? { derive("NE", token, count: 16) }
}

extension SessionKey {
    /// The key of a session that begins with a quick verify.
    ///
    /// - Parameters:
    ///   - hostRandom: 7 octets.
    ///   - flags: those of the QuickVerifyRequest.
    ///   - buttonRandom: 8 octets.
    /// - Source: protocol notes, 5.4.
    init?(quickVerify key: PairingKey, hostRandom: [UInt8], flags: UInt8, buttonRandom: [UInt8]) {
        guard hostRandom.count == 7, buttonRandom.count == 8, let pairingKey = SessionKey(key.octets) else {
            return nil
        }
        self.init(Chaskey(pairingKey).tag(of: hostRandom + [flags] + buttonRandom))
    }
}

extension Pairing {
    /// The identifier, then the key: 20 octets.
    init?(octets: [UInt8]) {
        var reader = ByteReader(octets)
        guard let identifier = try? reader.uint32(), let key = PairingKey(reader.remainder()) else { return nil }
        self.init(identifier: identifier, key: key)
    }

    fileprivate var octets: [UInt8] {
        var writer = ByteWriter(capacity: 20)
        writer.uint32(identifier)
        writer.bytes(key.octets)
        return writer.bytes
    }
}

extension MasterSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
