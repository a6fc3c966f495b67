import ButtonModel

/// The requests of an established session. At most two requests are outstanding, and at most one of each kind.
///
/// Each kind is queued at most once, so the number of kinds is the bound of the queue. A request without a response in
/// time is given up, and a later response to it is ignored.
///
/// - Source: protocol notes, 3 ("Flow").
struct RequestQueue: Sendable {
    enum Request: CaseIterable, Hashable, Sendable {
        case setAdvertisingParameters
        case getBatteryLevel
        /// Gets or sets the name; `NameExchange` decides which when the request is sent.
        case name
        case getFirmwareVersion
        case startFirmwareUpdate
        case factoryReset
        /// Changes what the LEDs of a Twist show.
        case changeConfiguration

        /// The time limit for the response. An idle button may need two seconds before it receives a request, and it
        /// may have to erase an older image before it accepts a new one.
        var timeout: Duration {
            switch self {
            case .setAdvertisingParameters, .getBatteryLevel, .name, .getFirmwareVersion, .factoryReset,
                .changeConfiguration:
                .seconds(15)
            case .startFirmwareUpdate: .seconds(30)
            }
        }
    }

    static let maximumOutstandingCount = 2

    private var outstanding: [(request: Request, deadline: Instant)] = []
    private var waiting: [Request] = []

    /// When the next outstanding request is given up.
    var deadline: Instant? { outstanding.map(\.deadline).min() }

    mutating func add(_ request: Request) {
        guard !waiting.contains(request) else { return }
        waiting.append(request)
    }

    /// Removes a request from the queue; a request that was sent stays outstanding.
    mutating func withdraw(_ request: Request) { waiting.removeAll { $0 == request } }

    /// - Returns: whether the request was outstanding.
    mutating func answered(_ request: Request) -> Bool {
        guard let index = outstanding.firstIndex(where: { $0.request == request }) else { return false }
        outstanding.remove(at: index)
        return true
    }

    /// Removes the next request from the queue if it may be sent now. It is outstanding from now on.
    mutating func next(at now: Instant) -> Request? {
        guard outstanding.count < Self.maximumOutstandingCount,
            let index = waiting.firstIndex(where: { request in !outstanding.contains { $0.request == request } })
        else { return nil }
        let request = waiting.remove(at: index)
        outstanding.append((request, now + request.timeout))
        return request
    }

    /// Removes and returns the outstanding requests whose deadline has passed.
    mutating func expire(at now: Instant) -> [Request] {
        let expired = outstanding.filter { $0.deadline <= now }.map(\.request)
        outstanding.removeAll { $0.deadline <= now }
        return expired
    }
}
