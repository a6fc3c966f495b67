import CCrypto
import Cryptography
package import Hub

/// Encrypts and decrypts the contents of an export, with libcrypto. Blocks for some tenths of a second, because
/// deriving the key is slow on purpose: it makes guessing the passphrase expensive.
package enum ExportCipher {
    /// - Throws: `.noMemory`.
    package static func seal(
        _ state: ExportedState, with seal: ExportSeal, passphrase: [UInt8]
    ) throws(ExportFailure) -> ExportFile {
        let plaintext = ExportFile.plaintext(of: state)
        guard let key = key(of: passphrase, seal),
            let ciphertext = encrypt(plaintext, key, seal, authenticated: ExportFile.authenticated(seal))
        else { throw .noMemory }
        return .sealed(seal, ciphertext: ciphertext)
    }

    /// - Parameter ciphertext: the ciphertext followed by its tag.
    /// - Throws: `.wrongPassphrase`, `.noMemory`; `.badMember` if the decrypted contents are invalid.
    package static func open(
        _ ciphertext: [UInt8], with seal: ExportSeal, passphrase: [UInt8]
    ) throws(ExportFailure) -> ExportedState {
        guard let key = key(of: passphrase, seal) else { throw .noMemory }
        guard let plaintext = decrypt(ciphertext, key, seal, authenticated: ExportFile.authenticated(seal)) else {
            throw .wrongPassphrase
        }
        return try ExportFile.state(fromPlaintext: plaintext)
    }

    private static func key(of passphrase: [UInt8], _ seal: ExportSeal) -> [UInt8]? {
        Digest.scrypt(
            passphrase, salt: seal.salt, cost: seal.cost, blockSize: seal.blockSize,
            parallelization: seal.parallelization)
    }

    private static func encrypt(
        _ plaintext: [UInt8], _ key: [UInt8], _ seal: ExportSeal, authenticated: [UInt8]
    ) -> [UInt8]? {
        guard let length = Int32(exactly: plaintext.count), let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: ExportSeal.tagLength)
        var written: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, seal.nonce) == 1,
            EVP_EncryptUpdate(context, nil, &written, authenticated, Int32(clamping: authenticated.count)) == 1,
            EVP_EncryptUpdate(context, &ciphertext, &written, plaintext, length) == 1,
            // GCM is a stream mode: the final call writes nothing.
            EVP_EncryptFinal_ex(context, nil, &written) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        return ciphertext + tag
    }

    private static func decrypt(
        _ sealed: [UInt8], _ key: [UInt8], _ seal: ExportSeal, authenticated: [UInt8]
    ) -> [UInt8]? {
        let ciphertext = Array(sealed.dropLast(ExportSeal.tagLength))
        var tag = Array(sealed.suffix(ExportSeal.tagLength))
        guard tag.count == ExportSeal.tagLength, let length = Int32(exactly: ciphertext.count),
            let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
        var written: Int32 = 0
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, seal.nonce) == 1,
            EVP_DecryptUpdate(context, nil, &written, authenticated, Int32(clamping: authenticated.count)) == 1,
            EVP_DecryptUpdate(context, &plaintext, &written, ciphertext, length) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_DecryptFinal_ex(context, nil, &written) == 1
        else { return nil }
        return plaintext
    }
}
