import ButtonModel

/// The asking side of one link's attribute bearer: one request outstanding, for thirty seconds.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3.
struct ATTClient: Hashable, Sendable {
    static let transactionTimeout: Duration = .seconds(30)

    /// When to call `timerFired`.
    private(set) var deadline: Instant?
    /// Its opcode.
    private var outstandingRequest: UInt8?

    /// Notes that a request was sent.
    mutating func requestSent(_ request: ATTPDU, at now: Instant) {
        outstandingRequest = request.opcode
        deadline = now + Self.transactionTimeout
    }

    /// - Returns: whether `response` answers the outstanding request, which then is none any more.
    mutating func accept(_ response: ATTPDU) -> Bool {
        guard let request = outstandingRequest else { return false }
        let answered: UInt8
        // Each response's opcode is its request's and one.
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

    /// - Returns: whether the transaction has timed out; the bearer must not be used again.
    mutating func timerFired(at now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        self.deadline = nil
        outstandingRequest = nil
        return true
    }
}
