import YAMLFiles

/// A hash of the content of a YAML tree: independent of its position and of aliases, and equal in every process. It is
/// FNV-1a over 64-bit words; after each word, the high half of the hash is folded into the low half.
///
/// The order of keys affects the hash, because JSON texts that are made from mappings keep that order. Comments, block
/// style and the kind of quotes do not.
struct Fingerprint: Hashable, Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The fingerprint as sixteen hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    mutating func combine(_ node: YAMLNode) {
        switch node.content {
        case .scalar(let text, let style):
            let mark: UInt64 =
                switch node.tag {
                case .secret: 1
                case .environmentVariable: 2
                case .literal: 3
                case nil: style == .plain ? 4 : 5
                }
            combine(word: mark)
            combine(text)
        case .sequence(let nodes):
            combine(word: 6 | UInt64(nodes.count) << 8)
            for node in nodes { combine(node) }
        case .mapping(let entries):
            combine(word: 7 | UInt64(entries.count) << 8)
            for entry in entries {
                combine(entry.key.text)
                combine(entry.value)
            }
        case .invalid: combine(word: 8)
        }
    }

    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { octets in
            combine(word: UInt64(octets.count))
            var word: UInt64 = 0
            for (index, octet) in octets.enumerated() {
                word = word << 8 | UInt64(octet)
                if index % 8 == 7 || index == octets.count - 1 {
                    combine(word: word)
                    word = 0
                }
            }
        }
    }

    mutating func combine(_ other: Fingerprint) { combine(word: other.value) }

    private mutating func combine(word: UInt64) {
        value = (value ^ word) &* 0x100_0000_01B3
        value ^= value >> 32
    }
}

extension YAMLNode {
    /// The fingerprint of the node's content, in which a tag is hashed as written, not the value that it refers to.
    var fingerprint: Fingerprint {
        var fingerprint = Fingerprint()
        fingerprint.combine(self)
        return fingerprint
    }
}
