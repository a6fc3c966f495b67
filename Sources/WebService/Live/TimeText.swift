package import ButtonModel
import Glibc

/// Times in the queries of requests.
package enum TimeText {
    /// Parses a time of RFC 3339 in UTC, `2026-11-21T02:30:00.123Z`, with or without a fraction.
    package static func time(_ text: some StringProtocol) -> UTCTime? {
        let octets = Array(text.utf8)
        guard octets.count >= 20, octets.count <= 30, octets.last == UInt8(ascii: "Z") else { return nil }
        let form = Array("0000-00-00T00:00:00".utf8)
        var numbers: [Int32] = [0]
        for (octet, expected) in zip(octets, form) {
            if expected == UInt8(ascii: "0") {
                guard let digit = digit(octet) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + digit
            } else {
                guard octet == expected else { return nil }
                numbers.append(0)
            }
        }
        var milliseconds: Int64 = 0
        let fraction = octets[form.count...].dropLast()
        if !fraction.isEmpty {
            let digits = fraction.dropFirst()
            guard fraction.first == UInt8(ascii: "."), !digits.isEmpty, digits.allSatisfy({ digit($0) != nil }) else {
                return nil
            }
            for (index, scale) in [100, 10, 1].enumerated() where index < digits.count {
                milliseconds += Int64(digit(digits[digits.startIndex + index]) ?? 0) * Int64(scale)
            }
        }
        guard (1970...9999).contains(numbers[0]), (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
            (0...23).contains(numbers[3]), (0...59).contains(numbers[4]), (0...60).contains(numbers[5])
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
        return UTCTime(milliseconds: Int64(timegm(&parts)) * 1000 + milliseconds)
    }

    private static func digit(_ octet: UInt8) -> Int32? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) ? Int32(octet - UInt8(ascii: "0")) : nil
    }
}
