package import ButtonModel
import Bytes
import Glibc

/// Limits how often an address, and all addresses together, may try passwords.
///
/// The limit for all is needed because a stranger may have many addresses, or may invent them before a proxy that passes on what
/// its client wrote into `X-Forwarded-For`.
package struct AttemptLimit: Sendable {
    package static let maximumAttempts = 5
    /// The most tries of all addresses together in the period.
    package static let maximumTotal = 60
    package static let period = Duration.seconds(60)

    /// The times of the failed and unfinished tries of the last minute of each address, oldest first.
    private var attempts: [String: [Instant]] = [:]
    /// The times of the admitted tries of the last minute of all addresses, oldest first.
    private var total: [Instant] = []

    package init() {}

    /// Counts a try before its password is compared, so that tries at the same time cannot exceed the limit.
    ///
    /// - Returns: `nil` if the try is admitted, or how long to wait.
    package mutating func admit(_ address: String, at now: Instant) -> Duration? {
        total = Self.recent(total, at: now)
        attempts = attempts.mapValues { Self.recent($0, at: now) }.filter { !$0.value.isEmpty }
        let key = Self.key(address)
        let own = attempts[key] ?? []
        if own.count >= Self.maximumAttempts, let oldest = own.first { return oldest + Self.period - now }
        if total.count >= Self.maximumTotal, let oldest = total.first { return oldest + Self.period - now }
        attempts[key] = own + [now]
        total.append(now)
        return nil
    }

    /// The password was right.
    package mutating func succeeded(_ address: String) { attempts[Self.key(address)] = nil }

    private static func recent(_ times: [Instant], at now: Instant) -> [Instant] {
        times.filter { $0 + period > now }
    }

    /// The key under which the attempts of an address are counted. For IPv6 it is the network of 64 bits, because a
    /// host can choose any address in its network.
    private static func key(_ address: String) -> String {
        var octets = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, address, &octets) == 1 else { return address }
        // A listener for both kinds of addresses sees one of IPv4 as ::ffff:192.0.2.1.
        let isMapped = octets.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
        if isMapped { return octets[12...].map(String.init).joined(separator: ".") }
        return Array(octets[..<8]).hex + "::"
    }
}
