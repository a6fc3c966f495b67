import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// Tests a host's session with a Twist packet by packet, with the test as the Twist.
@Suite("Twist sessions: releases without a down, and narrow links")
struct TwistSessionTests {
    private struct Talk {
        var talk: Transcript<ButtonSession>
        private var channel: SignedChannel
        private static let random: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]

        /// A session past init with a Twist that has rebooted since the last session.
        init(hasQueuedEvents: Bool = false, eventCount: UInt32) throws {
            talk = Transcript(TwistSessionTests.session())
            let key = SessionKey(
                quickVerify: TestButton.pairing.key, hostRandom: Array(TestButton.entropy.random.prefix(7)), flags: 0,
                buttonRandom: Self.random)
            channel = SignedChannel(try #require(key), as: .button)
            talk.given(.linkReady(attMTU: 140, TestButton.entropy))
            try receive(.quickVerifyResponse(.init(random: Self.random, temporaryID: TestButton.entropy.temporaryID)))
            let effects = try receive(
                .initButtonEventsResponse(
                    .init(
                        hasQueuedEvents: hasQueuedEvents, ticks: 1_000_000, eventCount: eventCount,
                        bootID: TestButton.bootID)))
            #expect(effects.contains { if case .ready = $0 { true } else { false } })
        }

        @discardableResult
        mutating func receive(_ packet: ButtonPacket) throws -> [ButtonSession.Effect] {
            talk.given(.received(channel.seal(try #require(packet.twistOctets))))
        }

        mutating func receive(_ eventCount: UInt32, _ codes: UInt8...) throws -> [PressStep] {
            let items = codes.map { TwistEventNotification.Item(ticks: 900_000, code: .init(rawValue: $0)) }
            let effects = try receive(
                .twist(.buttonEventNotification(.init(eventCount: eventCount, items: items))))
            return effects.flatMap { effect -> [PressStep] in
                if case .events(let events, _, _) = effect { events.map(\.step) } else { [] }
            }
        }
    }

    private static func session() -> ButtonSession {
        ButtonSession(
            .init(
                address: TestButton.address,
                purpose: .reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: true), isTwist: true))
    }

    @Test("an up whose hold was counted before the session is an up after a hold")
    func heldBefore() throws {
        var talk = try Talk(eventCount: 2)
        #expect(try talk.receive(3, 0) == [.up(.afterHoldClick)])
        #expect(try talk.receive(7, 1, 0) == [.down, .up(.click)])
    }

    @Test("an up whose down was counted before the session is a click")
    func pressedBefore() throws {
        var talk = try Talk(eventCount: 1)
        #expect(try talk.receive(3, 0) == [.up(.click)])
    }

    @Test("a link whose MTU is too small for a Twist's packets fails at once, with that reason", arguments: [23, 119])
    func narrow(attMTU: Int) {
        var talk = Transcript(Self.session())
        talk.when(
            .linkReady(attMTU: attMTU, TestButton.entropy), expect: .failed(.attMTUTooSmall(attMTU)), .disconnect)
        talk.when(.timerFired, expect: .nothing)
        #expect(SessionFailure.attMTUTooSmall(attMTU).name == "att_mtu_too_small")
    }

    @Test("a link with the smallest MTU that is enough delivers stored events and a firmware image")
    func justWideEnough() throws {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .twist))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 120)
        let pairing = try #require(ends.pairing)
        let cursor = try #require(ends.cursor)
        ends.tellButton(.linkDown)
        for _ in 0..<9 {
            ends.press(for: .milliseconds(700))
            ends.wait(.seconds(1))
        }
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 120, after: .zero)
        #expect(ends.events.count == 16 && ends.failures.isEmpty)
        let image = try FirmwareImage(FlicPeripheral.signedFirmware(octetCount: 1234), for: .twist)
        ends.tellHost(.perform(.updateFirmware(image)))
        #expect(ends.hostEffects.contains(.firmwareUpdate(.finished)))
        for case .send(let value) in ends.hostEffects { #expect(value.count <= 117) }
        for case .send(let value) in ends.buttonEffects { #expect(value.count <= 117) }
    }
}
