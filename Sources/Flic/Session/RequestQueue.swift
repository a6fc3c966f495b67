/// The requests of an established session: a button takes two at a time.
///
/// Each kind is in here once at most, so the queue is as long as the list of kinds.
///
/// - Source: protocol notes, 3 ("Flow").
struct RequestQueue: Sendable {
    enum Request: CaseIterable, Hashable, Sendable {
        case setAdvertisingParameters
        case getBatteryLevel
        case getName
        case getFirmwareVersion

        var packet: HostPacket {
            switch self {
            case .setAdvertisingParameters: .setAdvertisingParametersRequest(AdvertisingParameters())
            case .getBatteryLevel: .getBatteryLevelRequest
            case .getName: .getNameRequest
            case .getFirmwareVersion: .getFirmwareVersionRequest
            }
        }
    }

    static let maximumOutstandingCount = 2

    private var outstanding: [Request] = []
    private var waiting: [Request] = []

    mutating func add(_ request: Request) {
        guard !waiting.contains(request), !outstanding.contains(request) else { return }
        waiting.append(request)
    }

    /// - Returns: whether anybody asked.
    mutating func answered(_ request: Request) -> Bool {
        guard let index = outstanding.firstIndex(of: request) else { return false }
        outstanding.remove(at: index)
        return true
    }

    /// The next request that may be sent now.
    mutating func next() -> Request? {
        guard outstanding.count < Self.maximumOutstandingCount, !waiting.isEmpty else { return nil }
        let request = waiting.removeFirst()
        outstanding.append(request)
        return request
    }
}
