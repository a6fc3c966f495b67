/// The signatures of one end of a session: signs the packets that it sends, and verifies those that it receives.
///
/// Each direction counts its signed packets from zero, so a packet that is replayed, lost or reordered fails
/// verification.
///
/// - Source: protocol notes, 3 ("Packet counters") and 5.6.
struct SignedChannel: Sendable {
    private let chaskey: Chaskey
    private let side: Chaskey.Sender
    private var sentCount: UInt64 = 0
    private var receivedCount: UInt64 = 0

    init(_ key: SessionKey, as side: Chaskey.Sender) {
        chaskey = Chaskey(key)
        self.side = side
    }

    /// The channel of a session that begins with this received packet; `nil` if its signature is wrong.
    init?(_ key: SessionKey, as side: Chaskey.Sender, opening sealed: [UInt8]) {
        self.init(key, as: side)
        guard open(sealed) != nil else { return nil }
    }

    /// Appends the signature to a packet, and counts the packet.
    mutating func seal(_ packet: [UInt8]) -> [UInt8] {
        defer { sentCount &+= 1 }
        return packet + Chaskey.octets(ofSignature: chaskey.signature(of: packet[...], from: side, counter: sentCount))
    }

    /// Removes and verifies the signature of a packet. `nil` if it is wrong; the packet is not counted then.
    mutating func open(_ sealed: [UInt8]) -> [UInt8]? {
        guard let packet = preview(sealed[...]) else { return nil }
        receivedCount &+= 1
        return Array(packet)
    }

    /// The result that `open` will have for the packet, without counting the packet.
    func preview(_ sealed: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard sealed.count > Chaskey.signatureLength else { return nil }
        let packet = sealed.dropLast(Chaskey.signatureLength)
        let expected = chaskey.signature(of: packet, from: side.peer, counter: receivedCount)
        // Two numbers are compared in constant time.
        return Chaskey.signature(from: sealed.suffix(Chaskey.signatureLength)) == expected ? packet : nil
    }
}

extension Chaskey.Sender {
    fileprivate var peer: Self {
        switch self {
        case .button: .host
        case .host: .button
        }
    }
}
