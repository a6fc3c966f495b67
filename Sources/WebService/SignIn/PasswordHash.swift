import Bytes
import Cryptography

/// The scrypt hash of the password of the page. The password itself is not kept.
package struct PasswordHash: Sendable {
    package static let saltLength = 16
    /// Longer passwords are refused without being hashed.
    package static let maximumLength = 1024

    private let salt: [UInt8]
    private let key: [UInt8]

    /// - Parameter salt: random octets.
    /// - Returns: `nil` without memory.
    package init?(of password: String, salt: [UInt8]) {
        guard let key = Self.key(of: password, salt) else { return nil }
        self.salt = salt
        self.key = key
    }

    /// Tells whether the password is still the same after a restart.
    var mark: String { key.hex }

    /// True if this is the password. The time does not depend on where it differs.
    package func matches(_ password: String) -> Bool {
        guard password.utf8.count <= Self.maximumLength, let other = Self.key(of: password, salt) else { return false }
        return Digest.isEqualInConstantTime(key, other)
    }

    /// The cost parameters need 16 MiB and some tenths of a second for each try. They are one of the settings that OWASP
    /// recommends for scrypt; the one with less computation needs 128 MiB.
    private static func key(of password: String, _ salt: [UInt8]) -> [UInt8]? {
        Digest.scrypt(Array(password.utf8), salt: salt, cost: 1 << 14, blockSize: 8, parallelization: 5)
    }
}
