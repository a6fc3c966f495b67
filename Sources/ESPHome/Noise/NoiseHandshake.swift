import Bytes
import Cryptography

/// The two messages of `Noise_NNpsk0_25519_ChaChaPoly_SHA256`. Both have an empty payload, so each is an ephemeral
/// public key and a tag.
///
///     → psk, e
///     ← e, ee
///
/// - Source: Noise Protocol Framework, revision 34, 7.4 and 9.
struct NoiseHandshake: Sendable {
    static let protocolName = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"
    static let messageLength = Curve25519.keyLength + AuthenticatedEncryption.tagLength

    /// The text that a handshake of this API begins with, then the client's hello as it was sent.
    static func prologue(clientHello: [UInt8]) -> [UInt8] {
        Array("NoiseAPIInit".utf8)
            + [UInt8(truncatingIfNeeded: clientHello.count >> 8), UInt8(truncatingIfNeeded: clientHello.count)]
            + clientHello
    }

    private(set) var state: SymmetricState
    private let privateKey: [UInt8]
    private let publicKey: [UInt8]

    /// - Throws: `wrongEntropy` unless the private key has 32 octets.
    init(key: ESPHomeKey, clientHello: [UInt8], ephemeralPrivateKey: [UInt8]) throws(ESPHomeFault) {
        guard let publicKey = Curve25519.agreementPublicKey(privateKey: ephemeralPrivateKey) else {
            throw .wrongEntropy
        }
        privateKey = ephemeralPrivateKey
        self.publicKey = publicKey
        state = SymmetricState(protocolName: Self.protocolName)
        state.mixHash(Self.prologue(clientHello: clientHello))
        try state.mixKeyAndHash(key.octets)
    }

    mutating func firstMessage() throws(ESPHomeFault) -> [UInt8] {
        try mixEphemeral(publicKey)
        return publicKey + (try state.encryptAndHash([]))
    }

    /// - Throws: `tagMismatch` if the initiator has another key.
    mutating func readFirstMessage(_ message: [UInt8]) throws(ESPHomeFault) -> [UInt8] {
        let (ephemeral, tag) = try Self.parts(of: message)
        try mixEphemeral(ephemeral)
        _ = try state.decryptAndHash(tag)
        return ephemeral
    }

    /// - Parameter peer: the initiator's ephemeral key.
    mutating func secondMessage(to peer: [UInt8]) throws(ESPHomeFault) -> [UInt8] {
        try mixEphemeral(publicKey)
        try mixSharedSecret(with: peer)
        return publicKey + (try state.encryptAndHash([]))
    }

    /// - Throws: `tagMismatch` if the responder has another key or has not heard what was sent.
    mutating func readSecondMessage(_ message: [UInt8]) throws(ESPHomeFault) {
        let (ephemeral, tag) = try Self.parts(of: message)
        try mixEphemeral(ephemeral)
        try mixSharedSecret(with: ephemeral)
        _ = try state.decryptAndHash(tag)
    }

    func split() throws(ESPHomeFault) -> (fromInitiator: NoiseCipher, fromResponder: NoiseCipher) {
        try state.split()
    }

    /// In handshakes with a shared key, an ephemeral key is mixed into the keys as well.
    private mutating func mixEphemeral(_ key: [UInt8]) throws(ESPHomeFault) {
        state.mixHash(key)
        try state.mixKey(key)
    }

    private mutating func mixSharedSecret(with peer: [UInt8]) throws(ESPHomeFault) {
        guard let secret = Curve25519.sharedSecret(privateKey: privateKey, publicKey: peer) else {
            throw .weakEphemeralKey
        }
        try state.mixKey(secret)
    }

    private static func parts(of message: [UInt8]) throws(ESPHomeFault) -> (ephemeral: [UInt8], tag: [UInt8]) {
        guard message.count == messageLength else { throw .malformed(.handshakeLength(message.count)) }
        return (Array(message.prefix(Curve25519.keyLength)), Array(message.dropFirst(Curve25519.keyLength)))
    }
}

extension NoiseHandshake: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
