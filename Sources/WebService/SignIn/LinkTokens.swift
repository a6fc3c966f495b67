package import ButtonModel
import Bytes
import Cryptography

/// The tokens of links that let a browser in once.
package struct LinkTokens: Sendable {
    /// The octets of a token: 128 bits.
    package static let length = 16
    /// How long a link may be used.
    package static let lifetime = Duration.seconds(10 * 60)
    /// The most unused links. The oldest makes room for another.
    package static let maximumTokens = 16

    private var tokens: [(octets: [UInt8], end: Instant)] = []

    package init() {}

    /// - Parameter octets: random octets.
    /// - Returns: the token in the link.
    package mutating func issue(_ octets: [UInt8], at now: Instant) -> String {
        tokens.removeAll { $0.end <= now }
        if tokens.count >= Self.maximumTokens { tokens.removeFirst() }
        tokens.append((octets, now + Self.lifetime))
        return octets.hex
    }

    /// Takes a token, which cannot be used again.
    ///
    /// - Returns: whether the token was issued, is unused, and is not too old.
    package mutating func redeem(_ text: String, at now: Instant) -> Bool {
        tokens.removeAll { $0.end <= now }
        guard let octets = [UInt8](hex: text), octets.count == Self.length,
            let index = tokens.firstIndex(where: { Digest.isEqualInConstantTime($0.octets, octets) })
        else { return false }
        tokens.remove(at: index)
        return true
    }
}
