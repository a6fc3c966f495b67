import Bytes
import TestSupport
import Testing

@testable import ESPHome

/// Inputs that nobody sends on purpose. A trap ends the test program, so it is enough to feed them; what is understood
/// is checked in addition.
@Suite("Fuzzing")
struct FuzzTests {
    private static let ids: [UInt32] =
        [1, 2, 5, 6, 7, 8, 9, 10, 66, 68, 69, 70, 71, 72, 75, 77, 78, 79, 80, 81, 82, 83, 84, 87, 88, 93]
        + [126, 127, 145, 146, 149]

    @Test("no payload traps, and what is understood is understood again")
    func payloads() throws {
        var generator = SeededGenerator(seed: 2)
        let samples = try Vectors.session().map { ($0.id, $0.payload) }
        var understood = 0
        for round in 0..<20_000 {
            let id: UInt32
            let payload: [UInt8]
            if round.isMultiple(of: 2) {
                id = Self.ids.randomElement(using: &generator) ?? 0
                payload = generator.bytes(Int.random(in: 0...60, using: &generator))
            } else {
                let sample = try #require(samples.randomElement(using: &generator))
                id = sample.0
                payload = Self.mutate(sample.1, &generator)
            }
            guard let message = try? ESPHomeMessage(id: id, payload: payload) else { continue }
            understood += 1
            #expect(try ESPHomeMessage(id: id, payload: message.encoded()) == message)
        }
        #expect(understood > 3_000, "\(understood)")
    }

    @Test("no stream traps, whatever state the connection is in")
    func streams() throws {
        var generator = SeededGenerator(seed: 3)
        let vector = try Vectors.handshake()
        let session = try Vectors.session()
        let ofProxy = session.filter { !$0.isOfClient }
        var plainClient = ESPHomeConnection(role: .client, key: nil)
        _ = plainClient.handle(.opened(entropy: []))
        var plainProxy = ESPHomeConnection(role: .proxy(name: "hall", mac: ""), key: nil)
        _ = plainProxy.handle(.opened(entropy: []))
        var greetedClient = vector.openedClient()
        _ = greetedClient.handle(.received(vector.serverHello))
        let situations: [(ESPHomeConnection, [UInt8])] = [
            (vector.openedClient(), vector.serverHello + vector.secondMessage),
            (greetedClient, vector.secondMessage), (vector.openedProxy(), vector.firstWrite),
            (vector.establishedClient(), ofProxy.flatMap(\.encryptedFrame)),
            (vector.establishedProxy(), session.filter(\.isOfClient).flatMap(\.encryptedFrame)),
            (plainClient, ofProxy.flatMap(\.plainFrame)),
            (plainProxy, session.filter(\.isOfClient).flatMap(\.plainFrame)),
        ]
        var failures = 0
        var messages = 0
        for round in 0..<20_000 {
            var (connection, sample) = situations[round % situations.count]
            let octets: [UInt8] =
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: generator.bytes(Int.random(in: 0...200, using: &generator))
                // A valid indicator reaches further.
                case 1: [UInt8.random(in: 0...1, using: &generator), 0] + generator.bytes(60)
                default: Self.mutate(sample, &generator)
                }
            let cut = Int.random(in: 0...octets.count, using: &generator)
            let effects =
                connection.handle(.received(Array(octets[..<cut])))
                + connection.handle(.received(Array(octets[cut...])))
                + connection.handle(.send([.pingRequest]))
            let failed = effects.filter { if case .failed = $0 { true } else { false } }
            #expect(failed.count <= 1)
            failures += failed.count
            messages += effects.compactMap(\.received).count
        }
        #expect(failures > 5_000, "\(failures)")
        #expect(messages > 5_000, "\(messages)")
    }

    @Test("no decrypted message traps")
    func decrypted() throws {
        var generator = SeededGenerator(seed: 4)
        let vector = try Vectors.handshake()
        let client = vector.establishedClient()
        for _ in 0..<2_000 {
            var cipher = NoiseCipher(key: vector.keyFromProxy)
            var connection = client
            let inner =
                [0, UInt8.random(in: 0...150, using: &generator), 0, UInt8.random(in: 0...30, using: &generator)]
                + generator.bytes(Int.random(in: 0...30, using: &generator))
            let effects = connection.handle(.received(FrameStream.encryptedFrame(try cipher.encrypt(inner))))
            #expect(effects.count == 1)
        }
    }

    /// Changes, removes, inserts or doubles some octets.
    private static func mutate(_ octets: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var octets = octets
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let position = Int.random(in: 0...octets.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0 where position < octets.count: octets[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where position < octets.count: octets[position] = UInt8.random(in: 0...255, using: &generator)
            case 2 where position < octets.count: octets.remove(at: position)
            case 3: octets.insert(contentsOf: generator.bytes(2), at: position)
            default: octets = Array(octets[..<position])
            }
        }
        return octets
    }
}
