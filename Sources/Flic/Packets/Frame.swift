import Bytes

/// The header octet at the start of a GATT value.
///
///     bit  0…4                    5               6             7
///          logical connection id  newly assigned  multi-packet  more fragments follow
///
/// - Source: protocol notes, 3.
struct FrameHeader: Hashable, Sendable {
    /// The logical connection id, 0…31; 0 is no connection, or all connections.
    var connectionID: UInt8
    /// True if the button has just assigned the id, to the host whose temporary id the packet contains. Never set by a
    /// host.
    var isNewlyAssigned: Bool

    init(connectionID: UInt8, isNewlyAssigned: Bool = false) {
        self.connectionID = connectionID & 0x1F
        self.isNewlyAssigned = isNewlyAssigned
    }
}

/// A complete packet with its frame header: opcode, payload and, if signed, signature.
struct Frame: Hashable, Sendable {
    var header: FrameHeader
    var packet: [UInt8]

    init(header: FrameHeader, packet: [UInt8]) {
        self.header = header
        self.packet = packet
    }

    /// The longest packet that either side accepts, in octets.
    static let maximumPacketLength = 128
    /// The largest ATT_MTU that either side uses; with it, the longest packet fits into one value.
    static let maximumMTU = 130
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.2.8.
    static let minimumMTU = 23

    /// The GATT values that carry the packet: fragments of ATT_MTU − 4 octets, the last one shorter. They must be sent
    /// without other values in between.
    func values(attMTU: Int) -> [[UInt8]] {
        let room = min(max(attMTU, Self.minimumMTU), Self.maximumMTU) - 4
        var values: [[UInt8]] = []
        var rest = packet[...]
        repeat {
            let piece = rest.prefix(room)
            rest = rest.dropFirst(room)
            values.append([header.octet(moreFollows: !rest.isEmpty)] + piece)
        } while !rest.isEmpty
        return values
    }
}

/// Reassembles packets from GATT values.
///
/// All fragments of a packet have the same header; a fragment with another header starts another packet. A complete
/// packet with another header may arrive between fragments, as from another logical connection, and is returned at
/// once. A packet longer than `Frame.maximumPacketLength` is dropped with all its fragments.
///
/// A value with the multi-packet bit is parsed as a sequence of header, length and packet. No button is known to send
/// such values.
struct FrameAssembler: Sendable {
    private enum State: Hashable, Sendable {
        case empty
        case collecting(FrameHeader, [UInt8])
        /// The packet is too long; fragments are dropped up to and including the last.
        case discarding(FrameHeader)
    }

    private var state = State.empty

    init() {}

    /// True if no packet is incomplete.
    var isEmpty: Bool { state == .empty }

    /// The packets that this value completes, usually none or one.
    ///
    /// - Parameter isOurs: values whose header it rejects are ignored, so that they do not disturb the reassembly.
    mutating func receive(_ value: [UInt8], where isOurs: (FrameHeader) -> Bool = { _ in true }) -> [Frame] {
        guard let first = value.first, value.count >= 2 else { return [] }
        let header = FrameHeader(octet: first)
        if first & FrameHeader.multiPacket != 0, first & FrameHeader.moreFollows == 0 {
            return ((try? Self.series(value)) ?? []).filter { isOurs($0.header) }
        }
        guard isOurs(header) else { return [] }
        let piece = value.dropFirst()
        let isLast = first & FrameHeader.moreFollows == 0
        switch state {
        case .collecting(header, let collected):
            return collect(collected + piece, header, isLast: isLast)
        case .discarding(header):
            if isLast { state = .empty }
            return []
        case .empty, .collecting, .discarding:
            if isLast {
                return piece.count <= Frame.maximumPacketLength ? [Frame(header: header, packet: Array(piece))] : []
            }
            return collect(Array(piece), header, isLast: false)
        }
    }

    private mutating func collect(_ packet: [UInt8], _ header: FrameHeader, isLast: Bool) -> [Frame] {
        let fits = packet.count <= Frame.maximumPacketLength
        guard isLast else {
            state = fits ? .collecting(header, packet) : .discarding(header)
            return []
        }
        state = .empty
        return fits ? [Frame(header: header, packet: packet)] : []
    }

    private static func series(_ value: [UInt8]) throws(Truncated) -> [Frame] {
        var reader = ByteReader(value)
        var frames: [Frame] = []
        while !reader.isAtEnd {
            let header = FrameHeader(octet: try reader.uint8())
            let length = Int(try reader.uint8())
            let packet = try reader.bytes(length)
            if !packet.isEmpty, length <= Frame.maximumPacketLength {
                frames.append(Frame(header: header, packet: packet))
            }
        }
        return frames
    }
}

extension FrameHeader {
    /// True if a GATT value with this first octet is a complete packet of the session with this logical connection id.
    static func isCompletePacket(_ first: UInt8, ofConnection id: UInt8) -> Bool { id != 0 && first == id }

    fileprivate static let newlyAssigned: UInt8 = 1 << 5
    fileprivate static let multiPacket: UInt8 = 1 << 6
    fileprivate static let moreFollows: UInt8 = 1 << 7

    fileprivate init(octet: UInt8) {
        self.init(connectionID: octet & 0x1F, isNewlyAssigned: octet & Self.newlyAssigned != 0)
    }

    fileprivate func octet(moreFollows: Bool) -> UInt8 {
        connectionID | (isNewlyAssigned ? Self.newlyAssigned : 0) | (moreFollows ? Self.moreFollows : 0)
    }
}
