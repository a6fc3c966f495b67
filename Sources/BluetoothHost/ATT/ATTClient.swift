import ButtonModel

/// The client side of a link's ATT bearer: one outstanding request with a timeout of 30 seconds.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3.
struct ATTClient: Hashable, Sendable {
    static let transactionTimeout: Duration = .seconds(30)

    /// When to call `timerFired`.
    private(set) var deadline: Instant?
    /// The opcode of the outstanding request.
    private var outstandingRequest: UInt8?

    /// Records that a request was sent, and starts its timeout.
    mutating func requestSent(_ request: ATTPDU, at now: Instant) {
        outstandingRequest = request.opcode
        deadline = now + Self.transactionTimeout
    }

    /// - Returns: whether `response` answers the outstanding request, which is then complete.
    mutating func accept(_ response: ATTPDU) -> Bool {
        guard let request = outstandingRequest else { return false }
        let answered: UInt8
        // A response's opcode is its request's opcode plus one.
        if case .errorResponse(let opcode, _, _) = response {
            answered = opcode
        } else {
            answered = response.opcode &- 1
        }
        guard answered == request else { return false }
        outstandingRequest = nil
        deadline = nil
        return true
    }

    /// - Returns: whether the transaction has timed out; the bearer must then not be used again.
    mutating func timerFired(at now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        self.deadline = nil
        outstandingRequest = nil
        return true
    }
}
