import ButtonModel
import Bytes
import JSON
import Testing

@testable import Flic

/// Recorded conversations between the reference host and a simulated button, with `ButtonSession` in the host's place:
/// with the same secrets and notifications, every write must be the same, octet by octet.
@Suite("Replayed recordings: the host")
struct TranscriptReplayTests {
    @Test("a replayed pairing with a click and a longer press writes what was recorded")
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

    @Test("a replayed reconnection with stored and live events writes what was recorded")
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
        #expect(!replay.session.hasStoredEvents)
        #expect(replay.previewCount > 0)
    }

    @Test(
        "each failure of a pairing is reported by its name, and disconnects",
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
        // In that recording the link has another address than the certificate.
        let address = BluetoothAddress(rawValue: Replay.address.rawValue + (failure == .unexpectedAddress ? 1 : 0))
        var replay = try Replay(to: address, purpose: .pair, secrets: Self.hostSecrets())
        try replay.run(Self.failure(name).values("log"))
        #expect(Array(replay.effects.suffix(3)) == [.failed(failure), .disconnect, .cancelTimer])
    }

    @Test("a pairing without answers is given up 31 seconds after the first request")
    func timeout() throws {
        var replay = try Replay(purpose: .pair, secrets: Self.hostSecrets())
        try replay.run(Self.failure("VerifyTimedOut").values("log"))
        #expect(replay.handle(.timerFired, at: 1030.999) == [])
        #expect(replay.handle(.timerFired, at: 1031) == [.failed(.verifyTimedOut), .disconnect])
    }

    /// The reference tries again after 20 s on the same link; `ButtonSession` drops the link and keeps the pairing
    /// (6.3).
    @Test("a button that cannot prove that it knows the pairing is disconnected")
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

    /// The reference sends nothing and begins again after 20 s. `ButtonSession` tells the button that it ends the
    /// session, and begins again after 5 s (6.4). That write is the only difference.
    @Test("a wrong signature ends the session, and the next one on the same link works")
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
        // The extra write has a header, opcode 9 and a signature; it is the sixth signed packet of the session.
        #expect(extra.map { Array($0.prefix(2)) } == [[2, 9]] && extra.first?.count == 7)
        #expect(replay.effects.contains(.failed(.packetSignatureMismatch)))
        #expect(replay.handle(.timerFired, at: 1034.999) == [])
        #expect(replay.handle(.timerFired, at: 1035) == [.needsEntropy])
        try replay.run(Array(log[(split + 1)...]), restarts: true)
    }

    /// The recordings do not contain the host's private key. Every octet up to the question is compared. The question
    /// has our own key, random number and what follows from them, and the recorded answers are no proof for our key.
    /// `KeyDerivationTests` checks the proofs themselves.
    @Test(
        "a button that claims not to know the pairing is asked for a proof, and a false proof fails",
        arguments: 0..<2)
    func unpaired(number: Int) throws {
        let cases = try Vectors.cases("transcript-unpaired")
        let log = try cases[number].values("log")
        // The second recording begins on a link that is already up.
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

    /// The random numbers of the reference host, which are the same in every recording.
    private static func hostSecrets() throws -> JSONValue? {
        try Vectors.load("transcript-pair-events").values("sessions").first?["secrets"]
    }
}
