import BluetoothHost
import Foundation
import PictureTransfer
import Setup
import Testing

/// Tryck's host and Bumble's host, each on a RootCanal controller: the picture of `PictureTransfer` is transferred.
@Suite("With Bumble's host", .serialized, .ownThread)
struct ForeignHostTests {
    private static let pictureLength = 200_000

    private func picture() -> [UInt8] {
        (0..<Self.pictureLength).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    private func bumble(_ script: String, _ workshop: Workshop, port: Int, _ arguments: [String]) throws -> Program {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "support/\(script)").path
        return try workshop.start(
            try Workshop.setting("TRYCK_TEST_PYTHON", "a python with bumble"),
            [path, "tcp-client:127.0.0.1:\(port)"] + arguments)
    }

    @Test("a picture is sent to Bumble, although the receiver ends the link once")
    func send() async throws {
        let workshop = try Workshop()
        let port = try workshop.rootCanal()
        let receiver = try bumble(
            "picture_receiver.py", workshop, port: port,
            [workshop.path("picture"), "--drop", "\(Self.pictureLength / 3)"])
        try receiver.line(containing: "advertising")
        let name = "a boat at night, " + String(repeating: "very ", count: 60) + "late"
        let sender = PictureSender(.init(attMTU: 100), picture: picture(), name: name)
        let ended = await onAir(sender, port: port) { $0.isDone }
        let done = try #require(ended, "\(receiver.text)")
        try #require(done.isDone, "\(done.beginnings), \(done.anomalies); \(receiver.text)")
        try receiver.line(containing: "receipt: \(name)")
        try receiver.line(containing: "complete")
        #expect(try Data(contentsOf: URL(filePath: workshop.path("picture"))) == Data(picture()))
        #expect(done.details == String(repeating: "a paper frame, 800 x 480. ", count: 15))
        #expect(done.lostLinks == 1)
        #expect(done.beginnings.count == 2 && (done.beginnings.last ?? 0) >= Self.pictureLength / 3)
        #expect(done.anomalies == [])
    }

    @Test("a picture is received from Bumble, although the sender ends the link once")
    func receive() async throws {
        let workshop = try Workshop()
        let port = try workshop.rootCanal()
        try Data(picture()).write(to: URL(filePath: workshop.path("picture")))
        let sender = try bumble(
            "picture_sender.py", workshop, port: port,
            [workshop.path("picture"), "--drop", "\(Self.pictureLength / 3)"])
        let details = String(repeating: "eight colours, needs 30 s to show them. ", count: 12)
        let receiver = PictureReceiver(.init(attMTU: 100), name: "frame", details: details)
        let ended = await onAir(receiver, port: port) { $0.isComplete && !$0.isConnected }
        let done = try #require(ended, "\(sender.text)")
        try #require(
            done.isComplete, "\(done.received.count) octets, \(done.links) links, \(done.anomalies); \(sender.text)")
        try sender.line(containing: "details: \(details)")
        try sender.line(containing: "from 0")
        try sender.line(containing: "complete")
        #expect(done.received == picture())
        #expect(String(decoding: done.receipt.dropFirst(4), as: UTF8.self) == "from Bumble")
        #expect(done.links == 2)
        #expect(done.anomalies == [])
    }
}
