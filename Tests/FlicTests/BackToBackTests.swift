import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// Tests a host's session and a simulated button against each other. Other tests compare each of them with the reference.
@Suite("Session and simulated button")
struct BackToBackTests {
    @Test("presses before and after a lost link are each reported once", arguments: [23, 65, 140])
    func story(attMTU: Int) throws {
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: attMTU)
        #expect(ends.button.isPaired && ends.failures.isEmpty)
        #expect(ends.buttonEffects.contains(.paired) && ends.buttonEffects.contains(.sessionReady))
        #expect(
            ends.buttonEffects.contains(
                .requestParameters(intervalMinimum: 80, intervalMaximum: 90, latency: 17, timeout: 800)))
        #expect(ends.hostEffects.contains(.nickname("Küche")) && ends.hostEffects.contains(.advertisingConfigured))

        ends.press(for: .milliseconds(100))
        ends.wait(.seconds(2))
        #expect(ends.events.map(\.step) == [.down, .up(.open), .clickTimeout])
        #expect(ends.events.map(\.counter) == [1, 3, 4])
        #expect(ends.events.allSatisfy { !$0.wasQueued && $0.age == .zero && $0.bootID == 4711 })

        ends.tellButton(.linkDown)
        ends.tellHost(.linkLost)
        ends.press(for: .milliseconds(100))
        ends.wait(.milliseconds(100))
        ends.press(for: .milliseconds(100))
        ends.wait(.seconds(30))
        let pairing = try #require(ends.pairing)
        let cursor = try #require(ends.cursor)
        #expect(cursor == EventCursor(bootID: 4711, eventCount: 4))
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: attMTU, after: .zero)
        #expect(ends.events.map(\.step) == [.down, .up(.open), .down, .up(.doubleClick)])
        #expect(ends.events.map(\.counter) == [5, 7, 9, 11])
        #expect(ends.events.map(\.wasQueuedLast) == [false, false, false, true])
        let ages = ends.events.map { $0.age / .seconds(1) }
        for (age, expected) in zip(ages, [30.3, 30.2, 30.1, 30.0]) { #expect(abs(age - expected) < 0.001) }
        #expect(
            ends.hostEffects.contains(.battery(millivolts: 2999)) && ends.hostEffects.contains(.firmware(version: 11)))

        ends.press(for: .milliseconds(1500))
        #expect(ends.events.suffix(3).map(\.step) == [.down, .hold(ofSecondPress: false), .up(.afterHoldClick)])
        #expect(ends.failures.isEmpty)
    }

    @Test(
        "events that were not stored are sent again in the next session, and then reported once", arguments: [23, 140])
    func unacknowledged(attMTU: Int) throws {
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: attMTU)
        ends.syncs = false
        ends.press(for: .milliseconds(700))
        #expect(ends.events.map(\.counter) == [1, 3])
        let pairing = try #require(ends.pairing)
        // The power failed before anything was stored.
        ends.syncs = true
        let stored = EventCursor(bootID: 4711)
        ends.reconnect(.reconnect(pairing, stored, advertisingConfigured: true), attMTU: attMTU, after: .seconds(1))
        #expect(ends.events.map(\.counter) == [1, 3] && ends.events.allSatisfy(\.wasQueued))
        let cursor = try #require(ends.cursor)
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: attMTU, after: .seconds(1))
        #expect(ends.events.isEmpty && ends.failures.isEmpty)
    }

    @Test(
        "the next session requests events that are not on disk, does not deliver them twice, and acknowledges them when synced",
        arguments: [FlicModel.flic2, .duo, .twist])
    func deliveredAndNotSynced(model: FlicModel) throws {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: model))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        ends.press(for: .milliseconds(700))
        let synced = try #require(ends.cursor)
        ends.syncs = false
        ends.press(for: .milliseconds(700))
        ends.tellButton(.partPressed(.small))
        ends.wait(.milliseconds(700))
        ends.tellButton(.partReleased(.small, swipe: nil))
        let delivered = try #require(ends.cursor)
        let pairing = try #require(ends.pairing)
        let memory = ends.button.eventSnapshot
        #expect(memory.stored == [5, 7] && memory.smallStored == (model == .duo ? [1, 3] : []))
        ends.reconnect(
            .reconnect(pairing, synced, delivered: delivered, advertisingConfigured: true), attMTU: 140,
            after: .seconds(1))
        #expect(ends.events.isEmpty && ends.button.eventSnapshot == memory)
        ends.tellHost(.synced(delivered))
        #expect(ends.button.eventSnapshot.stored == [] && ends.button.eventSnapshot.smallStored == [])
        // The init request of a new session on the same link covers only events that are on disk, too.
        ends.press(for: .milliseconds(700))
        ends.tellButton(.fault(.wrongSignature))
        ends.press(for: .milliseconds(700))
        ends.wait(.seconds(6))
        #expect(ends.events.map(\.counter) == [9, 11, 13, 15] && ends.failures == [.packetSignatureMismatch])
        #expect(ends.button.eventSnapshot.stored == [9, 11, 13, 15])
        ends.tellHost(.synced(try #require(ends.cursor)))
        #expect(ends.button.eventSnapshot.stored == [])
    }

    @Test("a press that a lost link interrupts continues with the stored steps")
    func cutGesture() throws {
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 23)
        ends.tellButton(.pressed)
        ends.wait(.milliseconds(100))
        let pairing = try #require(ends.pairing)
        let cursor = try #require(ends.cursor)
        #expect(cursor.eventCount == 1)
        ends.tellButton(.linkDown)
        ends.tellButton(.released)
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 23, after: .seconds(3))
        #expect(ends.events.map(\.step) == [.up(.open), .clickTimeout])
    }

    @Test("a button that is not in public mode refuses to pair")
    func refusal() {
        var ends = TwoEnds()
        ends.connect(attMTU: 140)
        #expect(ends.failures == [.notInPublicMode] && ends.hostEffects.contains(.disconnect))
    }

    @Test("a button that has deleted the pairing proves it, and is reported as unpaired", arguments: [23, 65, 140])
    func unpaired(attMTU: Int) {
        var ends = TwoEnds(.reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: false))
        ends.connect(attMTU: attMTU)
        #expect(ends.hostEffects.suffix(3) == [.unpaired, .disconnect, .cancelTimer] && ends.failures.isEmpty)
    }

    @Test(
        "after a forged QuickVerifyNegativeResponse the pairing is kept, and the link is ended",
        arguments: [23, 65, 140])
    func forgedNegativeAnswer(attMTU: Int) {
        var ends = TwoEnds(
            .reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: false),
            button: TwoEnds.makeButton(pairings: [TestButton.pairing]))
        ends.forgesNegativeAnswer = true
        ends.connect(attMTU: attMTU)
        #expect(ends.hostEffects.suffix(3) == [.failed(.pairingExists), .disconnect, .cancelTimer])
    }

    @Test("an invalid proof does not invalidate the pairing", arguments: [true, false])
    func spoiledProof(isPaired: Bool) {
        var ends = TwoEnds(
            .reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: false),
            button: TwoEnds.makeButton(pairings: isPaired ? [TestButton.pairing] : []))
        ends.forgesNegativeAnswer = true
        ends.spoilsProof = true
        ends.connect(attMTU: 140)
        #expect(ends.hostEffects.suffix(3) == [.failed(.invalidCalculatedSignature), .disconnect, .cancelTimer])
    }

    @Test("a button with another certificate or address cannot invalidate the pairing")
    func unpairedByAnother() {
        let purpose = ButtonSession.Purpose.reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: false)
        var ends = TwoEnds(purpose)
        ends.session = ButtonSession(.init(address: TwoEnds.address, purpose: purpose))
        ends.connect(attMTU: 140)
        #expect(ends.hostEffects.suffix(3) == [.failed(.invalidCertificate), .disconnect, .cancelTimer])

        ends = TwoEnds(purpose)
        ends.session = ButtonSession(
            .init(
                address: TestButton.address, purpose: purpose,
                trustRoots: [FlicPeripheral.rootPublicKey(seed: TwoEnds.rootSeed)]))
        ends.connect(attMTU: 140)
        #expect(ends.hostEffects.suffix(3) == [.failed(.unexpectedAddress), .disconnect, .cancelTimer])
    }

    @Test("a root that is not among the trusted roots is not trusted")
    func untrustedRoot() {
        var ends = TwoEnds()
        ends.session = ButtonSession(.init(address: TwoEnds.address, purpose: .pair))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        #expect(ends.failures == [.invalidCertificate])
    }

    @Test("after a reboot the event counts begin again, and all events are new")
    func reboot() throws {
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        ends.press(for: .milliseconds(700))
        let pairing = try #require(ends.pairing)
        let cursor = try #require(ends.cursor)
        ends.tellButton(.rebooted(bootID: 4712))
        ends.press(for: .milliseconds(700))
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 140, after: .seconds(1))
        #expect(ends.events.map(\.counter) == [1, 3] && ends.events.allSatisfy { $0.bootID == 4712 })
        #expect(ends.hostEffects.contains(.advertisingConfigured))
    }

    @Test("pings keep a session for hours, and a session that failed is started again")
    func pings() throws {
        var ends = TwoEnds(button: TwoEnds.makeButton(pingPeriod: .seconds(20)))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        ends.wait(.seconds(4 * 60 * 60))
        #expect(ends.failures.isEmpty)
        #expect(ends.hostEffects.contains(.battery(millivolts: 2999)))
        // A packet with a wrong signature: the host ends the session and starts another one.
        ends.tellHost(.received([1, 15, 0, 0, 0, 0, 0]))
        #expect(ends.failures == [.packetSignatureMismatch])
        ends.wait(.seconds(6))
        ends.press(for: .milliseconds(700))
        #expect(ends.events.map(\.counter) == [1, 3])
    }

    @Test("with random presses and lost links, each event is reported once and in order", arguments: 0..<40)
    func randomStory(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 23)
        let pairing = try #require(ends.pairing)
        var seen: [UInt32] = []
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                ends.press(for: .milliseconds(Int.random(in: 1...1800, using: &generator)))
                ends.wait(.milliseconds(Int.random(in: 1...1000, using: &generator)))
            }
            seen += ends.events.map(\.counter)
            let cursor = try #require(ends.cursor)
            let attMTU = Int.random(in: 23...140, using: &generator)
            ends.tellButton(.linkDown)
            ends.tellHost(.linkLost)
            if Bool.random(using: &generator) {
                ends.press(for: .milliseconds(Int.random(in: 1...1800, using: &generator)))
            }
            ends.syncs = Bool.random(using: &generator)
            ends.reconnect(
                .reconnect(pairing, cursor, advertisingConfigured: true), attMTU: attMTU, after: .seconds(2))
            #expect(ends.failures.isEmpty)
        }
        seen += ends.events.map(\.counter)
        #expect(seen == Set(seen).sorted(), "in order, and each once")
        // Only steps that did not happen are skipped. The largest gap is that between an up and the next down.
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $1 - $0 <= 2 })
    }

    @Test("random octets in any state trap neither end", arguments: 0..<60)
    func noise(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        if seed % 3 > 0 { ends.connect(attMTU: seed % 2 == 0 ? 23 : 140) }
        if seed % 3 > 1, let pairing = ends.pairing {
            ends.press(for: .milliseconds(700))
            ends.reconnect(
                .reconnect(pairing, EventCursor(), advertisingConfigured: false), attMTU: 23, after: .seconds(1))
        }
        for _ in 0..<200 {
            var value = generator.bytes(Int.random(in: 0...140, using: &generator))
            // Often the first octets are valid, so that the value passes the first checks.
            if Bool.random(using: &generator), value.count > 2 {
                value[0] = [0, 1, 2, 0x21, 0x22, 0x81].randomElement(using: &generator) ?? 0
                value[1] = UInt8.random(in: 0...45, using: &generator)
            }
            if Bool.random(using: &generator) {
                ends.tellHost(.received(value))
            } else {
                ends.tellButton(.received(value, random: generator.bytes(Int.random(in: 0...9, using: &generator))))
            }
            ends.wait(.milliseconds(Int.random(in: 0...4000, using: &generator)))
        }
    }

    @Test("random packets with a valid signature of the button do not trap the session", arguments: 0..<60)
    func signedNoise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var established = try #require(EstablishedTalk())
        if seed % 2 == 0 { _ = established.initialise(hasQueuedEvents: seed % 4 == 0) }
        for _ in 0..<100 {
            var octets = generator.bytes(Int.random(in: 1...122, using: &generator))
            octets[0] =
                [9, 10, 11, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25, 40].randomElement(
                    using: &generator) ?? 12
            if octets[0] == 9 && Bool.random(using: &generator) { octets[0] = 12 }
            let effects = established.talk.given(.received(established.button.value(octets: octets)))
            guard !effects.contains(where: { if case .failed = $0 { true } else { false } }) else { break }
            established.talk.given(.synced(EventCursor(bootID: TestButton.bootID, eventCount: .max)))
        }
    }

    @Test(
        "random packets with a valid signature of the host neither trap the button nor end the session",
        arguments: 0..<60)
    func signedHostNoise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        for _ in 0..<100 {
            var octets = generator.bytes(Int.random(in: 1...122, using: &generator))
            octets[0] =
                [8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 23, 25, 26, 27, 32, 33, 40].randomElement(
                    using: &generator) ?? 23
            let effects = button.handle(.received(host.value(octets: octets), random: []), at: host.now)
            #expect(!effects.contains { if case .disconnect = $0 { true } else { false } })
            host.now = host.now + .milliseconds(1)
        }
        let effects = button.handle(.received(host.value(octets: [20]), random: []), at: host.now)
        #expect(effects.contains { if case .send(let value) = $0 { value.first == 1 } else { false } })
    }
}
