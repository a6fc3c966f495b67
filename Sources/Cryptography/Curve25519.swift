import CCrypto

/// X25519 and Ed25519 by libcrypto. All lengths are checked here, because the C functions read a fixed number of
/// octets.
///
/// - Source: RFC 7748 and RFC 8032.
package enum Curve25519 {
    /// The length of private keys, public keys and shared secrets, in octets.
    package static let keyLength = 32
    package static let signatureLength = 64

    /// The X25519 public key of a private key; `nil` unless the private key has 32 octets.
    package static func agreementPublicKey(privateKey: [UInt8]) -> [UInt8]? {
        guard let key = PrivateKey(privateKey, type: EVP_PKEY_X25519) else { return nil }
        return key.publicKey
    }

    /// The shared secret of an X25519 agreement; `nil` for keys of a wrong length, and for a public key of small order,
    /// with which the secret would be predictable.
    package static func sharedSecret(privateKey: [UInt8], publicKey: [UInt8]) -> [UInt8]? {
        guard let own = PrivateKey(privateKey, type: EVP_PKEY_X25519),
            let peer = PublicKey(publicKey, type: EVP_PKEY_X25519),
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

    /// The Ed25519 public key of a seed; `nil` unless the seed has 32 octets.
    package static func signingPublicKey(seed: [UInt8]) -> [UInt8]? {
        guard let key = PrivateKey(seed, type: EVP_PKEY_ED25519) else { return nil }
        return key.publicKey
    }

    /// The Ed25519 signature of a message: R and S, 64 octets. `nil` unless the seed has 32 octets.
    package static func sign(_ message: [UInt8], seed: [UInt8]) -> [UInt8]? {
        guard let key = PrivateKey(seed, type: EVP_PKEY_ED25519), let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1 else { return nil }
        var signature = [UInt8](repeating: 0, count: signatureLength)
        var length = signature.count
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == signatureLength
        else { return nil }
        return signature
    }

    /// Verifies an Ed25519 signature strictly: a scalar S that is not canonical is rejected.
    package static func isValid(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureLength, let key = PublicKey(publicKey, type: EVP_PKEY_ED25519),
            let context = EVP_MD_CTX_new()
        else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key.pointer) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

extension Curve25519 {
    /// Owns a libcrypto key during one call.
    private struct PrivateKey: ~Copyable {
        let pointer: OpaquePointer

        init?(_ octets: [UInt8], type: Int32) {
            guard octets.count == keyLength,
                let pointer = EVP_PKEY_new_raw_private_key(type, nil, octets, octets.count)
            else { return nil }
            self.pointer = pointer
        }

        deinit { EVP_PKEY_free(pointer) }

        var publicKey: [UInt8]? {
            var octets = [UInt8](repeating: 0, count: keyLength)
            var length = octets.count
            guard EVP_PKEY_get_raw_public_key(pointer, &octets, &length) == 1, length == keyLength else { return nil }
            return octets
        }
    }

    /// Owns a libcrypto key during one call.
    private struct PublicKey: ~Copyable {
        let pointer: OpaquePointer

        init?(_ octets: [UInt8], type: Int32) {
            guard octets.count == keyLength,
                let pointer = EVP_PKEY_new_raw_public_key(type, nil, octets, octets.count)
            else { return nil }
            self.pointer = pointer
        }

        deinit { EVP_PKEY_free(pointer) }
    }
}
