import ButtonModel
import Bytes
import FlicdProtocol
import Foundation
import JSON
import TestSupport
import Testing

/// Compares the server with recorded conversations of the manufacturer's own flicd.
@Suite("Conversations recorded from a real flicd")
struct SeenTests {
    struct Conversation: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var steps: [JSONValue]
    }

    /// The address of the adapter in the recording.
    private static let adapter = BluetoothAddress(rawValue: 0xDA4C_10DE_1700)
    private static let button = BluetoothAddress(rawValue: 0x80E4_DAB8_878F)

    private static let house: [String: [FlicdServer.Input]] = [
        "found": [
            .advertised(
                FlicdAdvertisement(
                    address: button, name: "F2118f87", rssi: -60, isPrivate: false, isAlreadyVerified: false)),
            .pairing(.found(button)),
        ],
        "connected": [.pairing(.connected(button))],
        "not genuine": [.pairing(.failed(button, .invalidData, .invalidData))],
        "silent": [.pairing(.failed(button, .failedTimeout, .verifyTimeout))],
        "detached": [.controller(.detached, address: nil)],
        "resetting": [.controller(.resetting, address: nil)],
        "attached": [.controller(.attached, address: adapter)],
    ]

    static func conversations() throws -> [Conversation] {
        let url = try #require(Bundle.module.url(forResource: "seen", withExtension: "json", subdirectory: "Vectors"))
        let file = try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
        return try #require(file["conversations"]?.arrayValue).map {
            Conversation(
                testDescription: try #require($0["what"]?.stringValue), steps: try #require($0["steps"]?.arrayValue))
        }
    }

    @Test("the server answers a recorded conversation octet for octet", arguments: try conversations())
    func same(_ conversation: Conversation) throws {
        var server = FlicdServer()
        var now = Instant(sinceBoot: .seconds(100))
        var timer: Instant?
        var heard: [Int64: [UInt8]] = [:]
        func handle(_ input: FlicdServer.Input) {
            for effect in server.handle(input, at: now) {
                switch effect {
                case .send(let client, let octets): heard[Int64(client.rawValue), default: []] += octets
                case .setTimer(let deadline): timer = deadline
                case .cancelTimer: timer = nil
                case .pause, .resume, .close, .requestMode, .listen, .delete, .log: break
                }
            }
        }
        handle(.wallClock(UTCTime(milliseconds: 1_795_333_145_000)))
        handle(.controller(.attached, address: Self.adapter))
        handle(.acceptListSize(16))
        for client in 1...2 { handle(.clientConnected(id(client), peer: "127.0.0.1:\(client)")) }

        for step in conversation.steps {
            if let packets = step["hears"]?.arrayValue {
                let client = try #require(step["client"]?.integerValue)
                #expect(heard.removeValue(forKey: client)?.hex == packets.compactMap(\.stringValue).joined())
                continue
            }
            // Every packet the server has sent was expected by a step before this one.
            #expect(heard.isEmpty)
            if let octets = step["sends"]?.stringValue {
                let client = try #require(step["client"]?.integerValue)
                handle(.received(id(Int(client)), try #require([UInt8](hex: octets))))
            } else if let seconds = step["wait"]?.integerValue {
                now = now + .seconds(seconds)
                while let deadline = timer, deadline <= now {
                    timer = nil
                    handle(.timerFired)
                }
            } else {
                let inputs = try #require(Self.house[step["house"]?.stringValue ?? ""])
                for input in inputs { handle(input) }
            }
        }
        #expect(heard.isEmpty)
    }
    @Test("every packet of the real flicd is decoded, and encoded to the same octets", arguments: try conversations())
    func read(_ conversation: Conversation) throws {
        for packet in conversation.steps.flatMap({ $0["hears"]?.arrayValue ?? [] }) {
            let octets = try #require([UInt8](hex: packet.stringValue ?? ""))
            #expect(try FlicdEvent(decoding: Array(octets.dropFirst(2))).encoded() == octets)
        }
    }
}
