package import ButtonModel
import Glibc

/// Limits how often an address may try passwords.
package struct AttemptLimit: Sendable {
    package static let maximumAttempts = 5
    package static let period = Duration.seconds(60)
    /// The most addresses that are kept. With more, the one that has been quiet longest is forgotten.
    package static let maximumAddresses = 1024

    /// The failed and unfinished tries of the last minute, oldest first.
    private var attempts: [String: [Instant]] = [:]

    package init() {}

    /// Counts a try before its password is compared, so that tries at the same time cannot exceed the limit.
    ///
    /// - Returns: `nil` if the try is admitted, or how long to wait.
    package mutating func admit(_ address: String, at now: Instant) -> Duration? {
        let key = Self.key(address)
        var recent = (attempts[key] ?? []).filter { $0 + Self.period > now }
        if recent.count >= Self.maximumAttempts, let oldest = recent.first {
            attempts[key] = recent
            return oldest + Self.period - now
        }
        recent.append(now)
        attempts[key] = recent
        if attempts.count > Self.maximumAddresses { forget(before: now, except: key) }
        return nil
    }

    /// The password was right.
    package mutating func succeeded(_ address: String) { attempts[Self.key(address)] = nil }

    private mutating func forget(before now: Instant, except key: String) {
        attempts = attempts.filter { $0.value.last.map { $0 + Self.period > now } ?? false }
        guard attempts.count > Self.maximumAddresses,
            let quiet = attempts.filter({ $0.key != key }).min(by: { ($0.value.last ?? now) < ($1.value.last ?? now) })
        else { return }
        attempts[quiet.key] = nil
    }

    /// The key under which the attempts of an address are counted. For IPv6 it is the network of 64 bits, because a
    /// host can choose any address in its network.
    private static func key(_ address: String) -> String {
        var octets = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, address, &octets) == 1 else { return address }
        // A listener for both kinds of addresses sees one of IPv4 as ::ffff:192.0.2.1.
        let isMapped = octets.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
        if isMapped { return octets[12...].map(String.init).joined(separator: ".") }
        return Array(octets[..<8]).hexText + "::"
    }
}
