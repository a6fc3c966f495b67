import ButtonModel
import Cryptography
import JSON
import TestSupport
import Testing

@testable import Flic

@Suite("Simulated button")
struct FlicPeripheralTests {
    @Test("presses have the codes, counters and times of the reference gestures")
    func gestures() throws {
        for vector in try Vectors.cases("events", "gestures") {
            // The simulated button sends code 1 for a second press, and the vector has code 5; both mean the same.
            let items = try vector.values("items")
            var press = PressEncoder()
            var steps: [PressEncoder.Step] = []
            for item in items {
                let milliseconds: Int64 =
                    switch item["offset_s"] {
                    case .number(let value): Int64((value * 1000).rounded())
                    case .integer(let value): value * 1000
                    default: 0
                    }
                let now = Instant(sinceBoot: .milliseconds(milliseconds))
                let code = try EventCode(rawValue: item.integer("event_encoded"))
                // The simulated button does the same: steps that were due earlier come first.
                while let deadline = press.deadline, deadline < now, let step = press.timePassed() {
                    steps.append(step)
                }
                switch code.step {
                case .down: if let step = press.pressed(at: now) { steps.append(step) }
                case .up: if let step = press.released(at: now) { steps.append(step) }
                case .hold, .clickTimeout:
                    #expect(press.deadline == now)
                    if let step = press.timePassed() { steps.append(step) }
                }
                try #expect(steps.last?.counter == item.integer("event_count"))
                #expect(steps.last?.code.step == code.step && steps.last?.time == now)
            }
            #expect(steps.count == items.count && press.deadline == nil)
        }
    }

    @Test("a press while pressed and a release while released have no effect")
    func impossibleFinger() {
        var press = PressEncoder()
        let now = Instant(sinceBoot: .zero)
        #expect(press.released(at: now) == nil)
        #expect(press.pressed(at: now)?.counter == 1)
        #expect(press.pressed(at: now) == nil)
        #expect(press.timePassed()?.code.step == .hold(ofSecondPress: false))
        #expect(press.timePassed() == nil)
    }

    @Test("the usual requests of a session are answered")
    func requests() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        #expect(
            host.ask(&button, HostEnd.initRequest()) == [
                .initButtonEventsResponse(.init(hasQueuedEvents: false, ticks: 0, eventCount: 0, bootID: 4711))
            ])
        #expect(host.ask(&button, .getBatteryLevelRequest) == [.getBatteryLevelResponse(raw: 853)])
        #expect(host.ask(&button, .getFirmwareVersionRequest) == [.getFirmwareVersionResponse(version: 11)])
        #expect(
            host.ask(&button, .setAdvertisingParametersRequest(AdvertisingParameters())) == [
                .setAdvertisingParametersResponse
            ])
        #expect(host.ask(&button, .other(opcode: 31)) == [])
    }

    @Test("a name is stored if it is newer or forced, and the response has the stored name")
    func names() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        let hall = Array("Hall".utf8)
        let attic = Array("Attic".utf8)
        #expect(
            host.ask(&button, .setNameRequest(.init(timestamp: 5, isForced: false, name: hall))) == [
                .setNameResponse(.init(timestamp: 5, name: hall))
            ])
        #expect(
            host.ask(&button, .setNameRequest(.init(timestamp: 5, isForced: false, name: attic))) == [
                .setNameResponse(.init(timestamp: 5, name: hall))
            ])
        #expect(
            host.ask(&button, .setNameRequest(.init(timestamp: 4, isForced: true, name: attic))) == [
                .setNameResponse(.init(timestamp: 4, name: attic))
            ])
        #expect(host.ask(&button, .getNameRequest) == [.getNameResponse(.init(timestamp: 4, name: attic))])
    }

    @Test("a wrong signature ends the session with that reason")
    func wrongSignature() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        let effects = button.handle(.received([1, 20, 0, 0, 0, 0, 0], random: []), at: host.now)
        #expect(host.packets(in: effects) == [.disconnectedVerifiedLink(reason: 1)])
        #expect(host.ask(&button, .getBatteryLevelRequest) == [])
    }

    @Test("an idle link is ended after the host's auto disconnect time since the last press or release")
    func autoDisconnect() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        let effects = button.handle(
            .received(host.value(HostEnd.initRequest(autoDisconnectSeconds: 40)), random: []), at: host.now)
        #expect(effects.last == .setTimer(host.now + .seconds(40)))
        let press = host.now + .seconds(30)
        _ = button.handle(.pressed, at: press)
        _ = button.handle(.released, at: press + .milliseconds(700))
        let deadline = press + .milliseconds(700) + .seconds(40)
        #expect(button.handle(.timerFired, at: deadline - .milliseconds(1)).last == .setTimer(deadline))
        #expect(button.handle(.timerFired, at: deadline) == [.disconnect(advertiseAgain: false)])
    }

    @Test("the host can end the link, with and without advertising after it", arguments: [true, false])
    func forceDisconnect(advertiseAgain: Bool) throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        let value = host.value(.forceDisconnect(advertiseAgain: advertiseAgain))
        #expect(
            button.handle(.received(value, random: []), at: host.now) == [.disconnect(advertiseAgain: advertiseAgain)])
    }

    @Test("a ping that is not answered ends the session")
    func ping() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing], pingPeriod: .seconds(10))
        var host = try #require(HostEnd(&button))
        _ = host.ask(&button, HostEnd.initRequest())
        host.now = host.now + .seconds(10)
        #expect(host.packets(in: button.handle(.timerFired, at: host.now)) == [.pingRequest])
        #expect(host.ask(&button, .pingResponse) == [])
        host.now = host.now + .seconds(10)
        #expect(host.packets(in: button.handle(.timerFired, at: host.now)) == [.pingRequest])
        host.now = host.now + .seconds(10)
        #expect(
            host.packets(in: button.handle(.timerFired, at: host.now)) == [.disconnectedVerifiedLink(reason: 0)])
    }

    @Test("sixteen events are stored, and the oldest are lost first")
    func queueBound() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var now = Instant(sinceBoot: .seconds(10))
        for _ in 0..<20 {
            _ = button.handle(.pressed, at: now)
            _ = button.handle(.released, at: now + .milliseconds(700))
            now = now + .seconds(5)
        }
        var host = try #require(HostEnd(&button))
        host.now = now
        let answers = host.ask(&button, HostEnd.initRequest())
        let items = answers.flatMap { answer -> [(counter: UInt32, item: EventNotification.Item)] in
            if case .buttonEventNotification(let notification)? = answer { notification.countedItems } else { [] }
        }
        #expect(answers.count == 2)
        // Each press takes the counts 4n+1 and 4n+3.
        let expected = (UInt32(12)..<20).flatMap { press -> [UInt32] in [press * 4 + 1, press * 4 + 3] }
        #expect(items.map(\.counter) == expected)
        #expect(items.allSatisfy { $0.item.wasQueued })
        #expect(items.map(\.item.wasQueuedLast).firstIndex(of: true) == EventQueue.maximumCount - 1)
        guard case .initButtonEventsResponse(let response)?? = answers.first else {
            Issue.record("no init response")
            return
        }
        #expect(response.hasQueuedEvents && response.eventCount == 48)
    }

    @Test("a host gets only the stored events that its init request permits")
    func queueLimits() throws {
        func counters(_ request: HostPacket) throws -> [UInt32] {
            var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
            var now = Instant(sinceBoot: .seconds(10))
            for _ in 0..<3 {
                _ = button.handle(.pressed, at: now)
                _ = button.handle(.released, at: now + .milliseconds(700))
                now = now + .seconds(10)
            }
            var host = try #require(HostEnd(&button))
            host.now = now
            return host.ask(&button, request).flatMap { answer -> [UInt32] in
                guard case .buttonEventNotification(let notification)? = answer else { return [] }
                return notification.countedItems.map(\.counter)
            }
        }
        #expect(try counters(HostEnd.initRequest()) == [1, 3, 5, 7, 9, 11])
        #expect(try counters(HostEnd.initRequest(eventCount: 5, bootID: 4711)) == [7, 9, 11])
        #expect(try counters(HostEnd.initRequest(eventCount: 5, bootID: 1)) == [1, 3, 5, 7, 9, 11])
        #expect(try counters(HostEnd.initRequest(maximumQueuedPackets: 0)) == [])
        #expect(try counters(HostEnd.initRequest(maximumQueuedPackets: 2)) == [9, 11])
        #expect(try counters(HostEnd.initRequest(maximumQueuedAge: 15)) == [9, 11])
    }

    @Test("an event is sent again in the next session unless it was acknowledged")
    func acknowledgements() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        _ = host.ask(&button, HostEnd.initRequest())
        for _ in 0..<2 {
            _ = host.packets(in: button.handle(.pressed, at: host.now))
            host.now = host.now + .milliseconds(700)
            _ = host.packets(in: button.handle(.released, at: host.now))
            host.now = host.now + .seconds(2)
        }
        #expect(host.ask(&button, .acknowledgeEvents(eventCount: 3)) == [])
        _ = button.handle(.linkDown, at: host.now)
        let now = host.now
        host = try #require(HostEnd(&button))
        host.now = now
        guard case .buttonEventNotification(let notification)?? = host.ask(&button, HostEnd.initRequest()).last else {
            Issue.record("no events")
            return
        }
        #expect(notification.countedItems.map(\.counter) == [5, 7])
    }

    @Test(
        "the events that an init request covers are deleted if its boot id is right",
        arguments: [FlicModel.flic2, .duo])
    func initRequestCovers(model: FlicModel) throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing], model: model)
        var now = Instant(sinceBoot: .seconds(10))
        for _ in 0..<2 {
            _ = button.handle(.pressed, at: now)
            _ = button.handle(.released, at: now + .milliseconds(700))
            now = now + .seconds(10)
        }
        for (bootID, kept) in [(1, [1, 3, 5, 7]), (4711, [5, 7])] as [(UInt32, [UInt32])] {
            var host = try #require(HostEnd(&button))
            host.now = now
            _ = host.ask(&button, HostEnd.initRequest(eventCount: 3, bootID: bootID))
            #expect(button.eventSnapshot.stored == kept)
            _ = button.handle(.linkDown, at: now)
        }
        #expect(button.eventSnapshot.acknowledged == 3)
        // The limits of a request do not acknowledge the events that they exclude.
        var host = try #require(HostEnd(&button))
        host.now = now
        _ = host.ask(&button, HostEnd.initRequest(eventCount: 0, bootID: 4711, maximumQueuedPackets: 0))
        #expect(button.eventSnapshot.stored == [5, 7])
    }

    @Test("the thirty-third pairing evicts the least recently used one")
    func pairingBound() {
        let key = TestButton.pairing.key
        var table = PairingTable((0..<32).map { Pairing(identifier: $0, key: key) })
        table.store(Pairing(identifier: 0, key: key))
        table.store(Pairing(identifier: 32, key: key))
        #expect(table.pairings.count == PairingTable.maximumCount)
        #expect(table.find(0) != nil && table.find(1) == nil && table.find(32) != nil)
    }

    @Test("a button proves whether it knows a pairing", arguments: [true, false])
    func reallyUnpaired(isPaired: Bool) throws {
        var button = TwoEnds.makeButton(pairings: isPaired ? [TestButton.pairing] : [])
        let now = Instant(sinceBoot: .seconds(10))
        _ = button.handle(.linkUp(attMTU: 140), at: now)
        let entropy = TestButton.entropy
        let first = HostPacket.fullVerifyRequest1(temporaryID: entropy.temporaryID)
        let offer = button.handle(.received([0] + first.octets, random: entropy.random), at: now)
        guard case .send(let value)? = offer.first,
            case .fullVerifyResponse1(let response) = try ButtonPacket(decoding: Array(value.dropFirst()))
        else {
            Issue.record("no certificate")
            return
        }
        let variant = try #require(
            response.certificate.variant(signedBy: [FlicPeripheral.rootPublicKey(seed: TwoEnds.rootSeed)]))
        let master = try #require(
            MasterSecret(
                privateKey: entropy.privateKey, publicKey: response.certificate.publicKey, variant: variant,
                buttonRandom: response.random, hostRandom: entropy.random, flags: 0))
        let proof = try #require(master.unpairedProof(of: TestButton.pairing))
        let publicKey = try #require(Curve25519.agreementPublicKey(privateKey: entropy.privateKey))
        let request = HostPacket.testIfReallyUnpairedRequest(
            .init(
                publicKey: publicKey, random: entropy.random, pairingIdentifier: TestButton.pairing.identifier,
                token: proof.token))
        let result = isPaired ? proof.exists : try #require(master.denial(of: proof.token))
        #expect(
            button.handle(.received([1] + request.octets, random: []), at: now) == [.send([1, 4] + result)])
    }
}
