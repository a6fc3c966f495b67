import ButtonModel
import Bytes

/// Time, packets and round trips that bringing up a link takes, layer by layer, as seen at the adapter.
struct LinkTally {
    enum Layer: String, CaseIterable {
        /// Until the button is found and connected.
        case connect
        case mtu = "ATT_MTU"
        case discovery, subscribe, verify
        /// Until the init response, with which the button is ready.
        case initialise = "init"
    }

    enum Direction {
        case toButton, fromButton
    }

    struct Row {
        /// The time since the layer before was done.
        var duration = Duration.zero
        var packets = 0
        /// The number of times that a packet was sent and an answer arrived.
        var roundTrips = 0
    }

    private(set) var rows: [Layer: Row] = [:]
    private var layer = Layer.connect
    private var isAwaitingAnswer = false
    /// When the last packet that belongs to a layer was seen.
    private var last: Instant

    init(at now: Instant) { last = now }

    /// Counts one HCI packet.
    mutating func saw(_ packet: [UInt8], _ direction: Direction, at now: Instant) {
        guard let layer = LinkTally.layer(of: packet, direction, current: layer) else { return }
        if layer != self.layer { isAwaitingAnswer = false }
        self.layer = layer
        rows[layer, default: Row()].duration += now - last
        rows[layer, default: Row()].packets += 1
        last = now
        switch direction {
        case .toButton: isAwaitingAnswer = true
        case .fromButton:
            if isAwaitingAnswer { rows[layer, default: Row()].roundTrips += 1 }
            isAwaitingAnswer = false
        }
    }

    /// The layer of a packet; `nil` for commands, and for packets after the button is ready.
    private static func layer(of packet: [UInt8], _ direction: Direction, current: Layer) -> Layer? {
        var reader = ByteReader(packet)
        guard let indicator = try? reader.uint8() else { return nil }
        if indicator == 4 {
            // LE Connection Complete and LE Enhanced Connection Complete.
            guard (try? reader.uint8()) == 0x3E, (try? reader.skip(1)) != nil, let subevent = try? reader.uint8() else {
                return nil
            }
            return subevent == 1 || subevent == 0x0A ? .connect : nil
        }
        guard indicator == 2, let handle = try? reader.uint16(), (try? reader.skip(2)) != nil else { return nil }
        // A continuation belongs to the layer of its first fragment.
        guard handle >> 12 & 3 != 1 else { return current }
        guard (try? reader.skip(4)) != nil, let opcode = try? reader.uint8() else { return nil }
        switch opcode {
        case 0x02, 0x03: return .mtu
        case 0x04...0x11: return .discovery
        case 0x12, 0x13: return .subscribe
        // Attribute handle and frame header come before the opcode of the button's packet.
        case 0x1B, 0x52:
            guard (try? reader.skip(3)) != nil, let opcode = try? reader.uint8() else { return nil }
            switch (direction, opcode) {
            case (.toButton, 0...5), (.fromButton, 0...8): return .verify
            case (.toButton, 15), (.toButton, 23), (.fromButton, 10), (.fromButton, 11): return .initialise
            default: return nil
            }
        default: return nil
        }
    }
}
