import CCrypto

/// The digest that decides which share a site belongs to (`EngineShare.has`): SHA-256 of libcrypto.
enum SiteDigest {
    /// - Source: FIPS 180-4.
    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(message, message.count, &digest)
        return digest
    }
}
