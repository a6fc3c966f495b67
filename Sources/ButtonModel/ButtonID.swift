/// The permanent identifier of a button in topics and records: its address in lower case without colons,
/// `80e4da010203`. Unlike a button's name it never changes.
public struct ButtonID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 48 bits of the button's address.
    public let rawValue: UInt64

    public init(_ address: BluetoothAddress) { rawValue = address.rawValue }

    /// Parses twelve lower-case hexadecimal digits.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 12, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let value = UInt64(text, radix: 16)
        else { return nil }
        rawValue = value
    }

    public static func < (left: ButtonID, right: ButtonID) -> Bool { left.rawValue < right.rawValue }

    public var description: String {
        String(unsafeUninitializedCapacity: 12) { digits in
            for index in 0..<12 {
                let digit = UInt8(truncatingIfNeeded: rawValue >> (44 - 4 * UInt64(index)) & 15)
                digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 12
        }
    }
}
