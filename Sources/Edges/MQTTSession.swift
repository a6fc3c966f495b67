package import ButtonModel
package import Hub

/// Something that `MQTTEdge` reports to its owner.
package enum MQTTEvent: Hashable, Sendable {
    case connected(MQTTProtocolVersion)
    /// The connection was lost, or an attempt to connect failed. The next attempt follows automatically.
    case disconnected(MQTTFailure)
    /// QoS 0: the message was written to the socket. QoS 1 and 2: the broker acknowledged it.
    case published(id: UInt64)
    /// The message may or may not have reached the broker; the session does not send it again.
    case publishFailed(id: UInt64, String)
    /// The broker refuses a subscription. If it may change its mind, the session asks again, and reports only the first refusal.
    case subscribeFailed(topicFilter: String, String)
    /// The broker grants a subscription whose refusal was reported.
    case subscribed(topicFilter: String)
    case message(topicName: String, payload: [UInt8], retained: Bool, qos: Int)
    /// A message from the broker was discarded, for this reason.
    case dropped(String)
    /// A message that the broker would have discarded after `remaining`, reported in place of `message` if
    /// `MQTTOptions.reportsExpiry` is true.
    case expiringMessage(topicName: String, payload: [UInt8], retained: Bool, remaining: Duration)
}

/// The connection to the broker as a state machine: it decides when to connect, with which version of MQTT, which
/// messages to accept, and when to give a connection up. `MQTTEdge` performs its effects with libmosquitto.
///
/// | state         | on                              | becomes                   | and we |
/// |---------------|---------------------------------|---------------------------|--------|
/// | idle          | connect                         | dialling                  | dial |
/// | dialling      | dialled                         | handshaking               | watch the socket, set the deadline |
/// | dialling      | dial failed                     | waiting                   | disconnected, set the retry timer |
/// | handshaking   | CONNACK: accepted               | connected                 | connected |
/// | handshaking   | CONNACK: not this version of 5  | dialling                  | dial with 3.1.1 |
/// | handshaking   | CONNACK: refused, deadline, lost | waiting                  | disconnected, set the retry timer |
/// | connected     | subscription refused            | connected                 | subscribeFailed, ask again after 10 s, then less often |
/// | connected     | no progress for 60 s            | waiting                   | as when it is lost |
/// | connected     | lost                            | waiting                   | disconnected, publishFailed for all in flight, set the retry timer |
/// | any with a socket | malformed packet            | waiting                   | as when it is lost; 3.1.1 from then on |
/// | waiting       | retry timer                     | dialling                  | dial, with the configured version |
/// | connected     | disconnect                      | disconnecting             | DISCONNECT once nothing is in flight, at most 2 s later |
/// | disconnecting | closed, or 2 s                  | idle                      | publishFailed for what is left, finished |
/// | any other     | disconnect                      | idle                      | finished |
///
/// MQTT sessions are clean: neither side keeps subscriptions or messages for the next connection. A publish without a
/// connection fails at once, because only the owner knows how long a message is worth sending.
///
/// The owner answers each effect that calls the library with the input `returned`, before any other input.
package struct MQTTSession: Sendable {
    package enum Input: Hashable, Sendable {
        case connect
        /// The next connection uses the configured version again, even after malformed packets.
        case configurationRead
        indirect case subscribe(Subscription)
        case unsubscribe(String)
        case publish(Publish)
        case disconnect
        /// The result of `Effect.dial`: `nil` if there is a socket, otherwise the reason why there is none.
        indirect case dialled(MQTTFailure?)
        indirect case returned(Call, Outcome)
        case timerFired
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        /// Create a client with this version, resolve the broker's name, and begin to connect.
        case dial(MQTTProtocolVersion)
        case watch(SocketInterest)
        case publish(Publish)
        case subscribe(Subscription)
        case unsubscribe(String)
        /// Call the library's upkeep function, which sends PINGREQ when it is due.
        case performUpkeep
        case sendDisconnect
        /// Close the socket and destroy the client, or abandon it while it dials.
        case close
        case report(MQTTEvent)
        /// The answer to `Input.disconnect`.
        case finished
        case setTimer(Instant)
        case cancelTimer
    }

    /// A message to publish. It results in exactly one `published` or `publishFailed` with its id.
    package struct Publish: Hashable, Sendable {
        package var id: UInt64
        package var topicName: String
        package var payload: [UInt8]
        /// 0…2.
        package var qos: Int
        package var retain: Bool
        /// How long the broker keeps the message for absent subscribers; MQTT 5 only.
        package var expiry: Duration?

        var octets: Int { topicName.utf8.count + payload.count }
    }

    /// A call into the library, with the result of that call alone.
    package enum Call: Hashable, Sendable {
        /// The socket was read or written.
        case serve
        case upkeep
        case publish(Publish, Acceptance)
        case subscribe(topicFilter: String, Acceptance)
        case unsubscribe
        case disconnect
    }

    package enum Acceptance: Hashable, Sendable {
        /// The packet identifier that the library chose.
        case accepted(messageID: Int32)
        case refused(String)
    }

    /// The state in which a call left the connection.
    package struct Outcome: Hashable, Sendable {
        /// The reports of the library's callbacks during the call, in order.
        package var events: [LibraryEvent] = []
        /// Why the library closed the socket; `nil` while it is open.
        package var failure: MQTTFailure?
        /// True if the library has output that the socket did not accept.
        package var hasOutput = false
        /// True if TLS has decrypted octets that the library has not read. epoll does not report them.
        package var hasPendingInput = false
        /// The packets that the library has answered since its output was last written completely.
        package var unwrittenAnswers = 0
    }

    package enum LibraryEvent: Hashable, Sendable {
        /// CONNACK with success. `keepAlive`: the Server Keep Alive, in seconds.
        case connectAccepted(keepAlive: UInt16?)
        case connectRefused(reasonCode: Int32, MQTTFailure)
        /// QoS 0: written. QoS 1 and 2: acknowledged. `refusal` is the text of the broker's reason code.
        case published(messageID: Int32, refusal: String?)
        case subscribed(messageID: Int32, refusals: [String])
        case message(topicName: String, payload: [UInt8], retained: Bool, qos: Int)
        case dropped(String)
        /// A message with an expiry interval, in place of `message`; see `MQTTEvent.expiringMessage`.
        case expiringMessage(topicName: String, payload: [UInt8], retained: Bool, remaining: Duration)
    }

    /// The events for which the socket is watched.
    package struct SocketInterest: Hashable, Sendable {
        package var reads = true
        package var writes = true
    }

    /// The maximum number of messages in flight; a further publish fails.
    package static let maximumInFlight = 1000
    /// The maximum number of octets of topics and payloads in flight; a publish that would exceed it fails. The library
    /// keeps all of them, and a second copy of those that are in its output queue, at most 20 at a time.
    package static let maximumOctetsInFlight = 8 * 1024 * 1024
    /// The maximum number of packets that are answered while the broker does not read. The answers stay in the
    /// library's output queue, so reading pauses at this limit.
    static let maximumUnwrittenAnswers = 1000
    static let disconnectTimeout: Duration = .seconds(2)
    /// The delay after which a refused subscription is asked for again. It doubles up to `longestResubscribeDelay`. A broker also
    /// refuses while its cluster elects a leader or before its access rules are complete, and without a subscription the owner
    /// would miss all messages of a topic for as long as the connection lasts.
    static let resubscribeDelay: Duration = .seconds(10)
    static let longestResubscribeDelay: Duration = .seconds(320)
    /// After a connection that lasted at least this long, the back-off starts again at its minimum.
    static let goodConnection: Duration = .seconds(10)

    private enum State: Hashable {
        case idle
        case dialling
        case handshaking
        case connected(since: Instant)
        case disconnecting
        case waiting
    }

    private enum Timer: Hashable {
        /// The time limit for CONNACK while connecting, and for the close of the socket while disconnecting.
        case deadline
        case retry
        case upkeep
        case resubscribe
    }

    /// The state of one socket, from its dial to its end.
    private struct Connection {
        var version: MQTTProtocolVersion
        var interest = SocketInterest()
        /// A CONNACK that refused the connection.
        var refusal: (reasonCode: Int32, failure: MQTTFailure)?
        var hasSentDisconnect = false
        /// Copied from the latest `Outcome`.
        var unwrittenAnswers = 0
        var keepAliveSeconds: Int64
    }

    private struct InFlight {
        var id: UInt64
        var octets: Int
    }

    private let options: MQTTOptions
    private var state = State.idle
    private var connection: Connection
    private var backOff: MQTTBackOff
    private var malformedPacketPolicy = MalformedPacketPolicy()
    private var deadlines = Deadlines<Timer>()
    /// The messages in flight, by packet identifier.
    private var inFlight: [Int32: InFlight] = [:]
    private var octetsInFlight = 0
    /// When the broker last acknowledged or accepted a message, or a message was sent while none was in flight.
    private var lastProgress = Instant(nanoseconds: 0)
    /// Topic filters by the packet identifier of their SUBSCRIBE.
    private var subscribing: [Int32: String] = [:]
    /// The subscriptions that the broker has not answered, by topic filter.
    private var asked: [String: Subscription] = [:]
    /// The subscriptions that the broker has refused, by topic filter, until it grants them.
    private var refused: [String: Subscription] = [:]
    private var nextResubscribeDelay = resubscribeDelay

    /// - Parameter seed: for the jitter of the retries.
    package init(_ options: MQTTOptions, seed: UInt64) {
        self.options = options
        backOff = MQTTBackOff(seed: seed)
        connection = Connection(version: options.protocolVersion, keepAliveSeconds: options.keepAliveSeconds)
    }

    /// The version of the latest connection.
    package var version: MQTTProtocolVersion { connection.version }

    /// True if the edge must not read from the socket at present.
    package var isReadingPaused: Bool { connection.unwrittenAnswers >= Self.maximumUnwrittenAnswers }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .connect:
            if state == .idle { dial(malformedPacketPolicy.version(options.protocolVersion), &effects) }
        case .configurationRead:
            malformedPacketPolicy.configurationRead()
        case .subscribe(let subscription):
            subscribe(subscription, &effects)
        case .unsubscribe(let topicFilter):
            asked[topicFilter] = nil
            refused[topicFilter] = nil
            if isConnected, !topicFilter.containsNUL { effects.append(.unsubscribe(topicFilter)) }
        case .publish(let message):
            publish(message, &effects)
        case .disconnect:
            disconnect(&effects, at: now)
        case .dialled(let failure):
            dialled(failure, &effects, at: now)
        case .returned(let call, let outcome):
            returned(call, outcome, &effects, at: now)
        case .timerFired:
            for timer in deadlines.takeDue(at: now) { fired(timer, &effects, at: now) }
        }
        deadlines.appendChange(to: &effects)
        return effects
    }

    // MARK: Requests of the owner

    private mutating func subscribe(_ subscription: Subscription, _ effects: inout [Effect]) {
        let topicFilter = subscription.topicFilter
        if !isConnected {
            effects.append(
                .report(.subscribeFailed(topicFilter: topicFilter, "there is no connection to the broker")))
        } else if topicFilter.containsNUL {
            effects.append(.report(.subscribeFailed(topicFilter: topicFilter, "it contains a NUL character")))
        } else {
            asked[topicFilter] = subscription
            effects.append(.subscribe(subscription))
        }
    }

    /// The broker has answered a subscription.
    private mutating func answered(
        _ topicFilter: String, _ refusals: [String], _ effects: inout [Effect], at now: Instant
    ) {
        // The subscription may not be wanted any more.
        guard let subscription = asked.removeValue(forKey: topicFilter) else { return }
        guard let refusal = refusals.first else {
            if refused.removeValue(forKey: topicFilter) != nil {
                effects.append(.report(.subscribed(topicFilter: topicFilter)))
            }
            return
        }
        if refused.updateValue(subscription, forKey: topicFilter) == nil {
            let advice = "\(refusal); allow it in the broker's access rules"
            effects.append(.report(.subscribeFailed(topicFilter: topicFilter, advice)))
        }
        if deadlines.deadline(of: .resubscribe) == nil { deadlines.set(.resubscribe, at: now + nextResubscribeDelay) }
    }

    private mutating func resubscribe(_ effects: inout [Effect]) {
        nextResubscribeDelay = min(nextResubscribeDelay * 2, Self.longestResubscribeDelay)
        for subscription in refused.values.sorted(by: { $0.topicFilter < $1.topicFilter }) {
            asked[subscription.topicFilter] = subscription
            effects.append(.subscribe(subscription))
        }
    }

    private mutating func publish(_ message: Publish, _ effects: inout [Effect]) {
        let refusal: String? =
            if !isConnected {
                "there is no connection to the broker"
            } else if inFlight.count >= Self.maximumInFlight {
                "\(Self.maximumInFlight) messages are already in flight"
            } else if message.octets > Self.maximumOctetsInFlight - octetsInFlight {
                "more than 8 MiB would be in flight"
            } else if message.topicName.containsNUL {
                "the topic contains a NUL character"
            } else {
                nil
            }
        effects.append(
            refusal.map { .report(.publishFailed(id: message.id, $0)) } ?? .publish(message))
    }

    private mutating func disconnect(_ effects: inout [Effect], at now: Instant) {
        switch state {
        case .connected:
            state = .disconnecting
            deadlines.set(.deadline, at: now + Self.disconnectTimeout)
            sendDisconnectIfDone(&effects)
        case .idle, .dialling, .handshaking, .waiting:
            becomeIdle(&effects)
        case .disconnecting:
            break
        }
    }

    // MARK: Connecting

    private mutating func dial(_ version: MQTTProtocolVersion, _ effects: inout [Effect]) {
        state = .dialling
        connection = Connection(version: version, keepAliveSeconds: options.keepAliveSeconds)
        effects.append(.dial(version))
    }

    private mutating func dialled(_ failure: MQTTFailure?, _ effects: inout [Effect], at now: Instant) {
        guard state == .dialling else { return }
        if let failure { return fail(failure, &effects, at: now) }
        state = .handshaking
        deadlines.set(.deadline, at: now + options.connectTimeout)
        deadlines.set(.upkeep, at: now + upkeepInterval)
        effects.append(.watch(connection.interest))
    }

    private mutating func fired(_ timer: Timer, _ effects: inout [Effect], at now: Instant) {
        switch timer {
        case .deadline where state == .handshaking: fail(.noAnswer(endpoint: endpoint), &effects, at: now)
        case .deadline where state == .disconnecting: becomeIdle(&effects)
        case .retry where state == .waiting: dial(malformedPacketPolicy.version(options.protocolVersion), &effects)
        case .upkeep where hasSocket: effects.append(.performUpkeep)
        case .resubscribe where isConnected: resubscribe(&effects)
        case .deadline, .retry, .upkeep, .resubscribe: break
        }
    }

    // MARK: The connection

    private mutating func returned(_ call: Call, _ outcome: Outcome, _ effects: inout [Effect], at now: Instant) {
        switch call {
        case .publish(let message, .accepted(let messageID)):
            sent(message, as: messageID, &effects, at: now)
        case .publish(let message, .refused(let reason)):
            // The library may have queued the message for a later connection, but this client has only one.
            effects.append(.report(.publishFailed(id: message.id, reason)))
        case .subscribe(let topicFilter, .accepted(let messageID)):
            subscribing[messageID] = topicFilter
        case .subscribe(let topicFilter, .refused(let reason)):
            asked[topicFilter] = nil
            effects.append(.report(.subscribeFailed(topicFilter: topicFilter, reason)))
        case .serve, .upkeep, .unsubscribe, .disconnect:
            break
        }
        guard hasSocket else { return }
        settle(outcome, &effects, at: now)
        guard call == .upkeep, hasSocket else { return }
        if isConnected, !inFlight.isEmpty, now - lastProgress >= options.progressTimeout {
            fail(
                .connectionLost(endpoint: endpoint, cause: "it neither reads nor acknowledges"), &effects, at: now)
        } else {
            deadlines.set(.upkeep, at: now + upkeepInterval)
        }
    }

    private mutating func sent(
        _ message: Publish, as messageID: Int32, _ effects: inout [Effect], at now: Instant
    ) {
        if inFlight.isEmpty { lastProgress = now }
        // Packet identifiers start again after 65535. If an older message in flight has the same identifier, the broker never
        // acknowledged it.
        if let lost = inFlight.updateValue(InFlight(id: message.id, octets: message.octets), forKey: messageID) {
            octetsInFlight -= lost.octets
            effects.append(.report(.publishFailed(id: lost.id, "the broker never acknowledged it")))
        }
        octetsInFlight += message.octets
    }

    private mutating func settle(_ outcome: Outcome, _ effects: inout [Effect], at now: Instant) {
        if outcome.failure == nil {
            connection.unwrittenAnswers = outcome.unwrittenAnswers
            // The socket is watched for writing if input is pending in TLS, because that is reported at once.
            let interest = SocketInterest(
                reads: !isReadingPaused, writes: isReadingPaused || outcome.hasOutput || outcome.hasPendingInput)
            if interest != connection.interest {
                connection.interest = interest
                effects.append(.watch(interest))
            }
        }
        for event in outcome.events { take(event, &effects, at: now) }
        if let failure = connection.refusal?.failure ?? outcome.failure {
            lost(failure, &effects, at: now)
        } else {
            sendDisconnectIfDone(&effects)
        }
    }

    private mutating func take(_ event: LibraryEvent, _ effects: inout [Effect], at now: Instant) {
        switch event {
        case .connectAccepted(let keepAlive):
            guard state == .handshaking else { return }
            if let keepAlive, keepAlive > 0 { connection.keepAliveSeconds = Int64(keepAlive) }
            deadlines.cancel(.deadline)
            deadlines.set(.upkeep, at: now + upkeepInterval)
            state = .connected(since: now)
            effects.append(.report(.connected(connection.version)))
        case .connectRefused(let reasonCode, let failure):
            connection.refusal = (reasonCode, failure)
        case .published(let messageID, let refusal):
            guard let message = inFlight.removeValue(forKey: messageID) else { return }
            octetsInFlight -= message.octets
            lastProgress = now
            effects.append(
                .report(refusal.map { .publishFailed(id: message.id, $0) } ?? .published(id: message.id)))
        case .subscribed(let messageID, let refusals):
            guard let topicFilter = subscribing.removeValue(forKey: messageID) else { return }
            answered(topicFilter, refusals, &effects, at: now)
        case .message(let topicName, let payload, let retained, let qos):
            effects.append(
                .report(.message(topicName: topicName, payload: payload, retained: retained, qos: qos)))
        case .dropped(let reason):
            effects.append(.report(.dropped(reason)))
        case .expiringMessage(let topicName, let payload, let retained, let remaining):
            effects.append(
                .report(
                    .expiringMessage(
                        topicName: topicName, payload: payload, retained: retained, remaining: remaining)))
        }
    }

    /// Sends DISCONNECT after the last acknowledgement. The library then closes the socket.
    private mutating func sendDisconnectIfDone(_ effects: inout [Effect]) {
        guard state == .disconnecting, inFlight.isEmpty, !connection.hasSentDisconnect else { return }
        connection.hasSentDisconnect = true
        effects.append(.sendDisconnect)
    }

    // MARK: The end of a connection

    private mutating func lost(_ failure: MQTTFailure, _ effects: inout [Effect], at now: Instant) {
        switch state {
        case .handshaking:
            // Brokers that support only 3.1.1 refuse MQTT 5 with reason code 1.
            if connection.version == .v5, let refusal = connection.refusal, [0x84, 1].contains(refusal.reasonCode) {
                cancelTimers()
                effects.append(.close)
                return dial(.v311, &effects)
            }
            fail(failure, &effects, at: now)
        case .connected(let since):
            if now - since >= Self.goodConnection { backOff.reset() }
            fail(failure, &effects, at: now)
        case .disconnecting:
            becomeIdle(&effects)
        case .idle, .dialling, .waiting:
            break
        }
    }

    private mutating func fail(_ failure: MQTTFailure, _ effects: inout [Effect], at now: Instant) {
        cancelTimers()
        state = .waiting
        if failure.isMalformedPacket { malformedPacketPolicy.malformedPacket() }
        // The loss is reported first, so that the owner does not publish the failed messages on this connection again.
        effects += [.close, .report(.disconnected(failure))]
        abandonInFlight("\(failure)", &effects)
        deadlines.set(.retry, at: now + malformedPacketPolicy.pause(backOff.next()))
    }

    private mutating func becomeIdle(_ effects: inout [Effect]) {
        cancelTimers()
        state = .idle
        effects.append(.close)
        abandonInFlight("the connection to the broker was ended", &effects)
        effects.append(.finished)
    }

    private mutating func cancelTimers() {
        for timer in [Timer.deadline, .retry, .upkeep, .resubscribe] { deadlines.cancel(timer) }
    }

    private mutating func abandonInFlight(_ reason: String, _ effects: inout [Effect]) {
        for id in inFlight.values.map(\.id).sorted() { effects.append(.report(.publishFailed(id: id, reason))) }
        inFlight = [:]
        octetsInFlight = 0
        subscribing = [:]
        asked = [:]
        refused = [:]
        nextResubscribeDelay = Self.resubscribeDelay
    }

    private var endpoint: String { options.endpoint.description }

    private var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    private var hasSocket: Bool {
        switch state {
        case .handshaking, .connected, .disconnecting: true
        case .idle, .dialling, .waiting: false
        }
    }

    /// The interval of upkeep calls. The library sends PINGREQ in a call after the keep-alive time. Four calls in that
    /// time are enough, because a broker waits one and a half times as long.
    private var upkeepInterval: Duration { .nanoseconds(connection.keepAliveSeconds * 1_000_000_000 / 4) }
}

extension String {
    /// True if a C string cannot contain the text. A search in `utf8` itself takes ten times as long.
    var containsNUL: Bool { utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? utf8.contains(0) }
}
