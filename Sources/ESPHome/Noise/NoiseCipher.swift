import Bytes

/// The encryption of one direction of a Noise session: a key, and a nonce that counts its messages. Its textual
/// descriptions do not show them.
///
/// - Source: Noise Protocol Framework, revision 34, 5.1 and 12.3.
struct NoiseCipher: Sendable {
    let key: [UInt8]
    private var count: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    mutating func encrypt(_ plaintext: [UInt8], additionalData: [UInt8] = []) throws(ESPHomeFault) -> [UInt8] {
        try AuthenticatedEncryption.seal(plaintext, key: key, nonce: nextNonce(), additionalData: additionalData)
    }

    mutating func decrypt(_ ciphertext: [UInt8], additionalData: [UInt8] = []) throws(ESPHomeFault) -> [UInt8] {
        try AuthenticatedEncryption.open(ciphertext, key: key, nonce: nextNonce(), additionalData: additionalData)
    }

    /// Four zero octets, and the counter as eight octets in little endian.
    private mutating func nextNonce() throws(ESPHomeFault) -> [UInt8] {
        // A nonce must not be used twice. The counter cannot overflow in practice, so the failure has no text of its
        // own.
        guard count < .max else { throw .cryptographyFailed }
        defer { count += 1 }
        var writer = ByteWriter(capacity: AuthenticatedEncryption.nonceLength)
        writer.uint32(0)
        writer.uint64(count)
        return writer.bytes
    }
}

extension NoiseCipher: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
