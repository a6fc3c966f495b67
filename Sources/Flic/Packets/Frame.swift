import Bytes

/// The octet before every piece of a packet in a GATT value.
///
///     bit  0…4                    5               6             7
///          logical connection id  newly assigned  multi-packet  more fragments follow
///
/// - Source: protocol notes, 3.
struct FrameHeader: Hashable, Sendable {
    /// 0…31; 0 means none, or everybody.
    var connectionID: UInt8
    /// Button to host only: the id is a new one, for whoever sent the temporary id inside.
    var isNewlyAssigned: Bool

    init(connectionID: UInt8, isNewlyAssigned: Bool = false) {
        self.connectionID = connectionID & 0x1F
        self.isNewlyAssigned = isNewlyAssigned
    }
}

/// One packet in the hands of the framing: opcode, payload and, where it is signed, signature.
struct Frame: Hashable, Sendable {
    var header: FrameHeader
    var packet: [UInt8]

    init(header: FrameHeader, packet: [UInt8]) {
        self.header = header
        self.packet = packet
    }

    /// The longest packet either side collects.
    static let maximumPacketLength = 128
    /// Both sides use no more, whatever was negotiated: the longest packet fits into one value then.
    static let maximumMTU = 130
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.2.8.
    static let minimumMTU = 23

    /// The GATT values that carry the packet: pieces of MTU−4 octets, the last one shorter. They belong back to back.
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

/// Joins GATT values into packets.
///
/// Pieces of one packet carry the same header; a piece with another header begins another packet. A whole packet that
/// comes between the pieces of another one, as from another logical connection, passes by. Beyond
/// `Frame.maximumPacketLength` a packet is dropped with all its pieces.
///
/// A value with the multi-packet bit is read as a series of header, length and packet; nobody was seen to send one.
struct FrameAssembler: Sendable {
    private enum State: Hashable, Sendable {
        case empty
        case collecting(FrameHeader, [UInt8])
        /// The packet grew too long; its last piece ends this.
        case discarding(FrameHeader)
    }

    private var state = State.empty

    init() {}

    /// The packets that are complete with this value, usually none or one.
    ///
    /// - Parameter isOurs: what it refuses never meets the pieces that are collected.
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
