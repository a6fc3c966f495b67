import ButtonModel
import Radios

/// How well one radio has connected buttons since the start of the program, for the metrics.
struct RadioConnections: Hashable, Sendable {
    /// How long connections took, until the notifications of the button were enabled, in seconds. The time of a proxy
    /// begins when it is told to connect, and the time of an adapter when it has the link, so proxies take longer.
    private(set) var times = Histogram(bounds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
    private(set) var failures: [ConnectFailure: Int] = [:]
    /// The number of packets of buttons with a wrong signature, because an earlier packet was lost.
    private(set) var lostNotifications = 0

    mutating func connected(after duration: Duration) { times.add(duration) }
    mutating func failed(_ failure: ConnectFailure) { failures[failure, default: 0] += 1 }
    mutating func notificationLost() { lostNotifications += 1 }
}
