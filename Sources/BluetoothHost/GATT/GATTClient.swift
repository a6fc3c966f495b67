import ButtonModel

/// The client side of GATT on one link: runs one procedure at a time and queues further ones.
///
/// | state       | on                               | becomes     | and we                                     |
/// |-------------|----------------------------------|-------------|--------------------------------------------|
/// | idle        | a procedure                      | running     | send its first request                     |
/// | running     | a procedure                      | running     | queue it; at the bound, fail it            |
/// | running     | a response, more to ask          | running     | send the next request                      |
/// | running     | the last response, or an error   | idle        | report; begin the next procedure           |
/// | any         | a response without a request     | same        | anomaly                                    |
/// | running     | 30 s                             | closed      | failed, time-out; disconnect               |
/// | any         | link ended                       | closed      | fail the running and the queued procedures |
/// | closed      | a procedure                      | closed      | fail it                                    |
struct GATTClient: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send(ATTPDU)
        /// The server's ATT_MTU; 23 if the server does not support the exchange.
        case mtuExchanged(serverMTU: UInt16)
        case servicesDiscovered([RemoteService])
        case serviceDiscovered(RemoteService)
        /// `of`: the handle of the characteristic's value.
        case descriptorsDiscovered(of: AttributeHandle, [RemoteService.Descriptor])
        case read(AttributeHandle, [UInt8])
        case writeCompleted(AttributeHandle)
        case notificationsSet(configuration: AttributeHandle, enabled: Bool)
        case indicationsSet(configuration: AttributeHandle, enabled: Bool)
        case failed(GATTProcedure, ATTFailure)
        /// End the link, because the bearer must not be used again.
        case disconnect
        case anomaly(String)
    }

    /// The maximum number of queued procedures; a further procedure fails at once.
    static let maximumWaitingProcedures = 16

    private enum State: Hashable, Sendable {
        case idle
        case running(GATTProcedure, Activity)
        case closed
    }

    /// The progress of the running procedure.
    private enum Activity: Hashable, Sendable {
        /// The procedure consists of one request.
        case asking
        case discoveringServices(PrimaryServiceDiscovery)
        case discoveringService(ServiceDiscovery)
        case discoveringDescriptors(DescriptorDiscovery)
        case reading(ValueRead)
        case writing(ValueWrite)
    }

    /// The ATT_MTU that we offer.
    private let offeredMTU: UInt16
    private var state = State.idle
    private var client = ATTClient()
    private var waiting: [GATTProcedure] = []
    /// The value handle of the peer's Service Changed characteristic, if it was discovered.
    private var serviceChanged: AttributeHandle?

    var deadline: Instant? { client.deadline }

    init(offeredMTU: UInt16) { self.offeredMTU = offeredMTU }

    /// True if our own MTU exchange is queued or in progress.
    var isExchangingMTU: Bool {
        if case .running(.exchangeMTU, _) = state { return true }
        return waiting.contains(.exchangeMTU)
    }

    /// - Parameter attMTU: the ATT_MTU in force, as in `receive`.
    mutating func start(_ procedure: GATTProcedure, attMTU: UInt16, at now: Instant) -> [Effect] {
        switch state {
        case .closed:
            return [.failed(procedure, .linkLost)]
        case .idle:
            return begin(procedure, attMTU, at: now)
        case .running:
            guard waiting.count < Self.maximumWaitingProcedures else {
                return [.failed(procedure, .tooManyProcedures)]
            }
            waiting.append(procedure)
            return []
        }
    }

    mutating func receive(_ response: ATTPDU, attMTU: UInt16, at now: Instant) -> [Effect] {
        guard client.accept(response) else {
            return [.anomaly("an unexpected attribute response, opcode \(response.opcode)")]
        }
        switch state {
        case .running(let procedure, let activity):
            return advance(procedure, activity, response, attMTU, at: now)
        case .idle, .closed:
            return []
        }
    }

    /// Handles a response that could not be decoded: ends the transaction, and fails the procedure in progress with
    /// `malformedResponse`.
    mutating func receiveMalformed(opcode: UInt8, attMTU: UInt16, at now: Instant) -> [Effect] {
        guard client.accept(.unknown(opcode: opcode, parameters: [])) else {
            return [.anomaly("a malformed attribute response, opcode \(opcode)")]
        }
        guard case .running(let procedure, _) = state else { return [] }
        return finish(.failed(procedure, .malformedResponse), attMTU, at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        guard client.timerFired(at: now), case .running(let procedure, _) = state else { return [] }
        state = .idle
        return [.failed(procedure, .transactionTimedOut)] + linkEnded() + [.disconnect]
    }

    mutating func linkEnded() -> [Effect] {
        var lost = waiting
        if case .running(let procedure, _) = state { lost.insert(procedure, at: 0) }
        state = .closed
        client = ATTClient()
        waiting = []
        return lost.map { .failed($0, .linkLost) }
    }

    /// The changed range, if `attribute` is the peer's Service Changed characteristic; else `nil`.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part G, 7.1.
    func changedServices(_ attribute: AttributeHandle, _ value: [UInt8]) -> ClosedRange<AttributeHandle>? {
        guard attribute == serviceChanged else { return nil }
        return ServiceChanged(decoding: value)?.handles
    }

    // MARK: Starting procedures

    private mutating func begin(_ procedure: GATTProcedure, _ attMTU: UInt16, at now: Instant) -> [Effect] {
        switch procedure {
        case .exchangeMTU:
            return send(.exchangeMTURequest(offeredMTU), procedure, .asking, at: now)
        case .discoverServices:
            let discovery = PrimaryServiceDiscovery()
            return send(discovery.request, procedure, .discoveringServices(discovery), at: now)
        case .discoverService(let uuid):
            let discovery = ServiceDiscovery(uuid)
            return send(discovery.firstRequest, procedure, .discoveringService(discovery), at: now)
        case .discoverCharacteristics(let service):
            let discovery = ServiceDiscovery(service)
            return send(discovery.firstRequest, procedure, .discoveringService(discovery), at: now)
        case .discoverDescriptors(let characteristic):
            guard let discovery = DescriptorDiscovery(characteristic) else {
                return finish(.descriptorsDiscovered(of: characteristic.valueHandle, []), attMTU, at: now)
            }
            return send(discovery.request, procedure, .discoveringDescriptors(discovery), at: now)
        case .read(let attribute):
            let read = ValueRead(attribute, attMTU: attMTU)
            return send(read.firstRequest, procedure, .reading(read), at: now)
        case .write(let attribute, let value):
            guard value.count <= ATTPDU.maximumValueLength else {
                return finish(.failed(procedure, .valueTooLong), attMTU, at: now)
            }
            let write = ValueWrite(value, to: attribute, attMTU: attMTU)
            return send(write.firstRequest, procedure, .writing(write), at: now)
        case .setNotifications(let handle, let enabled):
            let bits: UInt8 = enabled ? ClientConfiguration.notifications : 0
            return send(.writeRequest(handle.rawValue, [bits, 0]), procedure, .asking, at: now)
        case .setIndications(let handle, let enabled):
            let bits: UInt8 = enabled ? ClientConfiguration.indications : 0
            return send(.writeRequest(handle.rawValue, [bits, 0]), procedure, .asking, at: now)
        }
    }

    private mutating func send(
        _ request: ATTPDU, _ procedure: GATTProcedure, _ activity: Activity, at now: Instant
    ) -> [Effect] {
        state = .running(procedure, activity)
        client.requestSent(request, at: now)
        return [.send(request)]
    }

    private mutating func finish(_ result: Effect, _ attMTU: UInt16, at now: Instant) -> [Effect] {
        state = .idle
        guard !waiting.isEmpty else { return [result] }
        // An MTU exchange that has just ended applies to the next request.
        let attMTU = if case .mtuExchanged(let serverMTU) = result { effectiveMTU(serverMTU) } else { attMTU }
        return [result] + begin(waiting.removeFirst(), attMTU, at: now)
    }

    /// The smaller of both sides' offers, at least 23.
    func effectiveMTU(_ peerMTU: UInt16) -> UInt16 { max(ATTPDU.minimumMTU, min(offeredMTU, peerMTU)) }

    // MARK: Responses

    private mutating func advance(
        _ procedure: GATTProcedure, _ activity: Activity, _ response: ATTPDU, _ attMTU: UInt16, at now: Instant
    ) -> [Effect] {
        switch activity {
        case .asking:
            return finish(answer(to: procedure, response), attMTU, at: now)
        case .discoveringServices(var discovery):
            let step = discovery.handle(response)
            return take(step, procedure, .discoveringServices(discovery), attMTU, at: now) { .servicesDiscovered($0) }
        case .discoveringService(var discovery):
            let step = discovery.handle(response)
            if case .done(let service) = step { noteServiceChanged(in: service) }
            return take(step, procedure, .discoveringService(discovery), attMTU, at: now) { .serviceDiscovered($0) }
        case .discoveringDescriptors(var discovery):
            let step = discovery.handle(response)
            return take(step, procedure, .discoveringDescriptors(discovery), attMTU, at: now) {
                .descriptorsDiscovered(of: discovery.valueHandle, $0)
            }
        case .reading(var read):
            let step = read.handle(response, attMTU: attMTU)
            return take(step, procedure, .reading(read), attMTU, at: now) { .read(read.handle, $0) }
        case .writing(var write):
            let step = write.handle(response, attMTU: attMTU)
            return take(step, procedure, .writing(write), attMTU, at: now) { .writeCompleted($0) }
        }
    }

    private mutating func take<Result>(
        _ step: GATTStep<Result>, _ procedure: GATTProcedure, _ activity: Activity, _ attMTU: UInt16,
        at now: Instant, _ report: (Result) -> Effect
    ) -> [Effect] {
        switch step {
        case .request(let request): send(request, procedure, activity, at: now)
        case .done(let result): finish(report(result), attMTU, at: now)
        case .failed(let failure): finish(.failed(procedure, failure), attMTU, at: now)
        }
    }

    private mutating func noteServiceChanged(in service: RemoteService) {
        let changed = service.characteristics.first { $0.uuid == .short(GATTType.serviceChanged) }
        serviceChanged = changed?.valueHandle ?? serviceChanged
    }

    /// The result of a procedure that consists of one request.
    private func answer(to procedure: GATTProcedure, _ response: ATTPDU) -> Effect {
        switch procedure {
        case .exchangeMTU:
            if case .exchangeMTUResponse(let mtu) = response { return .mtuExchanged(serverMTU: mtu) }
            if case .errorResponse(_, _, .requestNotSupported) = response {
                return .mtuExchanged(serverMTU: ATTPDU.minimumMTU)
            }
        case .setNotifications(let handle, let enabled):
            if case .writeResponse = response { return .notificationsSet(configuration: handle, enabled: enabled) }
        case .setIndications(let handle, let enabled):
            if case .writeResponse = response { return .indicationsSet(configuration: handle, enabled: enabled) }
        case .discoverServices, .discoverService, .discoverCharacteristics, .discoverDescriptors, .read, .write:
            break  // Types of their own handle the responses of these procedures.
        }
        return .failed(procedure, ATTFailure(unexpected: response))
    }
}

extension ATTFailure {
    /// The failure of a procedure whose request was answered with an Error Response or with the response of another
    /// request.
    init(unexpected response: ATTPDU) {
        if case .errorResponse(_, let attribute, let code) = response {
            self = .errorResponse(code: code.rawValue, attributeHandle: attribute)
        } else {
            self = .malformedResponse
        }
    }
}
