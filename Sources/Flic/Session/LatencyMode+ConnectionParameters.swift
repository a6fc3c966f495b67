package import ButtonModel

extension LatencyMode {
    /// The connection parameters that the button requests for this mode. In each mode the host's packets reach the
    /// button within about two seconds; a press is not delayed by peripheral latency.
    ///
    /// - Source: protocol notes, 2 ("Connection parameters").
    package var connectionParameters: ButtonConnectionParameters {
        switch self {
        case .low:
            ButtonConnectionParameters(intervalMinimum: 12, intervalMaximum: 14, latency: 99, supervisionTimeout: 800)
        case .normal:
            ButtonConnectionParameters(intervalMinimum: 80, intervalMaximum: 90, latency: 17, supervisionTimeout: 800)
        case .high:
            ButtonConnectionParameters(intervalMinimum: 200, intervalMaximum: 220, latency: 6, supervisionTimeout: 800)
        }
    }
}
