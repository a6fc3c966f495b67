import CCrypto

/// SHA-256 by libcrypto, with which engines share sites.
enum SiteDigest {
    /// - Source: FIPS 180-4.
    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(message, message.count, &digest)
        return digest
    }
}
