import Bytes

extension BluetoothUUID: CustomStringConvertible {
    /// The upper 12 octets, in wire order, of a 128-bit UUID that stands for a 16-bit UUID:
    /// 00000000-0000-1000-8000-00805F9B34FB.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part B, 2.5.1.
    private static let base: [UInt8] = [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0x00, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00]

    /// Parses 4 hexadecimal digits, such as `180f`, or 32 digits in groups of 8, 4, 4, 4 and 12, in either case. A
    /// 128-bit form of a 16-bit UUID becomes `short`.
    public init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        guard groups == [4] || groups == [8, 4, 4, 4, 12], let octets = [UInt8](hex: String(text.filter { $0 != "-" }))
        else { return nil }
        self.init(wireOctets: octets.reversed())
    }

    /// The UUID in lower case: 4 digits such as `180f`, or 32 digits in groups of 8, 4, 4, 4 and 12.
    public var description: String {
        let digits = Array(wireOctets.reversed()).hex
        guard digits.utf8.count == 32 else { return digits }
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    /// Decodes 2 or 16 octets; `nil` for any other count. A 128-bit form of a 16-bit UUID becomes `short`, so that
    /// equal UUIDs compare equal.
    public init?(wireOctets octets: [UInt8]) {
        var reader = ByteReader(octets)
        switch octets.count {
        case 2:
            guard let value = try? reader.uint16() else { return nil }
            self = .short(value)
        case 16:
            guard let prefix = try? reader.bytes(12), let value = try? reader.uint16(),
                let upper = try? reader.uint16(), prefix == Self.base, upper == 0
            else {
                self = .long(octets)
                return
            }
            self = .short(value)
        default:
            return nil
        }
    }

    /// The UUID as 2 or 16 octets, least significant first.
    public var wireOctets: [UInt8] {
        switch self {
        case .short(let value): [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        case .long(let octets): octets
        }
    }
}
