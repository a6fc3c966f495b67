import ButtonModel

/// The safety net under every rule: at most 600 runs begin in any minute.
struct RateWindow: Sendable {
    static let limit = 600
    static let length = Duration.seconds(60)

    /// When the runs of the last minute began; the oldest is at `oldest`, once the ring is full.
    private var starts: [Instant] = []
    private var oldest = 0

    /// Whether one more may begin. A run that began exactly one minute ago no longer counts.
    func hasRoom(at now: Instant) -> Bool {
        starts.count < RateWindow.limit || now - starts[oldest] >= RateWindow.length
    }

    /// Notes a run that begins now. Ask `hasRoom` first: the oldest is forgotten.
    mutating func record(_ now: Instant) {
        guard starts.count == RateWindow.limit else { return starts.append(now) }
        starts[oldest] = now
        oldest = (oldest + 1) % RateWindow.limit
    }
}
