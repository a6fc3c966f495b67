import CCrypto

/// SHA-256, HMAC-SHA-256, scrypt and the comparison of secrets, by libcrypto.
package enum Digest {
    package static let length = 32

    /// - Source: FIPS 180-4.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        SHA256(message, message.count, &digest)
        return digest
    }

    /// The key that scrypt derives from a password, slowly on purpose; `nil` without memory.
    ///
    /// - Source: RFC 7914.
    package static func scrypt(
        _ password: [UInt8], salt: [UInt8], cost: UInt64, blockSize: UInt64, parallelization: UInt64
    ) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: length)
        // libcrypto's own limit of memory, 32 MiB, is too small for some parameters.
        let memory = 128 * blockSize * (cost + parallelization + 2)
        let isDerived = password.withUnsafeBytes { octets in
            EVP_PBE_scrypt(
                octets.baseAddress?.assumingMemoryBound(to: CChar.self), octets.count, salt, salt.count, cost,
                blockSize, parallelization, memory, &key, key.count)
        }
        return isDerived == 1 ? key : nil
    }

    /// The HMAC of a message; `nil` if libcrypto fails, which happens only without memory.
    ///
    /// - Source: RFC 2104.
    package static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard let keyLength = Int32(exactly: key.count) else { return nil }
        var code = [UInt8](repeating: 0, count: length)
        var written: UInt32 = 0
        guard HMAC(EVP_sha256(), key, keyLength, message, message.count, &code, &written) != nil,
            written == UInt32(length)
        else { return nil }
        return code
    }

    /// True if two secrets are equal, in a time that depends only on their lengths.
    package static func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
