@testable import Flic

extension FuzzTarget {
    /// Values in any order make packets within the limit; a packet that is cut into values is assembled again.
    static let flicFrames = FuzzTarget(name: "flic-frames") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var assembler = FrameAssembler()
        while let step = input.step() {
            for frame in assembler.receive(input.chunk()) {
                try promise("a packet is within the bound", frame.packet.count <= Frame.maximumPacketLength)
                let values = frame.values(attMTU: 23 + Int(step))
                var other = FrameAssembler()
                let again = values.flatMap { other.receive($0) }
                // An empty packet looks like no packet.
                try promise("a packet survives being cut up", frame.packet.isEmpty || again == [frame])
            }
        }
    }

    /// A decoded packet is the same after it is encoded and decoded again, in both directions.
    static let flicPackets = FuzzTarget(name: "flic-packets") { octets throws(BrokenPromise) in
        if let packet = try? ButtonPacket(decoding: octets) {
            let again = try? ButtonPacket(decoding: packet.octets)
            try promise("a button's packet is the same after a round trip", again == packet)
        }
        if let packet = try? HostPacket(decoding: octets) {
            let again = try? HostPacket(decoding: packet.octets)
            try promise("a host's packet is the same after a round trip", again == packet)
        }
        if let packet = try? ButtonPacket(decodingTwist: octets) {
            let again = packet.twistOctets.flatMap { try? ButtonPacket(decodingTwist: $0) }
            try promise("a Twist's packet is the same after a round trip", again == packet)
        }
        if let packet = try? HostPacket(decodingTwist: octets) {
            let again = packet.twistOctets.flatMap { try? HostPacket(decodingTwist: $0) }
            try promise("a packet to a Twist is the same after a round trip", again == packet)
        }
    }
}
