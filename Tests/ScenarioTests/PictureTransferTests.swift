import BluetoothHost
import ButtonModel
import PictureTransfer
import Simulator
import TestSupport
import Testing

extension PictureReceiver: Station {}
extension PictureSender: Station {}

/// Two hosts on one air: a picture is transferred from one to the other over links that are lost.
@Suite("Transfer of a picture over the air")
struct PictureTransferTests {
    private static let name =
        "Das Fährhaus am Abend, vom anderen Ufer; " + String(repeating: "sehr ", count: 40) + "spät"
    private static let details = String(repeating: "800 × 480 points, seven colours, needs 30 s to show it. ", count: 8)

    @Test("a picture arrives whole, although the link is lost twice", arguments: 0..<8 as Range<UInt64>)
    func transfer(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let picture = random.bytes(200_000)
        var room = room(picture, &random)
        let losses = (0..<2).map { _ in Int.random(in: 1..<180_000, using: &random) }.sorted()
        for loss in losses {
            #expect(room.run { $0.first.received.count >= loss })
            room.setReachable(false)
            #expect(room.run(atMost: .seconds(7)) { !$0.first.isConnected })
            room.setReachable(true)
        }
        #expect(room.run { $0.second.isDone && !$0.first.isConnected })

        #expect(room.first.received == picture)
        #expect(room.second.details == Self.details)
        #expect(room.first.receipt.dropFirst(4).elementsEqual(Self.name.utf8))
        #expect(room.first.links == 3)
        #expect(room.second.lostLinks == 2)
        // The transfer continued where the receiver was, and not at the beginning.
        try #require(room.second.beginnings.count == 3)
        #expect(room.second.beginnings[0] == 0)
        for (beginning, loss) in zip(room.second.beginnings.dropFirst(), losses) { #expect(beginning >= loss) }
        #expect(room.first.anomalies + room.second.anomalies + room.violations == [])
    }

    @Test("a picture arrives whole, although the link is lost at any moment", arguments: 0..<16 as Range<UInt64>)
    func anyMoment(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let picture = random.bytes(20_000)
        var room = room(picture, &random)
        for _ in 0..<2 {
            room.run(atMost: .milliseconds(Int64.random(in: 100..<1000, using: &random)))
            room.setReachable(false)
            room.run(atMost: .milliseconds(Int64.random(in: 1..<12_000, using: &random)))
            room.setReachable(true)
        }
        #expect(room.run { $0.second.isDone })
        #expect(room.first.received == picture)
        #expect(room.violations == [])
    }

    /// The seed determines the controllers and the limits of the hosts.
    private func room(_ picture: [UInt8], _ random: inout SeededGenerator) -> TwoHosts<PictureReceiver, PictureSender> {
        let controllers = (1...2).map { number in
            VirtualController.Configuration(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(number)),
                aclDataLength: [27, 69, 251].randomElement(using: &random) ?? 27,
                aclBufferCount: UInt8.random(in: 1...12, using: &random))
        }
        let configurations = (1...2).map { _ in
            LEHost.Configuration(
                attMTU: UInt16.random(in: 23...517, using: &random),
                channels: ChannelConfiguration(
                    mtu: UInt16.random(in: 200...8000, using: &random),
                    mps: UInt16.random(in: 23...517, using: &random),
                    credits: UInt16.random(in: 1...40, using: &random)))
        }
        return TwoHosts(
            PictureReceiver(configurations[0], name: "frame", details: Self.details),
            PictureSender(configurations[1], picture: picture, name: Self.name), controllers: controllers)
    }
}
