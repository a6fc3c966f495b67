import Cryptography

/// The state that both sides of a Noise handshake compute from the handshake messages so far. Its textual descriptions
/// do not show it.
///
/// - Source: Noise Protocol Framework, revision 34, 5.2.
struct SymmetricState: Sendable {
    /// The hash of the handshake messages so far. It is the additional data of the encrypted parts, so decryption fails
    /// if the two sides have not received the same messages.
    private(set) var hash: [UInt8]
    private(set) var chainingKey: [UInt8]
    /// The key of the next encrypted part; `nil` before the first key was mixed in.
    private(set) var cipher: NoiseCipher?

    init(protocolName: String) {
        let name = Array(protocolName.utf8)
        hash =
            name.count > Digest.length
            ? Digest.sha256(name) : name + [UInt8](repeating: 0, count: Digest.length - name.count)
        chainingKey = hash
    }

    mutating func mixHash(_ data: [UInt8]) { hash = Digest.sha256(hash + data) }

    mutating func mixKey(_ material: [UInt8]) throws(ESPHomeFault) {
        let keys = try derivedKeys(from: material)
        chainingKey = keys.first
        cipher = NoiseCipher(key: keys.second)
    }

    mutating func mixKeyAndHash(_ material: [UInt8]) throws(ESPHomeFault) {
        let keys = try derivedKeys(from: material)
        chainingKey = keys.first
        mixHash(keys.second)
        cipher = NoiseCipher(key: keys.third)
    }

    mutating func encryptAndHash(_ plaintext: [UInt8]) throws(ESPHomeFault) -> [UInt8] {
        let ciphertext = try cipher?.encrypt(plaintext, additionalData: hash) ?? plaintext
        mixHash(ciphertext)
        return ciphertext
    }

    mutating func decryptAndHash(_ ciphertext: [UInt8]) throws(ESPHomeFault) -> [UInt8] {
        let plaintext = try cipher?.decrypt(ciphertext, additionalData: hash) ?? ciphertext
        mixHash(ciphertext)
        return plaintext
    }

    /// The ciphers of the session: first from the initiator to the responder, then back.
    func split() throws(ESPHomeFault) -> (fromInitiator: NoiseCipher, fromResponder: NoiseCipher) {
        let keys = try derivedKeys(from: [])
        return (NoiseCipher(key: keys.first), NoiseCipher(key: keys.second))
    }

    /// The first two or three outputs of the HKDF of Noise, from the chaining key and the material.
    ///
    /// - Throws: `cryptographyFailed` if libcrypto fails, which happens only without memory.
    /// - Source: Noise Protocol Framework, revision 34, 4.3.
    private func derivedKeys(
        from material: [UInt8]
    ) throws(ESPHomeFault) -> (first: [UInt8], second: [UInt8], third: [UInt8]) {
        guard let temporary = Digest.hmacSHA256(material, key: chainingKey),
            let first = Digest.hmacSHA256([1], key: temporary),
            let second = Digest.hmacSHA256(first + [2], key: temporary),
            let third = Digest.hmacSHA256(second + [3], key: temporary)
        else { throw .cryptographyFailed }
        return (first, second, third)
    }
}

extension SymmetricState: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
