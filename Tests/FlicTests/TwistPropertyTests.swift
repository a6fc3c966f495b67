import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// Tests each end of a Twist's session with random packets that have right signatures.
@Suite("Hostile Twists and hostile hosts")
struct TwistPropertyTests {
    @Test("for any packets of a Twist, dial positions stay in range and writes fit the link", arguments: 0..<40)
    func session(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let random: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        let key = SessionKey(
            quickVerify: TestButton.pairing.key, hostRandom: Array(TestButton.entropy.random.prefix(7)), flags: 0,
            buttonRandom: random)
        var channel = SignedChannel(try #require(key), as: .button)
        var talk = Transcript(
            ButtonSession(
                .init(
                    address: TestButton.address,
                    purpose: .reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: true), isTwist: true))
        )
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        func take(_ octets: [UInt8]?) throws -> [ButtonSession.Effect] {
            talk.given(.received(channel.seal(try #require(octets))))
        }
        let response = ButtonPacket.quickVerifyResponse(
            .init(random: random, temporaryID: TestButton.entropy.temporaryID))
        #expect(try take(response.twistOctets).contains { if case .send = $0 { true } else { false } })
        // A turn before the init response has no position to begin from.
        #expect(try take([10] + generator.bytes(12)) == [.ignored(reason: "a rotation before the init response")])
        _ = try take([8] + generator.bytes(15))
        for _ in 0..<300 {
            var effects: [ButtonSession.Effect] = []
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: effects = try take([9] + generator.bytes(Int.random(in: 0...132, using: &generator)))
            case 1, 2: effects = try take([10] + generator.bytes(Int.random(in: 0...14, using: &generator)))
            case 3: effects = try take([UInt8.random(in: 11...23, using: &generator)] + generator.bytes(20))
            case 4:
                let dial = Dial.all(of: .twist).randomElement(using: &generator) ?? .free
                effects = talk.given(.perform(.setDial(dial, units: .random(in: -9...60_000, using: &generator))))
            default:
                let mode = LEDMode.allCases.randomElement(using: &generator) ?? .none
                effects = talk.given(.perform(.setLEDMode(mode)))
            }
            for effect in effects {
                if case .send(let value) = effect { #expect(value.count <= 137) }
                guard case .moved(let movements) = effect else { continue }
                for movement in movements {
                    #expect(0...Dial.unitsPerTurn ~= movement.units && 0...100 ~= movement.position)
                    #expect(1...12 ~= movement.slot && movement.dial != nil)
                }
            }
        }
    }

    @Test(
        "for any packets of a host, a simulated Twist's dials stay in range and its answers fit the link",
        arguments: 0..<40)
    func peripheral(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing], model: .twist)
        let now = Instant(sinceBoot: .seconds(20))
        _ = button.handle(.linkUp(attMTU: 140), at: now)
        let hostRandom: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
        let buttonRandom: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        let key = SessionKey(
            quickVerify: TestButton.pairing.key, hostRandom: hostRandom, flags: 0, buttonRandom: buttonRandom)
        var channel = SignedChannel(try #require(key), as: .host)
        let request = HostPacket.quickVerifyRequest(
            .init(random: hostRandom, flags: 0, temporaryID: 7, pairingIdentifier: TestButton.pairing.identifier))
        #expect(!button.handle(.received(try #require(request.twistOctets), random: buttonRandom), at: now).isEmpty)
        for _ in 0..<300 {
            let opcode = UInt8.random(in: 7...26, using: &generator)
            // These two opcodes end the session.
            guard opcode != 8, opcode != 18 else { continue }
            let packet = [opcode] + generator.bytes(Int.random(in: 0...120, using: &generator))
            var effects = button.handle(.received(channel.seal(packet), random: []), at: now)
            effects += button.handle(.turned(units: .random(in: Int.min...Int.max, using: &generator)), at: now)
            for case .send(let value) in effects { #expect(value.count <= 137) }
            let positions = try #require(button.dialSnapshot?.positions)
            #expect(positions.count == 13 && positions.values.allSatisfy { 0...Dial.unitsPerTurn ~= $0 })
        }
        #expect(button.handle(.linkDown, at: now).allSatisfy { if case .send = $0 { false } else { true } })
    }
}
