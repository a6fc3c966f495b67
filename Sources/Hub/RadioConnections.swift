import ButtonModel
import Radios

/// How well one radio has connected buttons since the start of the program, for the metrics.
struct RadioConnections: Hashable, Sendable {
    /// From the beginning of a connection until the button's notifications are on, in seconds. An adapter reports the
    /// beginning when it has the link, and a proxy is told to connect, which takes longer.
    private(set) var times = Histogram(bounds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
    private(set) var failures: [ConnectFailure: Int] = [:]
    /// Packets of buttons whose signature did not fit, because an earlier packet was lost on the way.
    private(set) var lostNotifications = 0

    mutating func connected(after duration: Duration) { times.add(duration) }
    mutating func failed(_ failure: ConnectFailure) { failures[failure, default: 0] += 1 }
    mutating func notificationLost() { lostNotifications += 1 }
}
