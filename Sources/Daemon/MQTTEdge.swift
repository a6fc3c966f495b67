import ButtonModel
import CMosquitto
import Glibc
package import Hub
package import Reactor

package enum MQTTEvent: Hashable, Sendable {
    case connected(MQTTProtocolVersion)
    /// The connection is gone, or an attempt to make one failed. The next attempt comes by itself.
    case disconnected(MQTTFailure)
    /// QoS 0: handed to the network. QoS 1 and 2: the broker has it.
    case published(id: UInt64)
    /// It is not known whether the broker has it; this edge does not send it again.
    case publishFailed(id: UInt64, String)
    case subscribeFailed(topicFilter: String, String)
    case message(topicName: String, payload: [UInt8], retained: Bool, qos: Int)
    /// A message from outside that was not taken, and why.
    case dropped(String)
}

/// The connection to the broker: libmosquitto, on the event loop, without a thread of its own.
///
/// | state         | on                              | becomes                   | and we |
/// |---------------|---------------------------------|---------------------------|--------|
/// | idle          | connect                         | dialling                  | resolve and dial on a helper |
/// | dialling      | dialled                         | handshaking               | watch the socket, set the deadline |
/// | dialling      | failed                          | waiting                   | disconnected, set the retry timer |
/// | handshaking   | CONNACK: yes                    | connected                 | connected |
/// | handshaking   | CONNACK: not this version of 5  | dialling                  | dial with 3.1.1 |
/// | handshaking   | CONNACK: no, deadline, lost     | waiting                   | disconnected, set the retry timer |
/// | connected     | no progress for 60 s            | waiting                   | as when it is lost |
/// | connected     | lost                            | waiting                   | publishFailed for all in flight, disconnected, set the retry timer |
/// | any with a socket | malformed packet            | waiting                   | as when it is lost; 3.1.1 from then on |
/// | waiting       | retry timer                     | dialling                  | dial, with the configured version |
/// | connected     | disconnect                      | disconnecting             | DISCONNECT once nothing is in flight, at most 2 s later |
/// | disconnecting | closed, or 2 s                  | idle                      | publishFailed for what is left, done |
/// | any other     | disconnect                      | idle                      | done |
///
/// The session is clean: nothing is kept for later on either side, neither subscriptions nor messages. What was
/// published while there is no connection fails at once; holding it is the caller's, who knows when it goes stale.
///
/// The handler is called from the loop only, never from within a call to this edge. Before the edge is
/// given up, `disconnect` must have been called.
@ReactorActor
package final class MQTTEdge {
    /// Publishes that are not through yet; one more fails.
    package nonisolated static let maximumInFlight = 1000
    /// Octets of their topics and payloads together; with one more, the next fails. The library keeps all of them, and those
    /// it has written to the socket's queue, at most 20 at a time, twice.
    package nonisolated static let maximumOctetsInFlight = 8 * 1024 * 1024
    /// Octets that the kernel keeps for a broker that does not read.
    private static let sendBuffer: Int32 = 128 * 1024
    /// Packets that were answered while the broker took nothing from us. The answers are in the library's queue, so then
    /// nothing more is read.
    nonisolated static let maximumUnwrittenAnswers = 1000
    nonisolated static let disconnectTimeout: Duration = .seconds(2)
    /// A connection that lasted this long was a good one: after it the retries begin again with short waits.
    nonisolated static let goodConnection: Duration = .seconds(10)
    private enum State {
        case idle
        case dialling(attempt: UInt64)
        case handshaking(Link)
        case connected(Link, since: Int64)
        case disconnecting(Link)
        case waiting
    }

    /// One socket and the handle it belongs to.
    private final class Link {
        let client: MQTTClient
        let descriptor: Int32
        var watch: Watch?
        var interest: Interest = [.read, .write]
        /// CONNACK said no.
        var refusal: Int32?
        /// What `on_disconnect` was told.
        var disconnection: Int32?
        var saidDisconnect = false
        var isReadingPaused: Bool { client.unwrittenAnswers >= MQTTEdge.maximumUnwrittenAnswers }
        var keepAliveSeconds: Int64
        /// In nanoseconds. The library pings when it is asked and the time has come: four times as often is soon enough
        /// for a broker, which waits one and a half times as long.
        var upkeepInterval: Int64 { keepAliveSeconds * 1_000_000_000 / 4 }

        init(client: MQTTClient, descriptor: Int32, keepAliveSeconds: Int64) {
            self.client = client
            self.descriptor = descriptor
            self.keepAliveSeconds = keepAliveSeconds
        }
    }

    private enum Delivery {
        case event(MQTTEvent)
        case done(@ReactorActor () -> Void)
    }

    private let loop: EventLoop
    private let options: MQTTOptions
    private let handler: @ReactorActor (MQTTEvent) -> Void

    private var state = State.idle
    private var attempts: UInt64 = 0
    private var backOff: MQTTBackOff
    private var mistrust = MQTTMistrust()
    private struct InFlight {
        var id: UInt64
        var octets: Int
    }

    /// By message id.
    private var inFlight: [Int32: InFlight] = [:]
    private var octetsInFlight = 0
    /// When the broker last acknowledged or took something, or had nothing to.
    private var lastProgress: Int64 = 0
    private var subscribing: [Int32: String] = [:]
    private var whenDisconnected: [@ReactorActor () -> Void] = []

    private var deliveries: [Delivery] = []
    private var isDelivering = false
    /// For what the deliveries lead to.
    private lazy var budget = EdgeBudget(loop)

    private lazy var deadline = loop.timer { [weak self] in self?.deadlinePassed() }
    private lazy var retry = loop.timer { [weak self] in self?.retryNow() }
    private lazy var upkeep = loop.timer { [weak self] in self?.maintain() }
    private lazy var delivery = loop.timer { [weak self] in self?.deliver() }

    /// - Parameter seed: for the jitter of the retries.
    package init(
        loop: EventLoop, options: MQTTOptions, seed: UInt64, _ handler: @escaping @ReactorActor (MQTTEvent) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.handler = handler
        backOff = MQTTBackOff(seed: seed)
    }

    /// Connects, and from then on connects again whenever the connection is lost, until `disconnect`.
    package func connect() {
        guard case .idle = state else { return }
        dial(mistrust.version(options.protocolVersion))
    }

    /// The next connection is made with the version that is configured, whatever the broker did before.
    package func configurationRead() { mistrust.configurationRead() }

    /// Only while connected; what the broker refuses is reported, what it grants is not.
    package func subscribe(_ subscriptions: [Subscription]) {
        defer { deliverSoon() }
        for subscription in subscriptions {
            let topicFilter = subscription.topicFilter
            guard case .connected(let link, _) = state else {
                emit(.subscribeFailed(topicFilter: topicFilter, "there is no connection to the broker"))
                continue
            }
            guard !topicFilter.utf8.contains(0) else {
                emit(.subscribeFailed(topicFilter: topicFilter, "it contains a NUL character"))
                continue
            }
            let (code, messageID) = link.client.subscribe(subscription)
            if code == MOSQ_ERR_SUCCESS.rawValue {
                subscribing[messageID] = topicFilter
            } else {
                emit(.subscribeFailed(topicFilter: topicFilter, String(cString: mosquitto_strerror(code))))
            }
            settle(link, code)
        }
    }

    /// Only while connected: a new connection has no subscriptions.
    package func unsubscribe(_ topicFilters: [String]) {
        guard case .connected(let link, _) = state else { return }
        defer { deliverSoon() }
        for topicFilter in topicFilters where !topicFilter.utf8.contains(0) {
            settle(link, link.client.unsubscribe(topicFilter))
        }
    }

    /// Ends in exactly one `published` or `publishFailed` with this id.
    ///
    /// - Parameters:
    ///   - qos: 0…2.
    ///   - expiry: after this the broker no longer delivers it to those who were away; MQTT 5 only.
    package func publish(
        id: UInt64, topicName: String, payload: [UInt8], qos: Int, retain: Bool, expiry: Duration?
    ) {
        defer { deliverSoon() }
        guard case .connected(let link, _) = state else {
            return emit(.publishFailed(id: id, "there is no connection to the broker"))
        }
        guard inFlight.count < Self.maximumInFlight else {
            return emit(.publishFailed(id: id, "\(Self.maximumInFlight) messages are on their way already"))
        }
        let octets = topicName.utf8.count + payload.count
        guard octets <= Self.maximumOctetsInFlight - octetsInFlight else {
            return emit(.publishFailed(id: id, "with it more than 8 MiB would be on their way at once"))
        }
        guard !topicName.utf8.contains(0) else {
            return emit(.publishFailed(id: id, "the topic contains a NUL character"))
        }
        let (code, messageID) = link.client.publish(
            topicName: topicName, payload: payload, qos: qos, retain: retain, expiry: expiry)
        if code == MOSQ_ERR_SUCCESS.rawValue {
            if inFlight.isEmpty { lastProgress = loop.nanosecondsSinceBoot }
            // Message ids go round after 65535: one that is still in use was never answered.
            if let lost = inFlight.updateValue(InFlight(id: id, octets: octets), forKey: messageID) {
                octetsInFlight -= lost.octets
                emit(.publishFailed(id: lost.id, "the broker never acknowledged it"))
            }
            octetsInFlight += octets
        } else {
            // "No connection" would also mean that it was queued for later: that queue goes with the handle.
            emit(.publishFailed(id: id, String(cString: mosquitto_strerror(code))))
        }
        settle(link, code)
    }

    /// Waits for what is in flight, 2 s at most, and ends the connection so that the will is not published. Then `done`.
    package func disconnect(_ done: @escaping @ReactorActor () -> Void) {
        defer { deliverSoon() }
        whenDisconnected.append(done)
        switch state {
        case .connected(let link, _):
            state = .disconnecting(link)
            deadline.set(at: loop.nanosecondsSinceBoot + Self.disconnectTimeout.nanoseconds)
            sayDisconnect(link)
        case .handshaking(let link):
            link.watch?.cancel()
            becomeIdle()
        case .idle, .dialling, .waiting:
            becomeIdle()
        case .disconnecting:
            break
        }
    }

    // MARK: Connecting

    private func dial(_ version: MQTTProtocolVersion) {
        attempts += 1
        let attempt = attempts
        state = .dialling(attempt: attempt)
        let client: MQTTClient
        do {
            client = try MQTTClient(options, version: version)
        } catch {
            fail(error)
            return deliverSoon()
        }
        let dial = client.dial(options)
        // The closure keeps the client for the helper, also when nobody waits for it any more.
        loop.offload {
            dial()
        } then: { [self] result in
            guard case .dialling(attempt) = state else { return }
            attach(client, result)
            deliver()
        }
    }

    private func attach(_ client: MQTTClient, _ result: MQTTClient.Dial.Result) {
        let descriptor = client.socket
        guard result.code == MOSQ_ERR_SUCCESS.rawValue, descriptor >= 0 else {
            return fail(
                MQTTFailure(
                    code: result.code, systemError: result.systemError, words: client.words, options: options,
                    wasConnected: false))
        }
        // The library does not: without this a daemon that executes itself anew keeps the old connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // By itself the kernel would take megabytes for a broker that does not read.
        var sendBuffer = Self.sendBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &sendBuffer, socklen_t(MemoryLayout<Int32>.size))
        let link = Link(client: client, descriptor: descriptor, keepAliveSeconds: options.keepAliveSeconds)
        link.watch = loop.watch(descriptor, link.interest) { [weak self, unowned link] interest in
            self?.ready(link, interest)
        }
        state = .handshaking(link)
        let now = loop.nanosecondsSinceBoot
        deadline.set(at: now + options.connectTimeout.nanoseconds)
        upkeep.set(at: now + link.upkeepInterval)
    }

    private func deadlinePassed() {
        switch state {
        case .handshaking(let link):
            link.watch?.cancel()
            fail(.noAnswer(endpoint: options.endpoint.description))
        case .disconnecting(let link):
            link.watch?.cancel()
            becomeIdle()
        case .idle, .dialling, .connected, .waiting:
            break
        }
        deliver()
    }

    private func retryNow() {
        guard case .waiting = state else { return }
        dial(mistrust.version(options.protocolVersion))
    }

    // MARK: The socket

    private func ready(_ link: Link, _ interest: Interest) {
        var code: Int32 = 0
        let isReadable = interest.contains(.read) || interest.hasHangup || link.client.hasPendingInput
        // What was read in an earlier turn comes first.
        if isReadable, deliveries.isEmpty, !link.isReadingPaused || interest.hasHangup {
            link.client.beginTurn()
            repeat {
                code = link.client.read()
            } while code == 0 && link.client.socket == link.descriptor && link.client.hasPendingInput
                && link.client.mayRead
        }
        if interest.contains(.write), code != CMOSQUITTO_ASSERTED, link.client.socket == link.descriptor {
            let written = link.client.write()
            if code == 0 || written == CMOSQUITTO_ASSERTED { code = written }
        }
        settle(link, code)
        deliver()
    }

    /// Pings; the library checks the clock itself.
    private func maintain() {
        guard let link else { return }
        let code = link.client.misc()
        settle(link, code)
        if isStuck, self.link === link {
            link.watch?.cancel()
            fail(.connectionLost(endpoint: options.endpoint.description, cause: "it takes and acknowledges nothing"))
        }
        if self.link === link { upkeep.set(at: loop.nanosecondsSinceBoot + link.upkeepInterval) }
        deliver()
    }

    private var isStuck: Bool {
        guard case .connected = state, !inFlight.isEmpty else { return false }
        return loop.nanosecondsSinceBoot - lastProgress >= options.progressTimeout.nanoseconds
    }

    private var link: Link? {
        switch state {
        case .handshaking(let link), .connected(let link, _), .disconnecting(let link): link
        case .idle, .dialling, .waiting: nil
        }
    }

    /// To be called after every call into the library: it may have closed the socket, left notes, or have more to write
    /// than the socket took.
    private func settle(_ link: Link, _ code: Int32) {
        let systemError = errno
        guard code != CMOSQUITTO_ASSERTED else { return assertionFailed(link) }
        let isOver = link.client.socket != link.descriptor
        if isOver {
            // Before anything else is done: the descriptor's number is free for others.
            link.watch?.cancel()
        } else {
            if !link.client.wantsWrite { link.client.answersAreWritten() }
            // TLS with input left over: a socket that can be written to brings us back at once.
            let interest: Interest =
                link.isReadingPaused
                ? .write : link.client.wantsWrite || link.client.hasPendingInput ? [.read, .write] : .read
            if interest != link.interest {
                link.interest = interest
                link.watch?.set(interest)
            }
        }
        for note in link.client.takeNotes() { take(note, of: link) }
        if isOver || link.refusal != nil {
            link.watch?.cancel()
            lost(link, code, systemError)
        } else if case .disconnecting(let current) = state, current === link {
            sayDisconnect(link)
        }
    }

    private func assertionFailed(_ link: Link) {
        link.watch?.cancel()
        for note in link.client.takeNotes() { take(note, of: link) }
        let assertion = link.client.abandon(descriptor: link.descriptor)
        guard self.link === link else { return }
        if case .disconnecting = state { return becomeIdle() }
        fail(.malformedPacket(endpoint: options.endpoint.description, cause: assertion))
    }

    private func take(_ note: MQTTClient.Note, of link: Link) {
        switch note {
        case .connectAcknowledged(reasonCode: 0, let keepAlive):
            guard case .handshaking = state else { return }
            if let keepAlive, keepAlive > 0 { link.keepAliveSeconds = Int64(keepAlive) }
            let now = loop.nanosecondsSinceBoot
            deadline.cancel()
            upkeep.set(at: now + link.upkeepInterval)
            state = .connected(link, since: now)
            emit(.connected(link.client.version))
        case .connectAcknowledged(let reasonCode, _):
            link.refusal = reasonCode
        case .disconnected(let code):
            link.disconnection = code
        case .published(let messageID, let reasonCode):
            guard let message = inFlight.removeValue(forKey: messageID) else { return }
            octetsInFlight -= message.octets
            lastProgress = loop.nanosecondsSinceBoot
            emit(
                reasonCode < 0x80
                    ? .published(id: message.id)
                    : .publishFailed(id: message.id, String(cString: mosquitto_reason_string(reasonCode))))
        case .subscribed(let messageID, let reasonCodes):
            guard let topicFilter = subscribing.removeValue(forKey: messageID) else { return }
            for reasonCode in reasonCodes where reasonCode >= 0x80 {
                emit(
                    .subscribeFailed(
                        topicFilter: topicFilter, String(cString: mosquitto_reason_string(reasonCode))))
            }
        case .message(let topicName, let payload, let retained, let qos):
            emit(.message(topicName: topicName, payload: payload, retained: retained, qos: qos))
        case .dropped(let words):
            emit(.dropped(words))
        }
    }

    /// DISCONNECT goes out once nothing is in flight. The library closes the socket after it.
    private func sayDisconnect(_ link: Link) {
        guard inFlight.isEmpty, link.disconnection == nil, link.client.socket == link.descriptor, !link.saidDisconnect
        else { return }
        link.saidDisconnect = true
        settle(link, link.client.disconnect())
    }

    // MARK: Losing it

    private func lost(_ link: Link, _ code: Int32, _ systemError: Int32) {
        switch state {
        case .handshaking(let current) where current === link:
            if let refusal = link.refusal {
                if link.client.version == .v5, refusal == 0x84 || refusal == 1 {
                    endTimers()
                    return dial(.v311)
                }
                fail(MQTTFailure(connectReasonCode: refusal, version: link.client.version, options: options))
            } else {
                fail(failure(of: link, code, systemError, wasConnected: false))
            }
        case .connected(let current, let since) where current === link:
            if loop.nanosecondsSinceBoot - since >= Self.goodConnection.nanoseconds { backOff.reset() }
            fail(failure(of: link, code, systemError, wasConnected: true))
        case .disconnecting(let current) where current === link:
            becomeIdle()
        case .idle, .dialling, .handshaking, .connected, .disconnecting, .waiting:
            break
        }
    }

    private func failure(
        of link: Link, _ code: Int32, _ systemError: Int32, wasConnected: Bool
    ) -> MQTTFailure {
        if let refusal = link.client.refusal { return MQTTFailure(refusal, options: options) }
        // A reason the broker gave says more than what the call returned.
        let disconnection = link.disconnection ?? 0
        return MQTTFailure(
            code: disconnection >= 0x80 || code == 0 ? disconnection : code, systemError: systemError,
            words: link.client.words, options: options, wasConnected: wasConnected)
    }

    private func fail(_ failure: MQTTFailure) {
        endTimers()
        state = .waiting
        if failure.isMalformedPacket { mistrust.malformedPacket() }
        // First that it is gone: who sends again what was not acknowledged must not send it here.
        emit(.disconnected(failure))
        abandonInFlight("\(failure)")
        retry.set(at: loop.nanosecondsSinceBoot + mistrust.pause(backOff.next()).nanoseconds)
    }

    private func becomeIdle() {
        endTimers()
        abandonInFlight("the connection to the broker was ended")
        state = .idle
        deliveries += whenDisconnected.map(Delivery.done)
        whenDisconnected = []
    }

    private func endTimers() {
        deadline.cancel()
        upkeep.cancel()
        retry.cancel()
    }

    private func abandonInFlight(_ reason: String) {
        for id in inFlight.values.map(\.id).sorted() { emit(.publishFailed(id: id, reason)) }
        inFlight = [:]
        octetsInFlight = 0
        subscribing = [:]
    }

    // MARK: Delivery

    private func emit(_ event: MQTTEvent) { deliveries.append(.event(event)) }

    /// From the caller's own calls: the handler is called on the next turn.
    private func deliverSoon() {
        guard !deliveries.isEmpty, !isDelivering else { return }
        delivery.set(at: loop.nanosecondsSinceBoot)
    }

    /// What a handler adds is delivered after it, in order; what is too much for this turn in the next one.
    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        var next = 0
        while next < deliveries.count, budget.allows {
            switch deliveries[next] {
            case .event(let event): handler(event)
            case .done(let done): done()
            }
            next += 1
        }
        guard next == deliveries.count else {
            deliveries.removeFirst(next)
            return delivery.set(at: 0)
        }
        deliveries.removeAll(keepingCapacity: next <= Int(MQTTClient.packetsPerTurn))
    }
}
