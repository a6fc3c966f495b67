import ButtonModel
import Bytes
import Cryptography

/// The master secret of a full verify. All keys are derived from it by HMAC-SHA-256 with a label. It is
///
///     SHA-256( shared secret | variant | button random | host random | flags )
///
/// It is neither sent nor printed.
///
/// - Source: protocol notes, 5.3.
struct MasterSecret: Sendable {
    let octets: [UInt8]

    /// Wraps a master secret that is already known.
    init(octets: [UInt8]) { self.octets = octets }

    /// Derives the master secret; `nil` unless the keys have 32 octets and the public key is not of small order.
    ///
    /// - Parameters:
    ///   - flags: the flags of the FullVerifyRequest2.
    init?(
        privateKey: [UInt8], publicKey: [UInt8], variant: UInt8, buttonRandom: [UInt8], hostRandom: [UInt8],
        flags: UInt8
    ) {
        guard let shared = Curve25519.sharedSecret(privateKey: privateKey, publicKey: publicKey) else { return nil }
        octets = Digest.sha256(shared + [variant] + buttonRandom + hostRandom + [flags])
    }

    /// The verifier, 16 octets, which proves to the button that the host knows the master secret.
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
    /// The token of a TestIfReallyUnpairedRequest and its two possible results, 16 octets each.
    ///
    /// - Source: protocol notes, 5.5.
    struct UnpairedProof: Sendable {
        /// Sent by the host; depends on the pairing in question.
        var token: [UInt8]
        /// The result of a button that knows the pairing.
        var exists: [UInt8]
        /// The result of a button that does not know the pairing.
        var notExists: [UInt8]
    }

    func unpairedProof(of pairing: Pairing) -> UnpairedProof? {
        guard let token = derive("PT", pairing.octets, count: 16), let exists = derive("EX", token, count: 16),
            let notExists = denial(of: token)
        else { return nil }
        return UnpairedProof(token: token, exists: exists, notExists: notExists)
    }

    /// The result of a button that does not know the pairing with this token.
    func denial(of token: [UInt8]) -> [UInt8]? { derive("NE", token, count: 16) }
}

extension SessionKey {
    /// Derives the session key of a quick verify; `nil` if a random has a wrong length.
    ///
    /// - Parameters:
    ///   - hostRandom: 7 octets.
    ///   - flags: the flags of the QuickVerifyRequest.
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
    /// Decodes the identifier, 4 octets, and the key, 16 octets; `nil` if there are fewer or more octets.
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
