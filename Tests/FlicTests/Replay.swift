import ButtonModel
import Bytes
import JSON
import TestSupport
import Testing

@testable import Flic

/// Feeds a recorded log to a session and compares the writes. The recorded hosts do not support Duos.
struct Replay {
    static let address = BluetoothAddress(rawValue: 0x9088_A900_0001)

    private(set) var session: ButtonSession
    private let privateKey, random: [UInt8]
    private(set) var effects: [ButtonSession.Effect] = []
    /// The number of values whose event was known before they were handled.
    private(set) var previewCount = 0
    /// The session's writes that were not yet compared with the log.
    var writes: [[UInt8]] = []
    /// The session's writes that were allowed to differ from the recording.
    private(set) var different: [[UInt8]] = []
    private var expectedEvents: [(counter: UInt32, wasQueued: Bool, age: Double)] = []

    init(
        to address: BluetoothAddress = Self.address, purpose: ButtonSession.Purpose, latencyMode: LatencyMode = .normal,
        firmwareVersion: UInt32? = nil, autoDisconnectTime: UInt16? = nil, secrets: JSONValue? = nil
    ) throws {
        session = ButtonSession(
            .init(
                address: address, purpose: purpose,
                trustRoots: [ButtonSession.flicRoot, try Vectors.load("test-root").octets("ed25519_public_key")],
                latencyMode: latencyMode, firmwareVersion: firmwareVersion, autoDisconnectTime: autoDisconnectTime,
                supportsDuo: false))
        privateKey = try secrets?.octets("host_x25519_private") ?? [UInt8](repeating: 0, count: 32)
        random = try secrets?.octets("host_random8") ?? []
    }

    @discardableResult
    mutating func handle(_ input: ButtonSession.Input, at seconds: Double) -> [ButtonSession.Effect] {
        let now = Instant(nanoseconds: Int64((seconds * 1000).rounded()) * 1_000_000)
        if session.expectation(of: input, at: now) != nil { previewCount += 1 }
        let new = session.checked(input, at: now)
        effects.append(contentsOf: new)
        for case .send(let value) in new { writes.append(value) }
        for case .events(_, let cursor, true) in new { handle(.synced(cursor), at: seconds) }
        return new
    }

    /// - Parameter differing: names of packets of which only header, opcode and length have to match the recording.
    mutating func run(_ log: [JSONValue], restarts: Bool = false, differing: Set<String> = []) throws {
        var hasRestarted = !restarts
        for (index, entry) in log.enumerated() {
            let seconds = try entry.seconds()
            if let text = entry["write"]?.stringValue {
                let expected = try #require([UInt8](hex: text))
                if !hasRestarted {
                    hasRestarted = true
                    handle(.restart(entropy(from: expected)), at: seconds)
                }
                let note = try entry.text("note")
                let ours = writes.isEmpty ? nil : writes.removeFirst()
                if differing.contains(where: note.hasSuffix), let ours {
                    #expect(ours.prefix(2) == expected.prefix(2) && ours.count == expected.count, "\(note)")
                    different.append(ours)
                } else {
                    #expect(ours == expected, "\(note)")
                }
            } else if let text = entry["notify"]?.stringValue {
                #expect(writes.isEmpty)
                handle(.received(try #require([UInt8](hex: text))), at: seconds)
            } else if let link = entry["link"]?.stringValue {
                let attMTU = try #require(link.split(separator: " ").compactMap { Int($0.dropLast()) }.first)
                let request = log[index...].first { $0["write"] != nil }
                let first = try #require(request).octets("write")
                handle(.linkReady(attMTU: attMTU, entropy(from: first)), at: seconds)
            } else if let event = entry["host_event"], event["event"]?.stringValue == "button" {
                let counter: UInt32 = try event.integer("event_count")
                if expectedEvents.last?.counter != counter {
                    let wasQueued = event["was_queued"]?.boolValue == true
                    expectedEvents.append((counter, wasQueued, try event.seconds("age")))
                }
            }
        }
        let events = effects.flatMap { effect -> [ButtonEvent] in
            if case .events(let events, _, _) = effect { events } else { [] }
        }
        #expect(events.map(\.counter) == expectedEvents.map(\.counter))
        #expect(events.map(\.wasQueued) == expectedEvents.map(\.wasQueued))
        for (event, expected) in zip(events, expectedEvents) {
            #expect(abs(event.age / .seconds(1) - expected.age) < 0.000_1)
        }
    }

    /// The random numbers of the reference host, as far as its first write shows them.
    private func entropy(from write: [UInt8]) -> SessionEntropy {
        let isQuick = write.dropFirst().first == 5
        let temporaryID = write.dropFirst(isQuick ? 10 : 2).prefix(4).reversed().reduce(UInt32(0)) {
            $0 << 8 | UInt32($1)
        }
        return SessionEntropy(
            temporaryID: temporaryID, random: isQuick ? Array(write.dropFirst(2).prefix(7)) + [0] : random,
            privateKey: privateKey)
    }
}
