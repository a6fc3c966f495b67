/// A number for what a tree says, the same wherever it stands in a file and through however many aliases it came:
/// 64 bits of FNV-1a.
///
/// The order of keys counts: it is the order of a JSON text. Comments, block style and the kind of quotes do not.
struct Fingerprint: Hashable, Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    mutating func combine(_ node: YAMLNode) {
        switch node.content {
        case .scalar(let text, let style):
            let mark: UInt8 =
                switch node.tag {
                case .secret: 1
                case .environmentVariable: 2
                case .literal: 3
                case nil: style == .plain ? 4 : 5
                }
            combine(octet: mark)
            combine(text)
        case .sequence(let nodes):
            combine(octet: 6)
            combine(count: nodes.count)
            for node in nodes { combine(node) }
        case .mapping(let entries):
            combine(octet: 7)
            combine(count: entries.count)
            for entry in entries {
                combine(entry.key.text)
                combine(entry.value)
            }
        case .invalid: combine(octet: 8)
        }
    }

    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { octets in
            combine(count: octets.count)
            for octet in octets { combine(octet: octet) }
        }
    }

    mutating func combine(_ other: Fingerprint) { combine(word: other.value) }

    private mutating func combine(count: Int) { combine(word: UInt64(truncatingIfNeeded: count)) }

    private mutating func combine(word: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { combine(octet: UInt8(truncatingIfNeeded: word >> shift)) }
    }

    private mutating func combine(octet: UInt8) { value = (value ^ UInt64(octet)) &* 0x100_0000_01B3 }
}

extension YAMLNode {
    /// Of what the node says, tags included and not looked up.
    var fingerprint: Fingerprint {
        var fingerprint = Fingerprint()
        fingerprint.combine(self)
        return fingerprint
    }
}
