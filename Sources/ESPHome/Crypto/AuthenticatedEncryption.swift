import CCrypto

/// ChaCha20-Poly1305 by libcrypto. A ciphertext ends with its tag.
///
/// - Source: RFC 8439.
enum AuthenticatedEncryption {
    static let keyLength = 32
    static let nonceLength = 12
    static let tagLength = 16

    /// - Throws: `cryptographyFailed` for a key or a nonce of a wrong length, and if libcrypto fails, which happens
    ///   only without memory.
    static func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], additionalData: [UInt8]
    ) throws(ESPHomeFault) -> [UInt8] {
        guard let context = Context(key: key, nonce: nonce, isEncrypting: true), context.add(additionalData),
            var ciphertext = context.update(plaintext), context.isFinished()
        else { throw .cryptographyFailed }
        var tag = [UInt8](repeating: 0, count: tagLength)
        guard EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1 else {
            throw .cryptographyFailed
        }
        ciphertext += tag
        return ciphertext
    }

    /// - Throws: `tagMismatch` if the ciphertext was not made with this key, nonce and data, or is too short to have a
    ///   tag; otherwise as `seal`.
    static func open(
        _ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8], additionalData: [UInt8]
    ) throws(ESPHomeFault) -> [UInt8] {
        guard ciphertext.count >= tagLength else { throw .tagMismatch }
        var tag = Array(ciphertext.suffix(tagLength))
        guard let context = Context(key: key, nonce: nonce, isEncrypting: false),
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1,
            context.add(additionalData), let plaintext = context.update(Array(ciphertext.dropLast(tagLength)))
        else { throw .cryptographyFailed }
        guard context.isFinished() else { throw .tagMismatch }
        return plaintext
    }

    /// Owns a libcrypto cipher during one call.
    private struct Context: ~Copyable {
        let pointer: OpaquePointer

        init?(key: [UInt8], nonce: [UInt8], isEncrypting: Bool) {
            guard key.count == keyLength, nonce.count == nonceLength, let pointer = EVP_CIPHER_CTX_new() else {
                return nil
            }
            // The length of this cipher's nonce is 12 octets from the beginning.
            guard EVP_CipherInit_ex(pointer, EVP_chacha20_poly1305(), nil, key, nonce, isEncrypting ? 1 : 0) == 1
            else {
                EVP_CIPHER_CTX_free(pointer)
                return nil
            }
            self.pointer = pointer
        }

        deinit { EVP_CIPHER_CTX_free(pointer) }

        func add(_ additionalData: [UInt8]) -> Bool {
            guard let length = Int32(exactly: additionalData.count) else { return false }
            var written: Int32 = 0
            return length == 0 || EVP_CipherUpdate(pointer, nil, &written, additionalData, length) == 1
        }

        /// The input's other form, which has the same length.
        func update(_ input: [UInt8]) -> [UInt8]? {
            guard let length = Int32(exactly: input.count) else { return nil }
            guard length > 0 else { return [] }
            var output = [UInt8](repeating: 0, count: input.count)
            var written: Int32 = 0
            guard EVP_CipherUpdate(pointer, &output, &written, input, length) == 1, written == length else {
                return nil
            }
            return output
        }

        /// False if the tag does not fit.
        func isFinished() -> Bool {
            // A stream cipher writes nothing here; the room is for the interface's general case.
            var rest = [UInt8](repeating: 0, count: 16)
            var written: Int32 = 0
            return EVP_CipherFinal_ex(pointer, &rest, &written) == 1
        }
    }
}
