import BluetoothHost
import ButtonModel
import Flic

/// The shortage of links and of accept list entries, if more buttons are known than the adapter has room for.
///
/// The host lets the buttons take turns in a list that is too short. Links do not become free by themselves, because a
/// button stays connected for days. Therefore, when the last link is in use and a button has none, the button that has
/// been idle longest is disconnected at once, so that a link is free for the next press. The disconnected button is
/// silent until it is pressed. As it is still in the accept list, it then connects and sends the events that it stored.
struct Space: Hashable, Sendable {
    /// The number of links while the adapter refuses another one; else `nil`.
    var linkLimit: Int?
    /// The adapter's number of links, from its first refusal until there is room for all wanted buttons. Unlike
    /// `linkLimit` it is kept when a link becomes free, so that this alone does not change the report.
    var shortage: Int?
    var waitingForTurn: Set<ButtonID> = []
    var reported: Set<ButtonID> = []
}

extension ButtonManager {
    /// How long a button must be idle before it is disconnected for another.
    package static let quietTime = Duration.seconds(1)
    /// `quietTime` for a button whose session is not at rest, for example because a press or an acknowledgement is
    /// unfinished, and for a Twist, which reports rotation only while it has a link.
    package static let longQuietTime = Duration.seconds(20)
    /// With as many links as `shortage`, an adapter without further links refuses another one within this time.
    static let limitCheck = Duration.seconds(5)

    mutating func linkCountChanged(at now: Instant) {
        if let shortage = space.shortage {
            if links.count > shortage { space.shortage = nil }
            if links.count == shortage, space.linkLimit == nil {
                deadlines.set(.limitCheck, at: now + Self.limitCheck)
            } else {
                deadlines.cancel(.limitCheck)
            }
        }
        reportSpace()
    }

    mutating func limitReached(_ count: Int, at now: Instant) {
        space.linkLimit = count
        space.shortage = count
        deadlines.cancel(.limitCheck)
        capacityChanged { $0.linkLimit = count }
        makeRoom(at: now)
        reportSpace()
    }

    mutating func limitNotReached() {
        if space.linkLimit == nil, isLinkMissing { space.shortage = nil }
        reportSpace()
    }

    mutating func linkFreed(at now: Instant) {
        defer { linkCountChanged(at: now) }
        guard space.linkLimit != nil else { return }
        space.linkLimit = nil
        capacityChanged { $0.linkLimit = nil }
        deadlines.cancel(.makeRoom)
    }

    /// Disconnects the button that has been idle long enough, or sets a timer for the first that will be.
    mutating func makeRoom(at now: Instant) {
        guard space.linkLimit != nil, isLinkMissing else { return }
        // A link is being ended already.
        guard !links.values.contains(where: { $0.phase == .parting || $0.phase == .closing }) else { return }
        let next = links.compactMap { handle, link in mayLeave(link).map { (at: $0, handle: handle) } }
            .min { ($0.at, $0.handle.rawValue) < ($1.at, $1.handle.rawValue) }
        guard let next else { return deadlines.cancel(.makeRoom) }
        guard next.at <= now else { return deadlines.set(.makeRoom, at: next.at) }
        part(from: next.handle, at: now)
    }

    /// When a link may be ended for another button; `nil` while the button is not ready or receives firmware.
    private func mayLeave(_ link: ButtonLink) -> Instant? {
        guard link.phase == .inSession(isReady: true), updates[ButtonID(link.connection.peer)] == nil else {
            return nil
        }
        let isAtRest = link.session?.isAtRest == true && link.attributes?.service != .twist
        return link.lastActivity + (isAtRest ? Self.quietTime : Self.longQuietTime)
    }

    private var isLinkMissing: Bool {
        if case .connecting = search?.candidate { return true }
        return known.keys.contains { isToBeConnected($0) && link(to: $0) == nil }
    }

    mutating func reportSpace() {
        // Without an adapter there are no links; the shortage is kept, because the same adapter may return.
        guard isControllerReady, !isShuttingDown else { return }
        var waiting = space.waitingForTurn
        if let shortage = space.shortage {
            let wanted = known.values.filter(\.settings.isConnectionWanted).map(\.id)
            if wanted.count <= shortage {
                space.shortage = nil
            } else {
                waiting.formUnion(wanted.filter { link(to: $0) == nil })
            }
        }
        waiting.formIntersection(known.keys)
        guard waiting != space.reported else { return }
        space.reported = waiting
        effects.append(.waitingForSpace(waiting))
    }
}

extension ButtonManager {
    /// The reason for the end of a link whose supervision timeout expired.
    package static let timeoutReason = HCIStatus.connectionTimeout.word
}

extension HCIStatus {
    /// The reason for the end of a link in snake_case, such as `connection_timeout`.
    var word: String {
        switch self {
        case .connectionTimeout: "connection_timeout"
        case .remoteUserTerminated: "remote_user_terminated"
        case .localHostTerminated: "local_host_terminated"
        case .failedToBeEstablished: "failed_to_be_established"
        default: "status_\(self)"
        }
    }
}
