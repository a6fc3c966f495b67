/// A Bluetooth device address and its type.
///
/// - Source: Bluetooth Core 5.4, Vol 6, Part B, 1.3.
public struct BluetoothAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address type as HCI writes it: 0 public, 1 random.
    public enum Kind: UInt8, Hashable, Sendable {
        case `public` = 0
        case random = 1
    }

    /// The 48 bits of the address; the octet printed first is the most significant.
    public let rawValue: UInt64
    public let kind: Kind

    /// - Parameter rawValue: bits above the 48th are dropped.
    public init(rawValue: UInt64, kind: Kind = .public) {
        self.rawValue = rawValue & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// Parses six pairs of hexadecimal digits, in either case, separated by colons.
    public init?(_ text: some StringProtocol, kind: Kind = .public) {
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == 6 else { return nil }
        var value: UInt64 = 0
        for pair in pairs {
            guard pair.utf8.count == 2, pair.first != "+", let octet = UInt8(pair, radix: 16) else { return nil }
            value = value << 8 | UInt64(octet)
        }
        self.init(rawValue: value, kind: kind)
    }

    /// The six octets in the order of HCI packets, least significant first: the reverse of the printed order.
    public var wireOctets: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> (8 * UInt64($0))) }
    }

    /// The address in upper case with colons: `80:E4:DA:01:02:03`.
    public var description: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(17)
        for shift in stride(from: UInt64(40), through: 0, by: -8) {
            let octet = Int(rawValue >> shift & 0xFF)
            if !text.isEmpty { text.append(UInt8(ascii: ":")) }
            text.append(digits[octet >> 4])
            text.append(digits[octet & 15])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
