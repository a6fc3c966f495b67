import ButtonModel

/// The requests of an established session: a button takes two at a time, and one of a kind.
///
/// Each kind waits here once at most, so the queue is as long as the list of kinds. A request that is not answered in
/// time makes room for the next; what is answered after that was asked by nobody.
///
/// - Source: protocol notes, 3 ("Flow").
struct RequestQueue: Sendable {
    enum Request: CaseIterable, Hashable, Sendable {
        case setAdvertisingParameters
        case getBatteryLevel
        /// To get or to set it, whatever is due when it is sent.
        case name
        case getFirmwareVersion
        case startFirmwareUpdate
        case factoryReset
        /// Of a Twist: what its lights show.
        case changeConfiguration

        /// How long the answer may take. It takes two seconds until an idle button listens; to get ready for an image
        /// it may have to erase another one.
        var patience: Duration {
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

    /// What waits is not sent any more; what was sent is out of our hands.
    mutating func withdraw(_ request: Request) { waiting.removeAll { $0 == request } }

    /// - Returns: whether anybody asked.
    mutating func answered(_ request: Request) -> Bool {
        guard let index = outstanding.firstIndex(where: { $0.request == request }) else { return false }
        outstanding.remove(at: index)
        return true
    }

    /// The next request that may be sent now, and is from now on waited for.
    mutating func next(at now: Instant) -> Request? {
        guard outstanding.count < Self.maximumOutstandingCount,
            let index = waiting.firstIndex(where: { request in !outstanding.contains { $0.request == request } })
        else { return nil }
        let request = waiting.remove(at: index)
        outstanding.append((request, now + request.patience))
        return request
    }

    /// The requests whose time is over; they are no longer waited for.
    mutating func expire(at now: Instant) -> [Request] {
        let expired = outstanding.filter { $0.deadline <= now }.map(\.request)
        outstanding.removeAll { $0.deadline <= now }
        return expired
    }
}
