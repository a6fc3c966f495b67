import ButtonModel
import Hub
import TestSupport
import Testing

@testable import Edges

extension MQTTSession: StateMachine {}

/// The session without a broker, a socket, or libmosquitto.
@Suite("What Tryck does about its broker")
struct MQTTSessionTests {
    private typealias Outcome = MQTTSession.Outcome
    private typealias Publish = MQTTSession.Publish

    private static let options = MQTTOptions(endpoint: .tcp(host: "broker", port: 1883))
    private static let refused = MQTTFailure.connectionRefused(endpoint: "broker:1883")
    private static let lost = MQTTFailure.connectionLost(endpoint: "broker:1883", cause: "a cable")
    private static let malformed = MQTTFailure.malformedPacket(endpoint: "broker:1883", cause: "a property")
    private static let accepted = Outcome(events: [.connectAccepted(keepAlive: nil)])

    private static func message(_ id: UInt64, topicName: String = "a", octets: Int = 1) -> Publish {
        Publish(id: id, topicName: topicName, payload: [UInt8](repeating: 0, count: octets), qos: 1, retain: false)
    }

    /// The delay of the retry timer among these effects.
    private static func retry(_ effects: [MQTTSession.Effect], after now: Instant) -> Duration? {
        for case .setTimer(let deadline) in effects { return deadline - now }
        return nil
    }

    private static func dialling(_ options: MQTTOptions = options) -> Transcript<MQTTSession> {
        var talk = Transcript(MQTTSession(options, seed: 1))
        talk.given(.connect)
        return talk
    }

    private static func handshaking(_ options: MQTTOptions = options) -> Transcript<MQTTSession> {
        var talk = dialling(options)
        talk.given(.dialled(nil))
        return talk
    }

    private static func connected(_ options: MQTTOptions = options) -> Transcript<MQTTSession> {
        var talk = handshaking(options)
        talk.given(.returned(.serve, accepted))
        return talk
    }

    private static func inFlight(_ ids: ClosedRange<UInt64>) -> Transcript<MQTTSession> {
        var talk = connected()
        for id in ids { talk.send(message(id)) }
        return talk
    }

    // MARK: Connecting

    @Test("it dials, waits ten seconds for CONNACK, and is connected")
    func connects() {
        var talk = Transcript(MQTTSession(Self.options, seed: 1))
        talk.when(.connect, expect: .dial(.v5))
        talk.when(
            .dialled(nil), expect: .watch(.init()), .setTimer(talk.now + Self.options.connectTimeout))
        talk.when(.returned(.serve, Outcome()), expect: .watch(.init(reads: true, writes: false)))
        talk.wait(.seconds(1))
        talk.when(
            .returned(.serve, Self.accepted), expect: .report(.connected(.v5)), .setTimer(talk.now + .seconds(15)))
    }

    @Test("connect changes nothing unless the session is idle")
    func connectTwice() {
        for talk in [Self.dialling(), Self.handshaking(), Self.connected()] {
            var talk = talk
            talk.when(.connect, expect: .nothing)
        }
    }

    @Test("a broker that accepts the connection and never answers is given up at the deadline")
    func silent() {
        var talk = Self.handshaking()
        talk.wait(Self.options.connectTimeout)
        let effects = talk.given(.timerFired)
        #expect(effects.prefix(2) == [.close, .report(.disconnected(.noAnswer(endpoint: "broker:1883")))])
        #expect(Self.retry(effects, after: talk.now) != nil)
    }

    @Test("the retries wait up to a quarter of a second, then twice as long each time, up to thirty seconds")
    func retries() throws {
        var talk = Self.dialling()
        for most in [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000] as [Int64] {
            let effects = talk.given(.dialled(Self.refused))
            #expect(effects.prefix(2) == [.close, .report(.disconnected(Self.refused))])
            let delay = try #require(Self.retry(effects, after: talk.now))
            #expect(delay > .milliseconds(most / 2) && delay <= .milliseconds(most))
            talk.wait(delay)
            talk.when(.timerFired, expect: .dial(.v5))
        }
    }

    @Test(
        "the back-off starts again after a connection of ten seconds, and not after a shorter one", arguments: [9, 10])
    func goodConnection(seconds: Int64) throws {
        var talk = Self.dialling()
        for _ in 0..<5 {
            talk.wait(try #require(Self.retry(talk.given(.dialled(Self.refused)), after: talk.now)))
            talk.given(.timerFired)
        }
        talk.given(.dialled(nil))
        talk.given(.returned(.serve, Self.accepted))
        talk.wait(.seconds(seconds))
        let effects = talk.given(.returned(.serve, Outcome(failure: Self.lost)))
        let delay = try #require(Self.retry(effects, after: talk.now))
        #expect((delay <= .milliseconds(250)) == (seconds == 10))
    }

    @Test("a broker that refuses MQTT 5 is dialled with 3.1.1 at once", arguments: [0x84, 1] as [Int32])
    func fallback(reasonCode: Int32) {
        var talk = Self.handshaking()
        let refusal = MQTTFailure.protocolVersionRefused(endpoint: "broker:1883", .v5)
        talk.when(
            .returned(
                .serve,
                Outcome(events: [.connectRefused(reasonCode: reasonCode, refusal)], failure: Self.lost)),
            expect: .close, .dial(.v311), .cancelTimer)
        talk.given(.dialled(nil))
        talk.when(
            .returned(.serve, Self.accepted), expect: .watch(.init(reads: true, writes: false)),
            .report(.connected(.v311)), .setTimer(talk.now + .seconds(15)))
    }

    @Test("another refusal ends the attempt with its own reason, and so does a refusal of 3.1.1")
    func refusals() {
        let unauthorized = MQTTFailure.notAuthorized(endpoint: "broker:1883", hasUsername: false)
        for (version, reasonCode) in [(.v5, 0x87), (.v311, 1)] as [(MQTTProtocolVersion, Int32)] {
            var options = Self.options
            options.protocolVersion = version
            var talk = Self.handshaking(options)
            // CONNACK alone is enough: the broker need not have closed the socket.
            let effects = talk.given(
                .returned(
                    .serve,
                    Outcome(events: [.connectRefused(reasonCode: reasonCode, unauthorized)])))
            #expect(effects.dropFirst().prefix(2) == [.close, .report(.disconnected(unauthorized))])
        }
    }

    // MARK: Malformed packets

    @Test("after a malformed packet 3.1.1 is used until the configuration is read again")
    func mistrust() throws {
        var talk = Self.handshaking()
        for (isReadAgain, version) in [(false, .v311), (false, .v311), (true, .v5)] as [(Bool, MQTTProtocolVersion)] {
            let failure = version == .v5 ? Self.lost : Self.malformed
            if isReadAgain { talk.when(.configurationRead, expect: .nothing) }
            let effects = talk.given(.returned(.serve, Outcome(failure: failure)))
            talk.wait(try #require(Self.retry(effects, after: talk.now)))
            talk.when(.timerFired, expect: .dial(version))
            talk.given(.dialled(nil))
        }
    }

    @Test("from the eighth malformed packet on a minute passes between attempts")
    func longPause() throws {
        var talk = Self.handshaking()
        for count in 1...9 {
            let effects = talk.given(.returned(.serve, Outcome(failure: Self.malformed)))
            let delay = try #require(Self.retry(effects, after: talk.now))
            #expect((delay == .seconds(60)) == (count >= 8), "\(count): \(delay)")
            talk.wait(delay)
            talk.given(.timerFired)
            talk.given(.dialled(nil))
        }
    }

    // MARK: Publishing

    @Test("a message is published once the broker acknowledges it, and fails when the broker refuses it")
    func published() {
        var talk = Self.connected()
        talk.when(.publish(Self.message(1)), expect: .publish(Self.message(1)))
        talk.when(.returned(.publish(Self.message(1), .accepted(messageID: 7)), Outcome()), expect: .nothing)
        talk.send(Self.message(2))
        talk.when(
            .returned(
                .serve,
                Outcome(events: [
                    .published(messageID: 7, refusal: nil), .published(messageID: 2, refusal: "quota exceeded"),
                    .published(messageID: 99, refusal: nil),
                ])),
            expect: .report(.published(id: 1)), .report(.publishFailed(id: 2, "quota exceeded")))
    }

    @Test("without a connection a message fails at once")
    func unconnected() {
        for talk in [Transcript(MQTTSession(Self.options, seed: 1)), Self.dialling(), Self.handshaking()] {
            var talk = talk
            talk.when(
                .publish(Self.message(1)),
                expect: .report(.publishFailed(id: 1, "there is no connection to the broker")))
        }
    }

    @Test("a thousand messages and eight megabytes are in flight at most")
    func limits() {
        var talk = Self.inFlight(1...1000)
        talk.when(
            .publish(Self.message(1001)),
            expect: .report(.publishFailed(id: 1001, "1000 messages are already in flight")))
        talk.given(.returned(.serve, Outcome(events: [.published(messageID: 5, refusal: nil)])))
        talk.when(.publish(Self.message(1001)), expect: .publish(Self.message(1001)))

        talk = Self.connected()
        // The octet of the topic counts.
        talk.send(Self.message(1, octets: MQTTSession.maximumOctetsInFlight - 3))
        talk.when(
            .publish(Self.message(2, octets: 2)),
            expect: .report(.publishFailed(id: 2, "more than 8 MiB would be in flight")))
        talk.when(.publish(Self.message(2)), expect: .publish(Self.message(2)))
        talk.given(.returned(.serve, Outcome(events: [.published(messageID: 1, refusal: nil)])))
        talk.when(.publish(Self.message(3, octets: 1000)), expect: .publish(Self.message(3, octets: 1000)))
    }

    @Test("texts with a NUL character never reach the library")
    func nul() {
        var talk = Self.connected()
        talk.when(
            .publish(Self.message(1, topicName: "a\0b")),
            expect: .report(.publishFailed(id: 1, "the topic contains a NUL character")))
        talk.when(
            .subscribe(Subscription("a\0b")),
            expect: .report(.subscribeFailed(topicFilter: "a\0b", "it contains a NUL character")))
        talk.when(.unsubscribe("a\0b"), expect: .nothing)
    }

    @Test("a message whose packet identifier is used again was never acknowledged")
    func reusedIdentifier() {
        var talk = Self.connected()
        talk.send(Self.message(1, octets: MQTTSession.maximumOctetsInFlight - 3), as: 7)
        talk.given(.publish(Self.message(2)))
        talk.when(
            .returned(.publish(Self.message(2), .accepted(messageID: 7)), Outcome()),
            expect: .report(.publishFailed(id: 1, "the broker never acknowledged it")))
        // Its octets are not in flight any more.
        talk.when(.publish(Self.message(3, octets: 1000)), expect: .publish(Self.message(3, octets: 1000)))
    }

    @Test("what the library does not take fails with its reason")
    func refusedByLibrary() {
        var talk = Self.connected()
        talk.given(.publish(Self.message(1)))
        talk.when(
            .returned(.publish(Self.message(1), .refused("Out of memory.")), Outcome()),
            expect: .report(.publishFailed(id: 1, "Out of memory.")))
    }

    @Test("when the connection is lost, its loss is reported first, then each message in the order of the ids")
    func lossInFlight() {
        var talk = Self.inFlight(1...3)
        let effects = talk.given(.returned(.serve, Outcome(failure: Self.lost)))
        #expect(
            effects.dropLast() == [
                .close, .report(.disconnected(Self.lost)), .report(.publishFailed(id: 1, "\(Self.lost)")),
                .report(.publishFailed(id: 2, "\(Self.lost)")), .report(.publishFailed(id: 3, "\(Self.lost)")),
            ])
    }

    // MARK: A broker that stands still

    @Test("a new connection has all places, whatever was in flight on the one before")
    func newConnection() throws {
        var talk = Self.connected()
        talk.send(Self.message(1, octets: MQTTSession.maximumOctetsInFlight - 1))
        talk.wait(try #require(Self.retry(talk.given(.returned(.serve, Outcome(failure: Self.lost))), after: talk.now)))
        talk.given(.timerFired)
        talk.given(.dialled(nil))
        talk.given(.returned(.serve, Self.accepted))
        talk.when(.publish(Self.message(2)), expect: .publish(Self.message(2)))
    }

    @Test("a broker that acknowledges nothing for a minute is given up at the next upkeep")
    func stuck() {
        var talk = Self.inFlight(1...1)
        for _ in 0..<3 {
            talk.wait(.seconds(15))
            talk.when(.timerFired, expect: .performUpkeep)
            talk.when(.returned(.upkeep, Outcome()), expect: .setTimer(talk.now + .seconds(15)))
        }
        talk.wait(.seconds(15))
        talk.given(.timerFired)
        let failure = MQTTFailure.connectionLost(
            endpoint: "broker:1883", cause: "it neither reads nor acknowledges")
        let effects = talk.given(.returned(.upkeep, Outcome()))
        #expect(effects.prefix(2) == [.close, .report(.disconnected(failure))])
    }

    @Test("an acknowledgement, or a time with nothing in flight, begins the minute again")
    func progress() {
        var talk = Self.inFlight(1...2)
        talk.wait(.seconds(50))
        talk.given(.returned(.serve, Outcome(events: [.published(messageID: 1, refusal: nil)])))
        talk.wait(.seconds(50))
        talk.given(.timerFired)
        talk.when(.returned(.upkeep, Outcome()), expect: .setTimer(talk.now + .seconds(15)))
        talk.given(.returned(.serve, Outcome(events: [.published(messageID: 2, refusal: nil)])))
        talk.wait(.seconds(100))
        talk.send(Self.message(3))
        talk.given(.timerFired)
        talk.when(.returned(.upkeep, Outcome()), expect: .setTimer(talk.now + .seconds(15)))
    }

    @Test("the library looks at its clock four times in each keep-alive time, which the broker may set")
    func keepAlive() {
        var options = Self.options
        options.keepAlive = .seconds(20)
        var talk = Self.handshaking(options)
        talk.wait(.seconds(5))
        talk.when(.timerFired, expect: .performUpkeep, .setTimer(talk.now + .seconds(5)))
        talk.when(.returned(.upkeep, Outcome()), expect: .watch(.init(reads: true, writes: false)))
        talk.when(
            .returned(.serve, Outcome(events: [.connectAccepted(keepAlive: 8)])),
            expect: .report(.connected(.v5)), .setTimer(talk.now + .seconds(2)))
    }

    // MARK: The socket

    @Test("the socket is watched for writing while there is output, or input that TLS has decrypted")
    func interest() {
        var talk = Self.handshaking()
        talk.when(.returned(.serve, Outcome(hasOutput: true)), expect: .nothing)
        talk.when(.returned(.serve, Outcome()), expect: .watch(.init(reads: true, writes: false)))
        talk.when(.returned(.serve, Outcome(hasPendingInput: true)), expect: .watch(.init()))
        talk.when(.returned(.serve, Outcome()), expect: .watch(.init(reads: true, writes: false)))
        talk.when(.returned(.serve, Outcome()), expect: .nothing)
    }

    @Test("reading pauses after a thousand packets whose answers the broker does not take")
    func unwrittenAnswers() {
        var talk = Self.connected()
        talk.given(.returned(.serve, Outcome(hasOutput: true, unwrittenAnswers: 999)))
        #expect(!talk.machine.isReadingPaused)
        talk.when(
            .returned(.serve, Outcome(hasOutput: true, unwrittenAnswers: 1000)),
            expect: .watch(.init(reads: false, writes: true)))
        #expect(talk.machine.isReadingPaused)
        talk.when(.returned(.serve, Outcome()), expect: .watch(.init(reads: true, writes: false)))
        #expect(!talk.machine.isReadingPaused)
    }

    // MARK: Subscribing

    @Test("what the broker refuses to subscribe is reported, what it grants is not")
    func subscribing() {
        var talk = Self.connected()
        for (messageID, topicFilter) in [(1, "a"), (2, "b")] as [(Int32, String)] {
            talk.when(.subscribe(Subscription(topicFilter)), expect: .subscribe(Subscription(topicFilter)))
            talk.given(.returned(.subscribe(topicFilter: topicFilter, .accepted(messageID: messageID)), Outcome()))
        }
        talk.when(
            .returned(
                .serve,
                Outcome(events: [
                    .subscribed(messageID: 1, refusals: []), .subscribed(messageID: 2, refusals: ["not authorized"]),
                ])),
            expect: .report(
                .subscribeFailed(topicFilter: "b", "not authorized; allow it in the broker's access rules")),
            .setTimer(talk.now + MQTTSession.resubscribeDelay))
        talk.when(.unsubscribe("a"), expect: .unsubscribe("a"))
    }

    @Test("a refused subscription is asked for again, less and less often, until the broker grants it")
    func refusedSubscription() {
        var talk = Self.connected()
        func answer(_ messageID: Int32, _ refusals: [String]) -> MQTTSession.Input {
            .returned(.serve, Outcome(events: [.subscribed(messageID: messageID, refusals: refusals)]))
        }
        func asked(_ messageID: Int32) -> MQTTSession.Input {
            .returned(.subscribe(topicFilter: "a", .accepted(messageID: messageID)), Outcome())
        }
        talk.given(.subscribe(Subscription("a")))
        talk.given(asked(1))
        #expect(talk.given(answer(1, ["unspecified error"])).contains { if case .report = $0 { true } else { false } })
        for (messageID, delay) in [(2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 320), (8, 320)] as [(Int32, Int64)]
        {
            talk.wait(.seconds(delay) - .milliseconds(1))
            #expect(!talk.given(.timerFired).contains(.subscribe(Subscription("a"))))
            talk.wait(.milliseconds(1))
            #expect(talk.given(.timerFired).contains(.subscribe(Subscription("a"))))
            talk.given(asked(messageID))
            // Only the first refusal is reported.
            let effects = talk.given(answer(messageID, messageID == 8 ? [] : ["unspecified error"]))
            let reports = effects.filter { if case .report = $0 { true } else { false } }
            #expect(reports == (messageID == 8 ? [.report(.subscribed(topicFilter: "a"))] : []))
        }
        talk.wait(.seconds(1000))
        #expect(!talk.given(.timerFired).contains(.subscribe(Subscription("a"))))
    }

    @Test("a refused subscription that is not wanted any more is not asked for again")
    func unwantedSubscription() {
        var talk = Self.connected()
        talk.given(.subscribe(Subscription("a")))
        talk.given(.returned(.subscribe(topicFilter: "a", .accepted(messageID: 1)), Outcome()))
        talk.given(.returned(.serve, Outcome(events: [.subscribed(messageID: 1, refusals: ["not authorized"])])))
        talk.given(.unsubscribe("a"))
        talk.wait(.seconds(10))
        #expect(!talk.given(.timerFired).contains(.subscribe(Subscription("a"))))
    }

    @Test("without a connection a subscription fails, and there is nothing to unsubscribe")
    func unconnectedSubscription() {
        var talk = Self.handshaking()
        talk.when(
            .subscribe(Subscription("a")),
            expect: .report(.subscribeFailed(topicFilter: "a", "there is no connection to the broker")))
        talk.when(.unsubscribe("a"), expect: .nothing)
    }

    // MARK: Disconnecting

    @Test("DISCONNECT follows the last acknowledgement, and the session is idle when the socket is closed")
    func disconnects() {
        var talk = Self.inFlight(1...1)
        talk.when(.disconnect, expect: .setTimer(talk.now + .seconds(2)))
        talk.when(
            .publish(Self.message(2)), expect: .report(.publishFailed(id: 2, "there is no connection to the broker")))
        talk.when(
            .returned(.serve, Outcome(events: [.published(messageID: 1, refusal: nil)])),
            expect: .report(.published(id: 1)), .sendDisconnect)
        talk.when(.returned(.disconnect, Outcome(failure: Self.lost)), expect: .close, .finished, .cancelTimer)
        talk.when(.connect, expect: .dial(.v5))
    }

    @Test("a broker that acknowledges nothing delays the end for two seconds")
    func disconnectTimeout() {
        var talk = Self.inFlight(1...1)
        talk.given(.disconnect)
        talk.wait(MQTTSession.disconnectTimeout)
        talk.when(
            .timerFired, expect: .close, .report(.publishFailed(id: 1, "the connection to the broker was ended")),
            .finished)
    }

    @Test("in any other state disconnect ends everything at once")
    func disconnectAnywhere() {
        var talk = Transcript(MQTTSession(Self.options, seed: 1))
        talk.when(.disconnect, expect: .close, .finished)
        talk = Self.dialling()
        talk.when(.disconnect, expect: .close, .finished)
        // The helper's result comes too late.
        talk.when(.dialled(nil), expect: .nothing)
        talk = Self.handshaking()
        talk.when(.disconnect, expect: .close, .finished, .cancelTimer)
        talk = Self.dialling()
        talk.given(.dialled(Self.refused))
        talk.when(.disconnect, expect: .close, .finished, .cancelTimer)
        talk.wait(.seconds(60))
        talk.when(.timerFired, expect: .nothing)
    }
}

extension Transcript<MQTTSession> {
    /// Publishes a message that the library takes under this packet identifier.
    fileprivate mutating func send(_ message: MQTTSession.Publish, as messageID: Int32? = nil) {
        given(.publish(message))
        given(
            .returned(.publish(message, .accepted(messageID: messageID ?? Int32(clamping: message.id))), .init()))
    }
}
