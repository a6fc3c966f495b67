import ButtonModel
import Bytes
import JSON
import Testing

@testable import Flic

/// The recorded conversations between the reference host and a simulated button, with us in the host's place: given
/// the same secrets and notifications, every write must be the same, octet by octet.
@Suite("Replayed transcripts")
struct TranscriptReplayTests {
    private static let address = BluetoothAddress(rawValue: 0x9088_A900_0001)

    @Test("pairing, a click and a longer press, live")
    func pairing() throws {
        let session = try #require(try Vectors.load("transcript-pair-events").values("sessions").first)
        var replay = try Replay(purpose: .pair, secrets: session["secrets"])
        try replay.run(session.values("log"))

        let paired = try #require(
            replay.effects.compactMap { effect -> (ButtonIdentity, Pairing, Int)? in
                if case .paired(let identity, let pairing, let millivolts) = effect {
                    (identity, pairing, millivolts)
                } else {
                    nil
                }
            }.first)
        #expect(paired.0.uuid == "5aa61c5615eba33f02eb79b9402cba0a")
        #expect(paired.0.serial == "BA00-A00001")
        #expect(paired.0.nickname == "Hall")
        #expect(paired.0.firmwareVersion == 11)
        #expect(paired.2 == 3023)
        let secrets = try #require(session["secrets"]).octets("pairing_identifier_and_key")
        #expect(paired.1.key.octets == Array(secrets.dropFirst(4)))
        #expect(replay.effects.contains(.advertisingConfigured))
        #expect(replay.effects.contains(.nickname("Hall")))
    }

    @Test("reconnecting, seven stored events, then a click whose second press is held")
    func reconnecting() throws {
        let session = try #require(try Vectors.load("transcript-pair-events").values("sessions").last)
        let secrets = try #require(session["secrets"])
        let key = try #require(PairingKey(secrets.octets("pairing_key")))
        let pairing = Pairing(identifier: 0xBEC1_56BD, key: key)
        var replay = try Replay(
            purpose: .reconnect(
                pairing, EventCursor(bootID: 305_441_741, eventCount: 7), advertisingConfigured: true))
        try replay.run(session.values("log"))
        #expect(replay.effects.contains(.battery(millivolts: 3023)))
        #expect(replay.effects.contains(.firmware(version: 11)))
        #expect(replay.effects.filter { $0 == .queueDrained }.count == 1)
    }

    @Test(
        "what goes wrong in a pairing is named, and ends the link",
        arguments: [
            ("NotInPublicMode", .notInPublicMode),
            ("GenuineCheckFailed.InvalidCertificate", .invalidCertificate),
            ("GenuineCheckFailed.UnexpectedAddress", .unexpectedAddress),
            ("GenuineCheckFailed.InvalidVerifier", .invalidVerifier),
            ("TooManyApps / NoLogicalConnectionSlots", .tooManyApps),
            ("FullVerifyFailed(unknown code 7)", .fullVerifyFailedUnknown(reason: 7)),
            ("AppCredentialsRejectedByButton", .appCredentialsDeniedByButton),
        ] as [(String, SessionFailure)])
    func failedPairing(name: String, failure: SessionFailure) throws {
        // In that recording the link is to another address than the certificate's.
        let address = BluetoothAddress(rawValue: Self.address.rawValue + (failure == .unexpectedAddress ? 1 : 0))
        var replay = try Replay(to: address, purpose: .pair, secrets: Self.hostSecrets())
        try replay.run(Self.failure(name).values("log"))
        #expect(Array(replay.effects.suffix(3)) == [.failed(failure), .disconnect, .cancelTimer])
    }

    @Test("a button that does not answer is given up 31 seconds after the first request")
    func timeout() throws {
        var replay = try Replay(purpose: .pair, secrets: Self.hostSecrets())
        try replay.run(Self.failure("VerifyTimedOut").values("log"))
        #expect(replay.handle(.timerFired, at: 1030.999) == [])
        #expect(replay.handle(.timerFired, at: 1031) == [.failed(.verifyTimedOut), .disconnect])
    }

    /// The reference tries again after 20 s on the same link; ours drops the link and keeps the pairing (6.3, 6.10).
    @Test("a button that cannot prove the pairing is left alone")
    func quickVerifyMismatch() throws {
        let log = try Self.failure("QuickVerifySignatureMismatch").values("log")
        let key = try #require(PairingKey([UInt8](repeating: 1, count: 16)))
        var replay = try Replay(
            purpose: .reconnect(
                Pairing(identifier: 3_637_970_611, key: key), EventCursor(), advertisingConfigured: true))
        try replay.run(log)
        #expect(
            Array(replay.effects.suffix(3)) == [.failed(.quickVerifySignatureMismatch), .disconnect, .cancelTimer])
    }

    /// The reference is silent and begins again after 20 s; ours says that it ends the session, and begins again after
    /// 5 s (6.4). That write is the only difference.
    @Test("a wrong signature ends the session, and a new one on the same link works")
    func packetSignatureMismatch() throws {
        let log = try Self.failure("PacketSignatureMismatch").values("log")
        let split = try #require(log.firstIndex { $0["host_event"]?["event"]?.stringValue == "session_failed" })
        let key = try #require(PairingKey([UInt8](hex: "c9f01f7241570cddd0aa7d12bb33777d") ?? []))
        var replay = try Replay(
            purpose: .reconnect(
                Pairing(identifier: 3_328_213_144, key: key), EventCursor(bootID: 305_441_741),
                advertisingConfigured: true))
        try replay.run(Array(log[..<split]))
        let extra = replay.writes
        replay.writes = []
        // Header, opcode 9, signature: the sixth signed packet of ours.
        #expect(extra.map { Array($0.prefix(2)) } == [[2, 9]] && extra.first?.count == 7)
        #expect(replay.effects.contains(.failed(.packetSignatureMismatch)))
        #expect(replay.handle(.timerFired, at: 1034.999) == [])
        #expect(replay.handle(.timerFired, at: 1035) == [.needsEntropy])
        try replay.run(Array(log[(split + 1)...]), restarts: true)
    }

    /// The recordings do not tell the host's private key. So up to the question every octet is the same; in the question
    /// the key, the random (ours is the one of the quick verify) and what follows from them are our own; and the
    /// recorded answers prove nothing to us. What they prove to their host is held against the vectors of the keys.
    @Test("a button said not to know the pairing is asked to prove it", arguments: 0..<2)
    func unpaired(number: Int) throws {
        let cases = try Vectors.cases("transcript-unpaired")
        let log = try cases[number].values("log")
        // The second recording begins on a link that is up already.
        let link = try #require(try cases[0].values("log").first)
        let question = try #require(
            log.firstIndex { $0["note"]?.stringValue?.hasSuffix("TestIfReallyUnpairedRequest") == true })
        let pairing = try #require(Pairing(octets: cases[number].octets("stored_pairing")))
        var replay = try Replay(
            purpose: .reconnect(pairing, EventCursor(), advertisingConfigured: true), secrets: Self.hostSecrets())
        try replay.run((number == 0 ? [] : [link]) + log[..<question])

        let recorded = try log[question].octets("write")
        let ours = try #require(replay.writes.first)
        #expect(replay.writes.count == 1 && ours.count == recorded.count)
        #expect(ours.prefix(2) == recorded.prefix(2))
        #expect(ours[42..<46] == recorded[42..<46], "the pairing's identifier")

        replay.writes = []
        try replay.run(Array(log[(question + 1)...]))
        #expect(
            Array(replay.effects.suffix(3)) == [.failed(.invalidCalculatedSignature), .disconnect, .cancelTimer])
    }

    private static func failure(_ name: String) throws -> JSONValue {
        try #require(try Vectors.cases("transcript-failures").first { $0["case"]?.stringValue == name })
    }

    /// The reference host drew the same numbers in every recording.
    private static func hostSecrets() throws -> JSONValue? {
        try Vectors.load("transcript-pair-events").values("sessions").first?["secrets"]
    }

    /// Feeds a recorded log to a session and compares.
    private struct Replay {
        private var session: ButtonSession
        private let privateKey, random: [UInt8]
        private(set) var effects: [ButtonSession.Effect] = []
        /// Ours, of which the log has said nothing yet.
        var writes: [[UInt8]] = []
        private var expectedEvents: [(counter: UInt32, wasQueued: Bool, age: Double)] = []

        init(to address: BluetoothAddress = address, purpose: ButtonSession.Purpose, secrets: JSONValue? = nil) throws {
            session = ButtonSession(
                .init(
                    address: address, purpose: purpose,
                    trustRoots: [ButtonSession.flicRoot, try Vectors.load("test-root").octets("ed25519_public_key")]))
            privateKey = try secrets?.octets("host_x25519_private") ?? [UInt8](repeating: 0, count: 32)
            random = try secrets?.octets("host_random8") ?? []
        }

        @discardableResult
        mutating func handle(_ input: ButtonSession.Input, at seconds: Double) -> [ButtonSession.Effect] {
            let now = Instant(nanoseconds: Int64((seconds * 1000).rounded()) * 1_000_000)
            let new = session.handle(input, at: now)
            effects.append(contentsOf: new)
            for case .send(let value) in new { writes.append(value) }
            for case .events(_, let cursor, true) in new { handle(.synced(cursor), at: seconds) }
            return new
        }

        mutating func run(_ log: [JSONValue], restarts: Bool = false) throws {
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
                    #expect(ours == expected, "\(note)")
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

        /// What the reference drew, as far as its first write shows it.
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
}
