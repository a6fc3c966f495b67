import Bytes
import CCrypto

/// SHA-256, HMAC, X25519 and ChaCha20-Poly1305 by libcrypto, for the Noise handshake. All lengths are checked here.
enum NoiseCrypto {
    /// The length of keys, hashes and shared secrets in octets.
    static let keyLength = 32
    static let tagLength = 16

    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: keyLength)
        SHA256(message, message.count, &digest)
        return digest
    }

    /// HKDF of the Noise specification, section 4.3; `nil` if libcrypto fails.
    static func hkdf(_ chainingKey: [UInt8], _ input: [UInt8], count: Int) -> [[UInt8]]? {
        guard let temporary = hmac(input, key: chainingKey) else { return nil }
        var outputs: [[UInt8]] = []
        var previous: [UInt8] = []
        for index in 1...count {
            guard let output = hmac(previous + [UInt8(index)], key: temporary) else { return nil }
            outputs.append(output)
            previous = output
        }
        return outputs
    }

    private static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard let length = Int32(exactly: key.count) else { return nil }
        var code = [UInt8](repeating: 0, count: keyLength)
        var written: UInt32 = 0
        guard HMAC(EVP_sha256(), key, length, message, message.count, &code, &written) != nil, written == 32 else {
            return nil
        }
        return code
    }

    /// The X25519 public key; `nil` unless the private key has 32 octets.
    static func publicKey(privateKey: [UInt8]) -> [UInt8]? {
        guard privateKey.count == keyLength,
            let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, privateKey, keyLength)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        var octets = [UInt8](repeating: 0, count: keyLength)
        var length = keyLength
        guard EVP_PKEY_get_raw_public_key(key, &octets, &length) == 1, length == keyLength else { return nil }
        return octets
    }

    /// The X25519 shared secret; `nil` for keys of a wrong length and for a public key of small order.
    static func sharedSecret(privateKey: [UInt8], publicKey: [UInt8]) -> [UInt8]? {
        guard privateKey.count == keyLength, publicKey.count == keyLength,
            let own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, privateKey, keyLength)
        else { return nil }
        defer { EVP_PKEY_free(own) }
        guard let peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, keyLength) else { return nil }
        defer { EVP_PKEY_free(peer) }
        guard let context = EVP_PKEY_CTX_new(own, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1 else { return nil }
        var secret = [UInt8](repeating: 0, count: keyLength)
        var length = keyLength
        guard EVP_PKEY_derive(context, &secret, &length) == 1, length == keyLength, secret.contains(where: { $0 != 0 })
        else { return nil }
        return secret
    }

    /// The ciphertext with its tag; `nil` if libcrypto fails.
    static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: UInt64, data: [UInt8]) -> [UInt8]? {
        guard key.count == keyLength, let size = Int32(exactly: plaintext.count),
            let dataSize = Int32(exactly: data.count), let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: tagLength)
        var written: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_chacha20_poly1305(), nil, key, octets(of: nonce)) == 1,
            EVP_EncryptUpdate(context, nil, &written, data, dataSize) == 1,
            EVP_EncryptUpdate(context, &output, &written, plaintext, size) == 1, written == size,
            EVP_EncryptFinal_ex(context, &tag, &written) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
        else { return nil }
        return output + tag
    }

    /// The plaintext; `nil` unless the tag is right.
    static func open(_ ciphertext: [UInt8], key: [UInt8], nonce: UInt64, data: [UInt8]) -> [UInt8]? {
        guard key.count == keyLength, ciphertext.count >= tagLength, let dataSize = Int32(exactly: data.count),
            let size = Int32(exactly: ciphertext.count - tagLength), let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let body = Array(ciphertext.dropLast(tagLength))
        var tag = Array(ciphertext.suffix(tagLength))
        var output = [UInt8](repeating: 0, count: body.count)
        var rest = [UInt8](repeating: 0, count: tagLength)
        var written: Int32 = 0
        guard EVP_DecryptInit_ex(context, EVP_chacha20_poly1305(), nil, key, octets(of: nonce)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1,
            EVP_DecryptUpdate(context, nil, &written, data, dataSize) == 1,
            EVP_DecryptUpdate(context, &output, &written, body, size) == 1, written == size,
            EVP_DecryptFinal_ex(context, &rest, &written) == 1
        else { return nil }
        return output
    }

    /// The nonce of the AEAD: four zero octets, then the counter, little endian.
    private static func octets(of nonce: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 12)
        writer.uint32(0)
        writer.uint64(nonce)
        return writer.bytes
    }
}

/// The key of an ESPHome device, 32 octets. Its descriptions do not show it.
package struct ESPHomeKey: Hashable, Sendable {
    let octets: [UInt8]

    /// `nil` unless there are 32 octets.
    package init?(_ octets: [UInt8]) {
        guard octets.count == NoiseCrypto.keyLength else { return nil }
        self.octets = octets
    }

    /// Parses the key as ESPHome's configuration writes it: base64 of 32 octets, with padding.
    package init?(base64 text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard characters.count == 44, characters.last == UInt8(ascii: "=") else { return nil }
        var octets: [UInt8] = []
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for character in characters.dropLast() {
            guard let value = Self.base64Value(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= 1 << count - 1
        }
        guard bits == 0 else { return nil }
        self.init(octets)
    }

    private static func base64Value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension ESPHomeKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
