import ButtonModel
import Flic

/// When a simulated button advertises, and with which interval.
///
/// | reason                              | for                      | interval                                         |
/// |-------------------------------------|--------------------------|--------------------------------------------------|
/// | public until paired                 | no limit                 | 100 ms                                           |
/// | public after a hold of 7 s          | 30 s                     | 100 ms                                           |
/// | a press, or `advertisesAgain`       | 60 s                     | 20 ms for 10 s, 152.5 ms to 30 s, then 1022.5 ms |
/// | a lost link                         | `timeoutSeconds`         | `firstInterval` for 5 s, then `laterInterval`    |
///
/// The shortest interval of all current reasons is used. A connected button does not advertise, unless it is public and
/// `advertisesWhileConnected`. The three intervals after a press are those of a Twist, because those of a Flic 2 are
/// not known.
struct AdvertisingPlan: Sendable {
    enum Mode: Hashable, Sendable {
        case silent
        /// `interval` in units of 0.625 ms.
        case advertising(isPublic: Bool, interval: UInt16)
    }

    static let publicDuration = Duration.seconds(30)

    var isConnected = false
    let advertisesWhileConnected: Bool
    var isPublicUntilPaired: Bool
    private(set) var publicUntil: Instant?
    private var pressedAt: Instant?
    private var lost: (at: Instant, settings: AdvertisingSettings)?

    init(isPublicUntilPaired: Bool, advertisesWhileConnected: Bool = false) {
        self.isPublicUntilPaired = isPublicUntilPaired
        self.advertisesWhileConnected = advertisesWhileConnected
    }

    mutating func pressed(at now: Instant) { pressedAt = now }
    mutating func enterPublicMode(at now: Instant) { publicUntil = now + Self.publicDuration }

    mutating func leavePublicMode() {
        isPublicUntilPaired = false
        publicUntil = nil
    }

    mutating func connected() {
        isConnected = true
        pressedAt = nil
        lost = nil
    }

    /// A reboot clears the advertising settings of the hosts.
    mutating func rebooted() { lost = nil }

    /// - Parameter settings: how to advertise after a lost link; `nil` if the link was ended on purpose.
    mutating func disconnected(lookingFor settings: AdvertisingSettings?, advertisesAgain: Bool, at now: Instant) {
        isConnected = false
        lost = settings.map { (now, $0) }
        if advertisesAgain { pressedAt = now }
    }

    func isPublic(at now: Instant) -> Bool { isPublicUntilPaired || publicUntil.map { now < $0 } ?? false }

    func mode(at now: Instant) -> Mode {
        let isPublic = isPublic(at: now)
        guard !isConnected || advertisesWhileConnected && isPublic else { return .silent }
        let intervals = [
            isPublic ? Self.publicInterval : nil,
            Self.step(of: Self.afterPress, since: pressedAt, at: now)?.interval,
            lost.flatMap { Self.step(of: $0.settings.steps, since: $0.at, at: now)?.interval },
        ].compactMap { $0 }
        return intervals.min().map { .advertising(isPublic: isPublic, interval: $0) } ?? .silent
    }

    /// When `mode` changes next without further input.
    func nextChange(after now: Instant) -> Instant? {
        let publicEnd = publicUntil.flatMap { now < $0 ? $0 : nil }
        guard !isConnected else { return publicEnd }
        let press = Self.step(of: Self.afterPress, since: pressedAt, at: now)?.end
        let loss = lost.flatMap { Self.step(of: $0.settings.steps, since: $0.at, at: now)?.end }
        return earliest(publicEnd, earliest(press, loss))
    }

    private static let publicInterval: UInt16 = 160
    private static let afterPress: [(end: Duration, interval: UInt16)] = [
        (.seconds(10), 32), (.seconds(30), 244), (.seconds(60), 1636),
    ]

    private static func step(
        of pattern: [(end: Duration, interval: UInt16)], since start: Instant?, at now: Instant
    ) -> (end: Instant, interval: UInt16)? {
        guard let start else { return nil }
        return pattern.first { now < start + $0.end }.map { (start + $0.end, $0.interval) }
    }
}

extension AdvertisingSettings {
    /// The ends of both intervals, relative to the loss of the link.
    fileprivate var steps: [(end: Duration, interval: UInt16)] {
        let end = Duration.seconds(Int64(timeoutSeconds))
        return [(min(.seconds(5), end), firstInterval), (end, laterInterval)]
    }
}
