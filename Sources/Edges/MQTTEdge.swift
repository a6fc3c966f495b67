import ButtonModel
import CMosquitto
import Glibc
package import Hub
package import Reactor

/// The connection to the broker: performs the effects of an `MQTTSession` with libmosquitto on the event loop.
///
/// The handler is called from the loop only, never during a call to this edge. The owner must call `disconnect` before
/// it releases the edge.
@ReactorActor
package final class MQTTEdge {
    private let loop: EventLoop
    private let options: MQTTOptions
    private let deliveries: MQTTDeliveries
    private var session: MQTTSession
    private var inputs: [MQTTSession.Input] = []
    private var isHandling = false
    private var isBatching = false

    private var client: MQTTClient?
    private var watch: Watch?
    private var whenDisconnected: [@ReactorActor () -> Void] = []

    private lazy var timer = loop.timer { [weak self] in
        self?.feed(.timerFired)
        self?.deliveries.deliver()
    }

    /// - Parameter seed: for the jitter of the retries.
    package init(
        loop: EventLoop, options: MQTTOptions, seed: UInt64, _ handler: @escaping @ReactorActor (MQTTEvent) -> Void
    ) {
        self.loop = loop
        self.options = options
        deliveries = MQTTDeliveries(loop, handler)
        session = MQTTSession(options, seed: seed)
    }

    /// The version of the latest connection.
    package var version: MQTTProtocolVersion { session.version }

    /// Connects, and connects again whenever the connection is lost, until `disconnect`.
    package func connect() { request(.connect) }

    /// Uses the configured version for the next connection, even after malformed packets.
    package func configurationRead() { request(.configurationRead) }

    /// Requires a connection. A subscription that the broker refuses is reported.
    package func subscribe(_ subscriptions: [Subscription]) {
        for subscription in subscriptions { request(.subscribe(subscription)) }
    }

    /// Requires a connection. A new connection has no subscriptions anyway.
    package func unsubscribe(_ topicFilters: [String]) {
        for topicFilter in topicFilters { request(.unsubscribe(topicFilter)) }
    }

    /// Publishes a message, which results in exactly one `published` or `publishFailed` with this id.
    ///
    /// - Parameters:
    ///   - qos: 0…2.
    ///   - expiry: how long the broker keeps the message for absent subscribers; MQTT 5 only.
    package func publish(
        id: UInt64, topicName: String, payload: [UInt8], qos: Int, retain: Bool, expiry: Duration?
    ) {
        request(
            .publish(
                MQTTSession.Publish(
                    id: id, topicName: topicName, payload: payload, qos: qos, retain: retain, expiry: expiry)))
    }

    /// Sends the messages of the calls that follow together, when `endBatch` is called.
    package func beginBatch() {
        guard !isBatching else { return }
        isBatching = true
        client?.holdPackets(true)
    }

    package func endBatch() {
        guard isBatching else { return }
        isBatching = false
        client?.holdPackets(false)
    }

    /// Waits up to 2 s for the messages in flight, disconnects so that the will is not published, and calls `finished`.
    package func disconnect(_ finished: @escaping @ReactorActor () -> Void) {
        whenDisconnected.append(finished)
        request(.disconnect)
    }

    // MARK: Inputs and effects

    /// Handles a call of the owner, whose results are delivered on the next turn.
    private func request(_ input: MQTTSession.Input) {
        feed(input)
        deliveries.deliverSoon()
    }

    /// Performs all effects of an input before the next input, which may be the result of one of them.
    private func feed(_ input: MQTTSession.Input) {
        guard !isHandling else { return inputs.append(input) }
        isHandling = true
        handle(input)
        var next = 0
        while next < inputs.count {
            handle(inputs[next])
            next += 1
        }
        inputs.removeAll(keepingCapacity: true)
        isHandling = false
    }

    private func handle(_ input: MQTTSession.Input) {
        for effect in session.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) { carryOut(effect) }
    }

    private func carryOut(_ effect: MQTTSession.Effect) {
        switch effect {
        case .dial(let version): dial(version)
        case .watch(let interest): watchSocket(interest)
        case .publish(let message): call { $0.publish(message) }
        case .subscribe(let subscription): call { $0.subscribe(subscription) }
        case .unsubscribe(let topicFilter): call { (.unsubscribe, $0.unsubscribe(topicFilter)) }
        case .performUpkeep: call { (.upkeep, $0.performUpkeep()) }
        case .sendDisconnect: call { (.disconnect, $0.disconnect()) }
        case .close: close()
        case .report(let event): deliveries.add(event)
        case .finished:
            for finished in whenDisconnected { deliveries.add(finished: finished) }
            whenDisconnected = []
        case .setTimer(let deadline): timer.set(at: deadline.nanoseconds)
        case .cancelTimer: timer.cancel()
        }
    }

    private func dial(_ version: MQTTProtocolVersion) {
        let client: MQTTClient
        do {
            client = try MQTTClient(options, version: version)
        } catch {
            return feed(.dialled(error))
        }
        self.client = client
        let dial = client.dial(options)
        // The closure keeps the client alive for the helper, even if this edge has closed it.
        loop.offload {
            dial()
        } then: { [self] result in
            guard self.client === client else { return }
            feed(.dialled(client.dialled(result)))
            deliveries.deliver()
        }
    }

    private func watchSocket(_ interest: MQTTSession.SocketInterest) {
        guard let client else { return }
        let interest: IOEvents = [interest.reads ? .read : [], interest.writes ? .write : []]
        if let watch { return watch.set(interest) }
        watch = loop.watch(client.descriptor, interest) { [weak self] in self?.serve($0) }
    }

    private func serve(_ interest: IOEvents) {
        call { client in
            var code: Int32 = 0
            let isReadable = interest.contains(.read) || interest.hasHangup || client.hasPendingInput
            // Messages of an earlier turn are delivered before more are read.
            if isReadable, deliveries.isEmpty, !session.isReadingPaused || interest.hasHangup { code = client.read() }
            if interest.contains(.write), code != CMOSQUITTO_ASSERTED, client.isOpen {
                let written = client.write()
                if code == 0 || written == CMOSQUITTO_ASSERTED { code = written }
            }
            return (.serve, code)
        }
        deliveries.deliver()
    }

    /// Calls the library, and passes the outcome to the session.
    private func call(_ body: (MQTTClient) -> (MQTTSession.Call, Int32)) {
        guard let client else { return }
        let (call, code) = body(client)
        let systemError = errno
        // The library may have closed the socket, and the number of a closed socket may soon belong to another file.
        if code == CMOSQUITTO_ASSERTED || !client.isOpen { endWatch() }
        feed(.returned(call, client.outcome(code, systemError: systemError)))
    }

    private func close() {
        endWatch()
        client = nil
    }

    private func endWatch() {
        watch?.cancel()
        watch = nil
    }
}
