/// A passphrase while somebody types it, an octet at a time; the terminal does nothing by itself then.
struct PassphraseLine: Sendable {
    enum Answer: Hashable, Sendable {
        case more
        case entered([UInt8])
        case cancelled
    }

    private var octets: [UInt8] = []

    mutating func take(_ octet: UInt8) -> Answer {
        switch octet {
        case 0x0A, 0x0D: return .entered(octets)
        // Ctrl-C, and Ctrl-D.
        case 0x03: return .cancelled
        case 0x04: return octets.isEmpty ? .cancelled : .entered(octets)
        // Backspace takes a character, which may be several octets.
        case 0x08, 0x7F:
            while let last = octets.popLast(), last & 0xC0 == 0x80 {}
        // Ctrl-U
        case 0x15: octets = []
        case 0..<0x20: break
        // One too many is kept, so that it is noticed.
        default: if octets.count <= Passphrase.maximumLength { octets.append(octet) }
        }
        return .more
    }
}
