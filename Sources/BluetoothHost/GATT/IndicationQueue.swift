import ButtonModel

/// The indications to one peer: one awaits its confirmation, and the others are queued.
///
/// | state    | on                     | becomes  | and we                                        |
/// |----------|------------------------|----------|-----------------------------------------------|
/// | idle     | an indication          | awaiting | send it                                       |
/// | awaiting | an indication          | awaiting | queue it; at the bound, fail it               |
/// | awaiting | a confirmation         | idle     | confirmed; send the next                      |
/// | idle     | a confirmation         | idle     | anomaly                                       |
/// | awaiting | 30 s                   | closed   | fail all of them; disconnect                  |
/// | any      | link ended             | closed   | fail all of them                              |
/// | closed   | an indication          | closed   | fail it                                       |
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3.
struct IndicationQueue: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send(ATTPDU)
        case confirmed(AttributeHandle)
        case failed(AttributeHandle, ATTFailure)
        /// End the link, because the bearer must not be used again.
        case disconnect
        case anomaly(String)
    }

    /// The maximum number of queued indications; a further indication fails at once.
    static let maximumWaiting = 16

    private struct Indication: Hashable, Sendable {
        var attribute: AttributeHandle
        var value: [UInt8]
    }

    private enum State: Hashable, Sendable {
        case idle
        case awaiting(AttributeHandle)
        case closed
    }

    /// When to call `timerFired`.
    private(set) var deadline: Instant?
    private var state = State.idle
    private var waiting: [Indication] = []

    mutating func indicate(_ attribute: AttributeHandle, _ value: [UInt8], at now: Instant) -> [Effect] {
        switch state {
        case .idle:
            return send(Indication(attribute: attribute, value: value), at: now)
        case .awaiting:
            guard waiting.count < Self.maximumWaiting else { return [.failed(attribute, .tooManyProcedures)] }
            waiting.append(Indication(attribute: attribute, value: value))
            return []
        case .closed:
            return [.failed(attribute, .linkLost)]
        }
    }

    mutating func receiveConfirmation(at now: Instant) -> [Effect] {
        guard case .awaiting(let attribute) = state else { return [.anomaly("an unexpected confirmation")] }
        state = .idle
        deadline = nil
        guard !waiting.isEmpty else { return [.confirmed(attribute)] }
        return [.confirmed(attribute)] + send(waiting.removeFirst(), at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        guard let deadline, now >= deadline else { return [] }
        return close(.transactionTimedOut) + [.disconnect]
    }

    mutating func linkEnded() -> [Effect] { close(.linkLost) }

    private mutating func send(_ indication: Indication, at now: Instant) -> [Effect] {
        state = .awaiting(indication.attribute)
        deadline = now + ATTClient.transactionTimeout
        return [.send(.handleValueIndication(indication.attribute.rawValue, indication.value))]
    }

    private mutating func close(_ failure: ATTFailure) -> [Effect] {
        var failed = waiting.map(\.attribute)
        if case .awaiting(let attribute) = state { failed.insert(attribute, at: 0) }
        state = .closed
        deadline = nil
        waiting = []
        return failed.map { .failed($0, failure) }
    }
}
