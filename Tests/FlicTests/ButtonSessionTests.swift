import ButtonModel
import Bytes
import TestSupport
import Testing

@testable import Flic

@Suite("Button session")
struct ButtonSessionTests {
    private func reconnecting(
        _ cursor: EventCursor = EventCursor(bootID: TestButton.bootID, eventCount: 8)
    ) -> Transcript<ButtonSession> {
        Transcript(
            ButtonSession(
                .init(
                    address: TestButton.address,
                    purpose: .reconnect(TestButton.pairing, cursor, advertisingConfigured: true))))
    }

    private let request: [UInt8] = [0, 5, 1, 2, 3, 4, 5, 6, 7, 0x40, 4, 3, 2, 1, 0xFE, 0xCA, 0, 0]

    @Test("a known button that is silent in its verification is given up after 5 seconds, not before")
    func silence() {
        var talk = reconnecting()
        talk.when(
            .linkReady(attMTU: 140, TestButton.entropy), expect: .send(request), .setTimer(talk.now + .seconds(5)))
        talk.wait(.milliseconds(4999))
        talk.when(.timerFired, expect: .nothing)
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .failed(.verifyTimedOut), .disconnect)
    }

    @Test("an ignored packet does not extend the time limit of a verification")
    func unusable() {
        var talk = reconnecting()
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        talk.wait(.seconds(4))
        talk.when(.received([0x21, 8]), expect: .ignored(reason: "packet 8 is truncated"))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .failed(.verifyTimedOut), .disconnect)
    }

    @Test("a pairing without answers fails after 31 seconds")
    func silenceInPairing() {
        var talk = Transcript(ButtonSession(.init(address: TestButton.address, purpose: .pair)))
        talk.when(
            .linkReady(attMTU: 140, TestButton.entropy), expect: .send([0, 0, 4, 3, 2, 1]),
            .setTimer(talk.now + .seconds(31)))
        talk.wait(.milliseconds(30_999))
        talk.when(.timerFired, expect: .nothing)
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .failed(.verifyTimedOut), .disconnect)
    }

    @Test("a QuickVerifyNegativeResponse starts the test for the pairing, in which each step has 5 seconds")
    func doubt() {
        var talk = reconnecting()
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        talk.when(.received([0, 6, 9, 9, 9, 9]), expect: .ignored(reason: "packet 6 during verification"))
        talk.wait(.seconds(4))
        talk.when(
            .received([0, 6, 4, 3, 2, 1]), expect: .send([0, 0, 4, 3, 2, 1]), .setTimer(talk.now + .seconds(5)))
        talk.wait(.seconds(4))
        talk.when(.received([0, 6, 4, 3, 2, 1]), expect: .ignored(reason: "packet 6 during verification"))
        let result = [UInt8](repeating: 7, count: 16)
        talk.when(.received([0, 4] + result), expect: .ignored(reason: "packet 4 during verification"))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .failed(.verifyTimedOut), .disconnect)
        talk.when(.received([0, 6, 4, 3, 2, 1]), expect: .nothing)
    }

    @Test("a test for the pairing that finds no free slot is followed by another session after 30 seconds")
    func doubtWithoutSlot() {
        var talk = reconnecting()
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        talk.given(.received([0, 6, 4, 3, 2, 1]))
        talk.when(
            .received([0, 2, 4, 3, 2, 1]), expect: .failed(.tooManyApps), .setTimer(talk.now + .seconds(30)))
        talk.wait(.seconds(30))
        talk.when(.timerFired, expect: .needsEntropy)
        talk.when(.restart(TestButton.entropy), expect: .send(request), .setTimer(talk.now + .seconds(5)))
    }

    @Test("a known button without a free slot is verified again after 30 seconds")
    func tooManyApps() {
        var talk = reconnecting()
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        talk.when(
            .received([0, 2, 9, 9, 9, 9, 4, 3, 2, 1]), expect: .failed(.tooManyApps),
            .setTimer(talk.now + .seconds(30)))
        talk.wait(.seconds(30))
        talk.when(.timerFired, expect: .needsEntropy)
        talk.when(.restart(TestButton.entropy), expect: .send(request), .setTimer(talk.now + .seconds(5)))
    }

    @Test("after init the session sends its usual requests, two at a time")
    func followUp() throws {
        var established = try #require(EstablishedTalk(advertisingConfigured: false, firmwareVersion: 6))
        var effects = established.initialise()
        #expect(
            effects.first
                == .ready(
                    EventCursor(bootID: TestButton.bootID, eventCount: 8), rebooted: false, clock: 1_000_000,
                    hasQueuedEvents: false))
        #expect(
            established.sent(effects) == [
                .setConnectionParameters(
                    .init(intervalMinimum: 80, intervalMaximum: 90, latency: 17, supervisionTimeout: 800)),
                .setAdvertisingParametersRequest(AdvertisingParameters()), .getBatteryLevelRequest,
            ])
        effects = established.receive(.setAdvertisingParametersResponse)
        #expect(effects.first == .advertisingConfigured)
        #expect(established.sent(effects) == [.getNameRequest])
        effects = established.receive(.getNameResponse(.init(timestamp: 0, name: Array("Hall".utf8))))
        #expect(effects.first == .nickname("Hall"))
        #expect(established.sent(effects) == [.getFirmwareVersionRequest])
        effects = established.receive(.getBatteryLevelResponse(raw: 860))
        #expect(effects == [.battery(millivolts: 3023)])
        effects = established.receive(.getFirmwareVersionResponse(version: 11))
        #expect(effects.first == .firmware(version: 11) && established.sent(effects).isEmpty)
        effects = established.receive(.getBatteryLevelResponse(raw: 1))
        #expect(effects == [.ignored(reason: "an unexpected response")])
    }

    @Test(
        "if the firmware version is unknown, advertising settings are sent after the button has reported it",
        arguments: [5, 6] as [UInt32])
    func unknownFirmware(version: UInt32) throws {
        var established = try #require(EstablishedTalk(advertisingConfigured: false))
        _ = established.sent(established.initialise())
        _ = established.sent(established.receive(.getBatteryLevelResponse(raw: 860)))
        let effects = established.receive(.getFirmwareVersionResponse(version: version))
        let expected: [HostPacket?] = version < 6 ? [] : [.setAdvertisingParametersRequest(AdvertisingParameters())]
        #expect(established.sent(effects) == expected)
    }

    @Test("a reboot of the button is noticed, and its advertising settings are sent again")
    func rebooted() throws {
        var established = try #require(EstablishedTalk(firmwareVersion: 11))
        let effects = established.initialise(bootID: 77, eventCount: 40)
        let cursor = EventCursor(bootID: 77, eventCount: 40)
        #expect(
            effects.first == .ready(cursor, rebooted: true, clock: 1_000_000, hasQueuedEvents: false))
        #expect(established.sent(effects).contains(.setAdvertisingParametersRequest(AdvertisingParameters())))
    }

    @Test("an event is acknowledged once, when it is synced, and in order")
    func acknowledgement() throws {
        var established = try #require(EstablishedTalk())
        _ = established.sent(established.initialise())
        var effects = established.receive(9, 1)
        #expect(effects.count == 1)
        effects = established.receive(11, 10)
        guard case .events(let events, let cursor, true)? = effects.first, effects.count == 1 else {
            Issue.record("\(effects)")
            return
        }
        #expect(events.map(\.step) == [.up(.click)] && cursor.eventCount == 11)
        _ = established.receive(15, 1, 10)
        #expect(established.talk.given(.synced(EventCursor(bootID: TestButton.bootID, eventCount: 10))) == [])
        #expect(established.talk.given(.synced(EventCursor(bootID: 1, eventCount: 99))) == [])
        effects = established.talk.given(.synced(EventCursor(bootID: TestButton.bootID, eventCount: 15)))
        #expect(
            established.sent(effects) == [.acknowledgeEvents(eventCount: 11), .acknowledgeEvents(eventCount: 15)])
        #expect(established.talk.given(.synced(EventCursor(bootID: TestButton.bootID, eventCount: 15))) == [])
    }

    @Test("an event that was delivered before is not reported again, and is acknowledged after the sync")
    func duplicates() throws {
        var established = try #require(EstablishedTalk())
        _ = established.sent(established.initialise(eventCount: 4, hasQueuedEvents: true))
        var effects = established.receive(11, 1, 8, 2, 1, 10, queued: true)
        guard case .events(let events, _, true)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(events.map(\.counter) == [9, 11])
        effects = established.receive(11, 10)
        let cursor = EventCursor(bootID: TestButton.bootID, eventCount: 11)
        #expect(effects.first == .events([], cursor, needsAcknowledgement: true))
        effects = established.talk.given(.synced(cursor))
        #expect(
            Array(established.sent(effects).prefix(2)) == [
                .acknowledgeEvents(eventCount: 11), .acknowledgeEvents(eventCount: 11),
            ])
        // An event that is on the disk is not reported again.
        effects = established.receive(11, 10)
        #expect(effects.count == 1 && established.sent(effects) == [.acknowledgeEvents(eventCount: 11)])
    }

    @Test(
        "a stored event is reported whatever the event count in the init response", arguments: [8, 9, 40] as [UInt32])
    func storedCount(eventCount: UInt32) throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise(eventCount: eventCount, hasQueuedEvents: true)
        guard case .events(let events, _, _)? = established.receive(9, 1, queued: true).first else {
            Issue.record("no events")
            return
        }
        #expect(events.map(\.counter) == [9])
    }

    @Test("after a reboot all stored events are new")
    func storedBeforeReboot() throws {
        var established = try #require(EstablishedTalk())
        let effects = established.initialise(bootID: 5, eventCount: 3, hasQueuedEvents: true)
        #expect(
            effects.first
                == .ready(EventCursor(bootID: 5), rebooted: true, clock: 1_000_000, hasQueuedEvents: true))
        guard case .events(let events, let cursor, _)? = established.receive(3, 1, 10, queued: true).first else {
            Issue.record("no events")
            return
        }
        #expect(events.map(\.counter) == [1, 3] && cursor == EventCursor(bootID: 5, eventCount: 3))
    }

    @Test("the age of a stored event is relative to the init response, and that of a live event is zero")
    func age() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise(ticks: 900_000 + 32_768 * 3 / 2, hasQueuedEvents: true)
        guard case .events(let stored, _, _)? = established.receive(9, 1, queued: true).first,
            case .events(let live, _, _)? = established.receive(11, 8).first
        else {
            Issue.record("no events")
            return
        }
        #expect(stored.map(\.age) == [.milliseconds(1500)] && live.map(\.age) == [.zero])
    }

    @Test("the requests after init come after the stored events and their acknowledgement")
    func followUpWaits() throws {
        var established = try #require(EstablishedTalk())
        #expect(established.sent(established.initialise(hasQueuedEvents: true)) == [])
        var effects = established.receive(11, 1, 10, queued: true)
        #expect(!established.talk.machine.hasStoredEvents && established.sent(effects) == [])
        effects = established.talk.given(.synced(EventCursor(bootID: TestButton.bootID, eventCount: 11)))
        #expect(established.sent(effects).first == .acknowledgeEvents(eventCount: 11))
        #expect(effects.count == 5)
    }

    @Test("if the sync takes longer, the requests after init are sent after five seconds")
    func followUpPatience() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise(hasQueuedEvents: true)
        _ = established.receive(11, 1, 10, queued: true)
        established.talk.wait(.seconds(5))
        let effects = established.talk.given(.timerFired)
        #expect(established.sent(effects).count == 3)
        guard case .setTimer? = effects.last else {
            Issue.record("no timer for the battery")
            return
        }
    }

    @Test("the battery level is requested every three hours")
    func battery() throws {
        var established = try #require(EstablishedTalk())
        _ = established.sent(established.initialise())
        _ = established.sent(established.receive(.getBatteryLevelResponse(raw: 860)))
        _ = established.receive(.getNameResponse(.init(timestamp: 0, name: [])))
        _ = established.receive(.getFirmwareVersionResponse(version: 11))
        for _ in 0..<2 {
            established.talk.wait(.seconds(10_800))
            let effects = established.talk.given(.timerFired)
            #expect(established.sent(effects) == [.getBatteryLevelRequest])
            #expect(effects.last == .setTimer(established.talk.now + .seconds(15)))
            #expect(
                established.receive(.getBatteryLevelResponse(raw: 853)) == [
                    .battery(millivolts: 2999), .setTimer(established.talk.now + .seconds(10_800)),
                ])
        }
    }

    @Test(
        "each latency mode has its own connection parameters, which the specification permits",
        arguments: LatencyMode.allCases)
    func latency(mode: LatencyMode) throws {
        var established = try #require(EstablishedTalk(latencyMode: mode))
        guard case .setConnectionParameters(let parameters)?? = established.sent(established.initialise()).first else {
            Issue.record("no parameters")
            return
        }
        let expected: UInt16 =
            switch mode {
            case .low: 12
            case .normal: 80
            case .high: 200
            }
        #expect(parameters.intervalMinimum == expected)
        let slowest = Double(parameters.intervalMaximum) * 1.25 * Double(parameters.latency + 1)
        #expect(Double(parameters.supervisionTimeout) * 10 > 2 * slowest)
    }

    @Test("a ping is answered at once, also before the init response")
    func ping() throws {
        var established = try #require(EstablishedTalk())
        #expect(established.sent(established.receive(.pingRequest)) == [.pingResponse])
        _ = established.sent(established.initialise())
        #expect(established.sent(established.receive(.pingRequest)) == [.pingResponse])
    }

    @Test("a session that the button ended is started again after a second, with the cursor of the events on disk")
    func sessionEnded() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise()
        _ = established.receive(9, 1)
        var effects = established.receive(.disconnectedVerifiedLink(reason: 0))
        #expect(
            effects == [.failed(.sessionEnded(reason: 0)), .setTimer(established.talk.now + .seconds(1))])
        #expect(established.receive(11, 10) == [])
        established.talk.wait(.seconds(1))
        #expect(established.talk.given(.timerFired) == [.needsEntropy])
        #expect(established.talk.given(.restart(TestButton.entropy)).first == .send(request))
        var (button, response) = try #require(TestButton.quickVerify(connectionID: 2))
        effects = established.talk.given(.received(response))
        #expect(
            button.packets(in: effects) == [
                .initButtonEventsRequest(
                    .init(
                        eventCount: 8, bootID: TestButton.bootID, autoDisconnectSeconds: 511, maximumQueuedPackets: 31,
                        maximumQueuedAge: 0xFFFFF))
            ])
    }

    @Test("a wrong signature ends the session, and a second one within a minute ends the link")
    func wrongSignature() throws {
        var established = try #require(EstablishedTalk())
        _ = established.sent(established.initialise())
        var effects = established.talk.given(.received([1, 15, 0, 0, 0, 0, 0]))
        #expect(established.sent(effects) == [.disconnectVerifiedLink])
        #expect(
            Array(effects.dropFirst()) == [
                .failed(.packetSignatureMismatch), .setTimer(established.talk.now + .seconds(5)),
            ])
        try established.startAgain(after: .seconds(5))
        effects = established.talk.given(.received([1, 15, 0, 0, 0, 0, 0]))
        #expect(established.sent(effects) == [.disconnectVerifiedLink])
        #expect(Array(effects.dropFirst()) == [.failed(.packetSignatureMismatch), .disconnect, .cancelTimer])
    }

    /// Through a radio that may lose notifications, the first wrong signature does not count.
    @Test(
        "a further wrong signature ends the link only within a minute of the first one, because a link may last for days",
        arguments: [Int64(59), 60], [false, true])
    func laterWrongSignature(seconds: Int64, mayLoseNotifications: Bool) throws {
        var established = try #require(EstablishedTalk(mayLoseNotifications: mayLoseNotifications))
        _ = established.sent(established.initialise())
        let pauses: [Int64] = mayLoseNotifications ? [1, 5] : [5]
        for pause in pauses {
            let effects = established.talk.given(.received([1, 15, 0, 0, 0, 0, 0]))
            #expect(effects.last == .setTimer(established.talk.now + .seconds(pause)))
            #expect(!effects.contains(.disconnect))
            try established.startAgain(after: .seconds(pause))
            _ = established.sent(established.initialise())
        }
        established.talk.wait(.seconds(seconds - pauses.reduce(0, +)))
        let effects = established.talk.given(.received([1, 15, 0, 0, 0, 0, 0]))
        #expect(effects.contains(.failed(.packetSignatureMismatch)))
        #expect(effects.contains(.disconnect) == (seconds < 60))
    }

    @Test("a notification that is replayed has a wrong signature")
    func replay() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise()
        let packet = ButtonPacket.buttonEventNotification(
            EventNotification(eventCount: 9, items: [.init(ticks: 0, code: EventCode(rawValue: 1))]))
        let value = established.button.value(packet)
        #expect(established.talk.given(.received(value)).count == 1)
        #expect(established.talk.given(.received(value)).contains(.failed(.packetSignatureMismatch)))
    }

    @Test("unexpected packets are ignored and reported")
    func ignored() throws {
        var established = try #require(EstablishedTalk())
        #expect(established.receive(9, 1) == [.ignored(reason: "events before the init response")])
        _ = established.initialise()
        #expect(established.initialise() == [.ignored(reason: "a second init response")])
        #expect(established.receive(.other(opcode: 200)) == [.ignored(reason: "packet 200 in a session")])
        let cut = established.button.value(octets: [12, 1])
        #expect(established.talk.given(.received(cut)) == [.ignored(reason: "packet 12 is truncated")])
        #expect(
            established.talk.given(.received([0, 6, 4, 3, 2, 1])) == [
                .ignored(reason: "packet 6 for all logical connections")
            ])
        // A frame of another program on this machine, and a frame that begins another program's session.
        #expect(established.talk.given(.received([7, 15, 1, 2, 3, 4, 5])) == [])
        #expect(established.talk.given(.received([0x21, 15, 1, 2, 3, 4, 5])) == [])
    }

    @Test("nothing happens after the link is lost")
    func linkLost() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise()
        #expect(established.talk.given(.linkLost) == [.cancelTimer])
        #expect(established.receive(.pingRequest) == [])
        #expect(established.talk.given(.linkReady(attMTU: 23, TestButton.entropy)) == [])
        #expect(established.talk.given(.restart(TestButton.entropy)) == [])
        #expect(established.talk.given(.timerFired) == [])
    }

    @Test("pending acknowledgements are limited; later ones cover those that were dropped")
    func acknowledgementBound() {
        var acknowledgements = Acknowledgements()
        let count = UInt32(Acknowledgements.maximumPendingCount)
        for counter in 1...(count + 3) { acknowledgements.expect(EventCursor(bootID: 1, eventCount: counter)) }
        let ready = acknowledgements.synced(EventCursor(bootID: 1, eventCount: .max))
        #expect(ready.map(\.eventCount) == Array(4...(count + 3)))
        #expect(acknowledgements.isEmpty)
    }

    @Test("each kind of request is queued at most once")
    func requestBound() {
        var requests = RequestQueue()
        for _ in 0..<10 { for request in RequestQueue.Request.allCases { requests.add(request) } }
        var sent: [RequestQueue.Request] = []
        while let request = requests.next(at: Instant(sinceBoot: .zero)) {
            sent.append(request)
            let wasAsked = requests.answered(request)
            #expect(wasAsked)
        }
        #expect(sent == RequestQueue.Request.allCases)
    }

    @Test("entropy is split in the documented order, and its descriptions do not show it")
    func entropy() throws {
        let octets = (0..<UInt8(SessionEntropy.octetCount)).map { $0 + 160 }
        let entropy = try #require(SessionEntropy(octets))
        #expect(entropy.temporaryID == 0xA3A2_A1A0)
        #expect(entropy.random == Array(octets[4..<12]) && entropy.privateKey == Array(octets[12...]))
        #expect(SessionEntropy(Array(octets.dropLast())) == nil)
        var text = "\(entropy) \(String(reflecting: entropy)) \(ButtonSession.Input.restart(entropy))"
        dump(entropy, to: &text)
        #expect(!text.contains("17"))
    }
}
