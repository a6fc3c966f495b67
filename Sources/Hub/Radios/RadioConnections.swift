import ButtonModel
import Radios

/// How well one radio has connected buttons since the start of the program, for the metrics.
struct RadioConnections: Hashable, Sendable {
    /// How long connections took, until the notifications of the button were enabled, in seconds. The time of a proxy
    /// begins when it is told to connect, and the time of an adapter when it has the link, so proxies take longer.
    private(set) var times = Histogram(bounds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
    private(set) var failures: [ConnectFailure: Int] = [:]
    /// How many attempts in a row have led to no link. Only proxies report attempts.
    private var attemptsInVain = 0
    /// After fewer attempts, a button may just have gone out of reach.
    private static let manyAttempts = 5
    /// The number of packets of buttons with a wrong signature, because an earlier packet was lost.
    private(set) var lostNotifications = 0

    /// Advice for users of a radio that hears buttons and connects none of them; `nil` for a radio that connects buttons.
    var advice: String? {
        attemptsInVain < Self.manyAttempts
            ? nil
            : """
            It hears buttons, but could not connect any in the last \(Self.manyAttempts) attempts. Are they too far away, or \
            does ble_client: in its ESPHome configuration use its connections? Otherwise restart it.
            """
    }

    /// The radio was opened again, perhaps because it has restarted.
    mutating func opened() { attemptsInVain = 0 }

    mutating func connected(after duration: Duration) {
        times.add(duration)
        attemptsInVain = 0
    }

    /// - Returns: true if `advice` has just begun.
    mutating func failed(_ failure: ConnectFailure) -> Bool {
        failures[failure, default: 0] += 1
        switch failure {
        case .noLink:
            attemptsInVain += 1
            return attemptsInVain == Self.manyAttempts
        case .notEstablished, .linkLost, .noService: return false
        }
    }
    mutating func notificationLost() { lostNotifications += 1 }
}
