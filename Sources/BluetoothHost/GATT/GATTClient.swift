import ButtonModel

/// The procedures we run at one peer's GATT server: one after the other, each to its end.
///
/// | state       | on                               | becomes     | and we                                     |
/// |-------------|----------------------------------|-------------|--------------------------------------------|
/// | idle        | a procedure                      | running     | send its first request                     |
/// | running     | a procedure                      | running     | queue it; at the bound, fail it            |
/// | running     | a response, more to ask          | running     | send the next request                      |
/// | running     | the last response, or an error   | idle        | report; begin the next procedure           |
/// | any         | a response nobody waits for      | same        | anomaly                                    |
/// | running     | 30 s                             | closed      | failed, time-out; the link has to go       |
/// | any         | link ended                       | closed      | fail what runs and what waits              |
/// | closed      | a procedure                      | closed      | fail it                                    |
struct GATTClient: Hashable, Sendable {
    enum Procedure: Hashable, Sendable {
        case exchangeMTU(offered: UInt16)
        case discoverService(UUID)
        case setNotifications(configuration: AttributeHandle, enabled: Bool)
    }

    enum Effect: Hashable, Sendable {
        case send(ATTPDU)
        /// What the server takes; the smallest where it knows no exchange.
        case mtuExchanged(serverMTU: UInt16)
        case serviceDiscovered(RemoteService)
        case notificationsSet(configuration: AttributeHandle, enabled: Bool)
        case failed(ATTFailure)
        /// The bearer must not be used again.
        case disconnect
        case anomaly(String)
    }

    /// Procedures waiting behind the one that runs; one more fails at once.
    static let maximumWaitingProcedures = 16

    private enum State: Hashable, Sendable {
        case idle
        case exchangingMTU
        case discovering(ServiceDiscovery)
        case writingConfiguration(AttributeHandle, enabled: Bool)
        case closed
    }

    private var state = State.idle
    private var client = ATTClient()
    private var waiting: [Procedure] = []

    var deadline: Instant? { client.deadline }

    /// Whether an exchange of ours is still to be answered or sent.
    var isExchangingMTU: Bool {
        if state == .exchangingMTU { return true }
        return waiting.contains { if case .exchangeMTU = $0 { true } else { false } }
    }

    mutating func start(_ procedure: Procedure, at now: Instant) -> [Effect] {
        switch state {
        case .closed:
            return [.failed(.linkLost)]
        case .idle:
            return begin(procedure, at: now)
        case .exchangingMTU, .discovering, .writingConfiguration:
            guard waiting.count < Self.maximumWaitingProcedures else { return [.failed(.tooManyProcedures)] }
            waiting.append(procedure)
            return []
        }
    }

    mutating func receive(_ response: ATTPDU, at now: Instant) -> [Effect] {
        guard client.accept(response) else {
            return [.anomaly("an attribute response nobody waits for, opcode \(response.opcode)")]
        }
        switch state {
        case .exchangingMTU:
            return finish(exchangeEnded(by: response), at: now)
        case .writingConfiguration(let handle, let enabled):
            return finish(writeEnded(by: response, of: handle, enabled: enabled), at: now)
        case .discovering(var discovery):
            let step = discovery.handle(response)
            state = .discovering(discovery)
            switch step {
            case .request(let request): return send(request, at: now)
            case .done(let service): return finish(.serviceDiscovered(service), at: now)
            case .failed(let failure): return finish(.failed(failure), at: now)
            }
        case .idle, .closed:
            return []
        }
    }

    /// A response that could not be decoded. It still ends the transaction it answers.
    mutating func receiveMalformed(opcode: UInt8, at now: Instant) -> [Effect] {
        guard client.accept(.unknown(opcode: opcode, parameters: [])) else {
            return [.anomaly("a malformed attribute response, opcode \(opcode)")]
        }
        return finish(.failed(.malformedResponse), at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        guard client.timerFired(at: now) else { return [] }
        return [.failed(.transactionTimedOut)] + close(runningFailed: true) + [.disconnect]
    }

    mutating func linkEnded() -> [Effect] {
        close(runningFailed: false)
    }

    private mutating func begin(_ procedure: Procedure, at now: Instant) -> [Effect] {
        switch procedure {
        case .exchangeMTU(let offered):
            state = .exchangingMTU
            return send(.exchangeMTURequest(offered), at: now)
        case .discoverService(let uuid):
            let discovery = ServiceDiscovery(uuid)
            state = .discovering(discovery)
            return send(discovery.firstRequest, at: now)
        case .setNotifications(let handle, let enabled):
            state = .writingConfiguration(handle, enabled: enabled)
            return send(.writeRequest(handle.rawValue, [enabled ? 1 : 0, 0]), at: now)
        }
    }

    private mutating func send(_ request: ATTPDU, at now: Instant) -> [Effect] {
        client.requestSent(request, at: now)
        return [.send(request)]
    }

    private mutating func finish(_ result: Effect, at now: Instant) -> [Effect] {
        state = .idle
        guard !waiting.isEmpty else { return [result] }
        return [result] + begin(waiting.removeFirst(), at: now)
    }

    private mutating func close(runningFailed: Bool) -> [Effect] {
        let isRunning = state != .idle && state != .closed && !runningFailed
        let lost = waiting.count + (isRunning ? 1 : 0)
        state = .closed
        client = ATTClient()
        waiting = []
        return Array(repeating: .failed(.linkLost), count: lost)
    }

    private func exchangeEnded(by response: ATTPDU) -> Effect {
        switch response {
        case .exchangeMTUResponse(let mtu): .mtuExchanged(serverMTU: mtu)
        case .errorResponse(_, _, .requestNotSupported): .mtuExchanged(serverMTU: ATTPDU.minimumMTU)
        case .errorResponse(_, let handle, let code):
            .failed(.errorResponse(code: code.rawValue, attributeHandle: handle))
        default: .failed(.malformedResponse)
        }
    }

    private func writeEnded(by response: ATTPDU, of handle: AttributeHandle, enabled: Bool) -> Effect {
        switch response {
        case .writeResponse: .notificationsSet(configuration: handle, enabled: enabled)
        case .errorResponse(_, let attribute, let code):
            .failed(.errorResponse(code: code.rawValue, attributeHandle: attribute))
        default: .failed(.malformedResponse)
        }
    }
}
