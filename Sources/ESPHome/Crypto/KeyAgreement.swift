import CCrypto

/// X25519 by libcrypto. All lengths are checked here, because the C functions read a fixed number of octets.
///
/// - Source: RFC 7748.
enum KeyAgreement {
    /// The length of private keys, public keys and shared secrets, in octets.
    static let keyLength = 32

    /// The public key of a private key; `nil` unless the private key has 32 octets.
    static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        guard let key = Key(privateKey: privateKey) else { return nil }
        var octets = [UInt8](repeating: 0, count: keyLength)
        var length = octets.count
        guard EVP_PKEY_get_raw_public_key(key.pointer, &octets, &length) == 1, length == keyLength else { return nil }
        return octets
    }

    /// The shared secret; `nil` for keys of a wrong length, and for a public key of small order, with which the secret
    /// would be zero and therefore known to everybody.
    static func sharedSecret(privateKey: [UInt8], publicKey: [UInt8]) -> [UInt8]? {
        guard let own = Key(privateKey: privateKey), let peer = Key(publicKey: publicKey),
            let context = EVP_PKEY_CTX_new(own.pointer, nil)
        else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer.pointer) == 1 else {
            return nil
        }
        var secret = [UInt8](repeating: 0, count: keyLength)
        var length = secret.count
        // libcrypto refuses a zero secret. The second test does not rely on that.
        guard EVP_PKEY_derive(context, &secret, &length) == 1, length == keyLength, secret.contains(where: { $0 != 0 })
        else { return nil }
        return secret
    }

    /// Owns a libcrypto key during one call.
    private struct Key: ~Copyable {
        let pointer: OpaquePointer

        init?(privateKey octets: [UInt8]) {
            guard octets.count == keyLength,
                let pointer = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, octets, octets.count)
            else { return nil }
            self.pointer = pointer
        }

        init?(publicKey octets: [UInt8]) {
            guard octets.count == keyLength,
                let pointer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, octets, octets.count)
            else { return nil }
            self.pointer = pointer
        }

        deinit { EVP_PKEY_free(pointer) }
    }
}
