/// Names of rule files in the paths of requests.
package enum RuleFileName {
    /// The name in a path, whose segments may have percent signs.
    ///
    /// - Returns: `nil` if it is no name. A segment that contains a slash once it is decoded is none.
    package static func decoded(_ segments: [Substring]) -> String? {
        var names: [String] = []
        for segment in segments {
            guard let name = decoded(segment), !name.isEmpty, !name.contains("/"), !name.utf8.contains(0) else {
                return nil
            }
            names.append(name)
        }
        return names.isEmpty ? nil : names.joined(separator: "/")
    }

    private static func decoded(_ segment: Substring) -> String? {
        var octets: [UInt8] = []
        var rest = segment.utf8[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return String(validating: octets, as: UTF8.self)
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
