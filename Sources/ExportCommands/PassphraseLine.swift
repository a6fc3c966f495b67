/// Collects a passphrase from the octets that are typed, while the terminal does no line editing of its own.
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
        // Ctrl-C and Ctrl-D. With Ctrl-D, what is typed so far is entered.
        case 0x03: return .cancelled
        case 0x04: return octets.isEmpty ? .cancelled : .entered(octets)
        // Backspace removes a character, which may be several octets.
        case 0x08, 0x7F:
            while let last = octets.popLast(), last & 0xC0 == 0x80 {}
        // Ctrl-U
        case 0x15: octets = []
        case 0..<0x20: break
        // An octet more than the maximum is kept, so that the passphrase is refused as too long.
        default: if octets.count <= Passphrase.maximumLength { octets.append(octet) }
        }
        return .more
    }
}
