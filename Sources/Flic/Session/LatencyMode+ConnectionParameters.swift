import ButtonModel

extension LatencyMode {
    /// What we let the button ask for. In each mode the host reaches the button within about two seconds; a press does
    /// not wait for the skipped events.
    ///
    /// - Source: protocol notes, 2 ("Connection parameters").
    var connectionParameters: ConnectionParameters {
        switch self {
        case .low:
            ConnectionParameters(intervalMinimum: 12, intervalMaximum: 14, latency: 99, supervisionTimeout: 800)
        case .normal:
            ConnectionParameters(intervalMinimum: 80, intervalMaximum: 90, latency: 17, supervisionTimeout: 800)
        case .high:
            ConnectionParameters(intervalMinimum: 200, intervalMaximum: 220, latency: 6, supervisionTimeout: 800)
        }
    }
}
