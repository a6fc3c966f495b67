import CCrypto

/// SHA-256 and HMAC-SHA-256 by libcrypto.
enum Hash {
    static let length = 32

    /// - Source: FIPS 180-4.
    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        SHA256(message, message.count, &digest)
        return digest
    }

    /// - Throws: `cryptographyFailed` if libcrypto fails, which happens only without memory.
    /// - Source: RFC 2104.
    static func hmacSHA256(_ message: [UInt8], key: [UInt8]) throws(ESPHomeFault) -> [UInt8] {
        guard let keyLength = Int32(exactly: key.count) else { throw .cryptographyFailed }
        var code = [UInt8](repeating: 0, count: length)
        var written: UInt32 = 0
        guard HMAC(EVP_sha256(), key, keyLength, message, message.count, &code, &written) != nil,
            written == UInt32(length)
        else { throw .cryptographyFailed }
        return code
    }

    /// The first two or three outputs of the HKDF of Noise.
    ///
    /// - Source: Noise Protocol Framework, revision 34, 4.3.
    static func derive(
        chainingKey: [UInt8], from material: [UInt8]
    ) throws(ESPHomeFault) -> (first: [UInt8], second: [UInt8], third: [UInt8]) {
        let temporary = try hmacSHA256(material, key: chainingKey)
        let first = try hmacSHA256([1], key: temporary)
        let second = try hmacSHA256(first + [2], key: temporary)
        let third = try hmacSHA256(second + [3], key: temporary)
        return (first, second, third)
    }
}
