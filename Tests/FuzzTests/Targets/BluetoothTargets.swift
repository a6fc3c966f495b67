import Bytes

@testable import BluetoothHost

extension FuzzTarget {
    /// A decoded packet is the same after it is encoded and decoded again.
    static let hci = FuzzTarget(name: "hci") { octets throws(BrokenPromise) in
        if let event = try? HCIEvent(decoding: octets) {
            let again = try? HCIEvent(decoding: Array(event.packet.dropFirst()))
            try promise("an event is the same after a round trip", again == event)
        }
        if let command = try? HCICommand(decoding: octets) {
            let again = try? HCICommand(decoding: Array(command.packet.dropFirst()))
            try promise("a command is the same after a round trip", again == command)
        }
        if let packet = try? ACLDataPacket(decoding: octets) {
            let again = try? ACLDataPacket(decoding: Array(packet.packet.dropFirst()))
            try promise("an ACL packet is the same after a round trip", again == packet)
        }
    }

    /// Advertising reports from unknown devices.
    static let advertising = FuzzTarget(name: "advertising") { octets throws(BrokenPromise) in
        let structures = ADStructure.parse(octets)
        let count = structures.reduce(0) { $0 + 2 + $1.data.count }
        try promise("structures hold no more than there was", count <= octets.count)
    }

    /// Fragments in any order make frames within the limit, and the signalling channel's state from these frames is
    /// bounded too.
    static let l2cap = FuzzTarget(name: "l2cap") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var reassembler = L2CAPReassembler()
        var signalling = SignallingChannel(role: input.octet() & 1 == 0 ? .central : .peripheral)
        while let step = input.step() {
            let outcome = reassembler.receive(ByteReader(input.chunk()), isFirst: step & 1 == 0)
            guard let frame = outcome.frame else { continue }
            let count = L2CAPFrame.headerLength + frame.payload.remainingCount
            try promise("a frame is within the bound", count <= L2CAPReassembler.maximumFrameLength)
            guard let packet = try? SignallingPacket(decoding: frame.payload) else { continue }
            let again = try? SignallingPacket(decoding: ByteReader(packet.encoded))
            try promise("a signalling packet is the same after a round trip", again == packet)
            try promise("a packet is answered once at most", signalling.receive(packet).count <= 2)
        }
    }

    static let att = FuzzTarget(name: "att") { octets throws(BrokenPromise) in
        guard let pdu = try? ATTPDU(decoding: ByteReader(octets)) else { return }
        let again = try? ATTPDU(decoding: ByteReader(pdu.encoded))
        try promise("a PDU is the same after a round trip", again == pdu)
    }
}
