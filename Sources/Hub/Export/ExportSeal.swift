import Bytes
import JSON

/// The encryption of the contents of an export: with AES-256-GCM, under a key that scrypt derives from a passphrase.
///
/// scrypt needs 128·r·N octets of memory. The bounds of N, r and p prevent a file from requiring more than 128 MiB, or
/// minutes.
///
/// - Source: RFC 7914; NIST SP 800-38D.
package struct ExportSeal: Hashable, Sendable {
    /// The parameters N, a power of two, r and p of scrypt.
    package var cost: UInt64
    package var blockSize: UInt64
    package var parallelization: UInt64
    package var salt: [UInt8]
    /// Must never be used twice with the same key. It is drawn together with the salt, so each file has another key.
    package var nonce: [UInt8]

    package static let saltLength = 16
    package static let nonceLength = 12
    package static let tagLength = 16
    static let maximumCost: UInt64 = 1 << 17

    /// The default cost takes 32 MiB, and some tenths of a second on a small board.
    ///
    /// - Parameter entropy: 28 random octets for the salt and the nonce.
    package init?(entropy: [UInt8], cost: UInt64 = 1 << 15) {
        guard entropy.count == Self.saltLength + Self.nonceLength else { return nil }
        self.cost = cost
        blockSize = 8
        parallelization = 1
        salt = Array(entropy.prefix(Self.saltLength))
        nonce = Array(entropy.dropFirst(Self.saltLength))
    }

    var json: JSONValue {
        [
            "cipher": "aes-256-gcm", "derivation": "scrypt", "n": JSONValue(cost), "r": JSONValue(blockSize),
            "p": JSONValue(parallelization), "salt": .string(salt.hex), "nonce": .string(nonce.hex),
        ]
    }

    init(_ json: JSONValue) throws(ExportFailure) {
        func number(_ name: String, atMost maximum: UInt64) throws(ExportFailure) -> UInt64 {
            guard let value = json[name]?.integerValue.flatMap(UInt64.init(exactly:)) else { throw .badMember(name) }
            guard (1...maximum).contains(value) else { throw .unknownSeal }
            return value
        }
        func octets(_ name: String, count: Int) throws(ExportFailure) -> [UInt8] {
            guard let octets = json[name]?.stringValue.flatMap({ [UInt8](hex: $0) }), octets.count == count else {
                throw .badMember(name)
            }
            return octets
        }
        guard json["cipher"] == "aes-256-gcm", json["derivation"] == "scrypt" else { throw .unknownSeal }
        cost = try number("n", atMost: Self.maximumCost)
        guard cost > 1, cost & (cost - 1) == 0 else { throw .unknownSeal }
        blockSize = try number("r", atMost: 8)
        parallelization = try number("p", atMost: 4)
        salt = try octets("salt", count: Self.saltLength)
        nonce = try octets("nonce", count: Self.nonceLength)
    }
}
