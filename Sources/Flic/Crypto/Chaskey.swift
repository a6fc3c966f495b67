import Bytes

/// Chaskey with 16 rounds ("LTS"): the message authentication code of every signed packet.
///
/// All words are little endian. The subkeys are the key doubled as a 128-bit number: K1 = 2K, K2 = 2K1, with 0x87 XORed
/// into the low octet on overflow. A full last block is XORed with K1; a shorter last block is padded with 0x01 and
/// zeros, and XORed with K2.
///
/// - Source: protocol notes, 5.6. Mouha and others: Chaskey, an efficient MAC algorithm for 32-bit microcontrollers, 2014.
struct Chaskey: Sendable {
    private let key: Block
    private let fullBlockSubkey: Block
    private let shortBlockSubkey: Block

    init(_ key: SessionKey) {
        self.key = Block(key.octets[...])
        fullBlockSubkey = self.key.doubled
        shortBlockSubkey = fullBlockSubkey.doubled
    }

    /// The complete tag, 16 octets.
    func tag(of message: [UInt8]) -> [UInt8] {
        absorb(message[...], from: key).octets
    }

    /// The signature at the end of a signed packet: the first 5 octets of the tag.
    ///
    /// - Parameters:
    ///   - packet: the octets as sent, without signature.
    ///   - sender: the direction, which is part of the signed data.
    ///   - counter: the number of packets that `sender` signed before this one in the session.
    /// - Returns: the signature as a little-endian number of `signatureLength` octets.
    func signature(of packet: ArraySlice<UInt8>, from sender: Sender, counter: UInt64) -> UInt64 {
        var state = key
        state.v0 ^= UInt32(truncatingIfNeeded: counter)
        state.v1 ^= UInt32(truncatingIfNeeded: counter >> 32)
        state.v2 ^= sender.rawValue
        state.permute()
        let tag = absorb(packet, from: state)
        return UInt64(tag.v0) | UInt64(tag.v1 & 0xFF) << 32
    }

    static let signatureLength = 5

    /// The octets of a signature, as a packet ends with them.
    static func octets(ofSignature signature: UInt64) -> [UInt8] {
        (0..<signatureLength).map { UInt8(truncatingIfNeeded: signature >> UInt64(8 * $0)) }
    }

    /// The number that the octets of a signature encode.
    static func signature(from octets: ArraySlice<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: octets.prefix(signatureLength)) }
        return UInt64(littleEndian: number)
    }

    /// The signer of a packet. The raw value is part of the signed data.
    enum Sender: UInt32, Sendable {
        case button = 0
        case host = 1
    }

    private func absorb(_ message: ArraySlice<UInt8>, from initial: Block) -> Block {
        var state = initial
        var rest = message
        while rest.count > 16 {
            state ^= Block(rest.prefix(16))
            state.permute()
            rest = rest.dropFirst(16)
        }
        let subkey: Block
        if rest.count == 16 {
            subkey = fullBlockSubkey
            state ^= Block(rest)
        } else {
            subkey = shortBlockSubkey
            state ^= Block(rest)
            state.add(padding: rest.count)
        }
        state ^= subkey
        state.permute()
        state ^= subkey
        return state
    }
}

extension Chaskey {
    private struct Block: Sendable {
        var v0, v1, v2, v3: UInt32

        /// The block of up to 16 octets, filled with zeros.
        init(_ octets: ArraySlice<UInt8>) {
            var words: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: octets.prefix(16)) }
            (v0, v1) = (UInt32(littleEndian: words.0), UInt32(littleEndian: words.1))
            (v2, v3) = (UInt32(littleEndian: words.2), UInt32(littleEndian: words.3))
        }

        /// Adds the octet 0x01 that follows a short last block.
        ///
        /// - Parameter index: the number of octets before it, 0…15.
        mutating func add(padding index: Int) {
            let part = UInt32(1) << UInt32(8 * (index & 3))
            switch index >> 2 {
            case 0: v0 ^= part
            case 1: v1 ^= part
            case 2: v2 ^= part
            default: v3 ^= part
            }
        }

        var octets: [UInt8] {
            var writer = ByteWriter(capacity: 16)
            for word in [v0, v1, v2, v3] { writer.uint32(word) }
            return writer.bytes
        }

        /// The block doubled in GF(2¹²⁸).
        var doubled: Block {
            var result = self
            result.v3 = v3 << 1 | v2 >> 31
            result.v2 = v2 << 1 | v1 >> 31
            result.v1 = v1 << 1 | v0 >> 31
            result.v0 = v0 << 1 ^ (v3 >> 31 == 0 ? 0 : 0x87)
            return result
        }

        static func ^= (left: inout Block, right: Block) {
            left.v0 ^= right.v0
            left.v1 ^= right.v1
            left.v2 ^= right.v2
            left.v3 ^= right.v3
        }

        mutating func permute() {
            for _ in 0..<16 {
                v0 &+= v1
                v1 = v1.rotatedLeft(5) ^ v0
                v0 = v0.rotatedLeft(16)
                v2 &+= v3
                v3 = v3.rotatedLeft(8) ^ v2
                v0 &+= v3
                v3 = v3.rotatedLeft(13) ^ v0
                v2 &+= v1
                v1 = v1.rotatedLeft(7) ^ v2
                v2 = v2.rotatedLeft(16)
            }
        }
    }

    /// The key and its two subkeys, 16 octets each, for tests.
    static func subkeys(of key: SessionKey) -> (key: [UInt8], full: [UInt8], short: [UInt8]) {
        let chaskey = Chaskey(key)
        return (chaskey.key.octets, chaskey.fullBlockSubkey.octets, chaskey.shortBlockSubkey.octets)
    }
}

extension UInt32 {
    fileprivate func rotatedLeft(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}

extension Chaskey: CustomStringConvertible, CustomReflectable {
    var description: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
