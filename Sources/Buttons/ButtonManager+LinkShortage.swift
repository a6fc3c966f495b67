import ButtonModel
import Flic
import Radios

/// The shortage of links and of places in the adapter's accept list, if it has not enough for all known buttons.
///
/// The radio lets the buttons take turns if it cannot look for all. Links do not become free by themselves, because a
/// button stays connected for days. Therefore, when the last link is in use and a button has none, the button that has
/// been idle longest is disconnected at once, so that a link is free for the next press. The disconnected button is
/// silent until it is pressed. As it is still expected, it then connects and sends the events that it stored.
struct LinkShortage: Hashable, Sendable {
    /// The adapter's number of links, from its first refusal until there is room for all wanted buttons. Unlike
    /// `AdapterCapacity.linkLimit` it is kept when a link becomes free, so that this alone does not change the report.
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
        if let shortage = linkShortage.shortage {
            if links.count > shortage { linkShortage.shortage = nil }
            if links.count == shortage, capacity.linkLimit == nil {
                deadlines.set(.limitCheck, at: now + Self.limitCheck)
            } else {
                deadlines.cancel(.limitCheck)
            }
        }
        reportLinkShortage()
    }

    mutating func limitReached(_ count: Int, at now: Instant) {
        linkShortage.shortage = count
        deadlines.cancel(.limitCheck)
        capacityChanged { $0.linkLimit = count }
        freeLink(at: now)
        reportLinkShortage()
    }

    mutating func limitNotReached() {
        if capacity.linkLimit == nil, isLinkMissing { linkShortage.shortage = nil }
        reportLinkShortage()
    }

    mutating func linkFreed(at now: Instant) {
        defer { linkCountChanged(at: now) }
        guard capacity.linkLimit != nil else { return }
        capacityChanged { $0.linkLimit = nil }
        deadlines.cancel(.freeLink)
    }

    /// Disconnects the button that has been idle long enough, or sets a timer for the first that will be.
    mutating func freeLink(at now: Instant) {
        guard capacity.linkLimit != nil, isLinkMissing else { return }
        // A link is being ended already.
        guard !links.values.contains(where: { $0.phase == .disconnecting || $0.phase == .closing }) else { return }
        let next = links.compactMap { id, link in mayLeave(link).map { (at: $0, id: id) } }
            .min { ($0.at, $0.id) < ($1.at, $1.id) }
        guard let next else { return deadlines.cancel(.freeLink) }
        guard next.at <= now else { return deadlines.set(.freeLink, at: next.at) }
        disconnectGracefully(next.id, at: now)
    }

    /// When a link may be ended for another button; `nil` while the button is not ready or receives firmware.
    private func mayLeave(_ link: ButtonLink) -> Instant? {
        guard link.phase == .inSession(isReady: true), updates[ButtonID(link.peer)] == nil else {
            return nil
        }
        let isAtRest = link.session?.isAtRest == true && link.service != .twist
        return link.lastActivity + (isAtRest ? Self.quietTime : Self.longQuietTime)
    }

    private var isLinkMissing: Bool {
        if case .connecting = search?.candidate { return true }
        return known.keys.contains { isToBeConnected($0) && link(to: $0) == nil }
    }

    mutating func reportLinkShortage() {
        // Without an adapter there are no links; the shortage is kept, because the same adapter may return.
        guard isControllerReady, !isShuttingDown else { return }
        var waiting = linkShortage.waitingForTurn
        if let shortage = linkShortage.shortage {
            let wanted = known.values.filter(\.settings.isConnectionWanted).map(\.id)
            if wanted.count <= shortage {
                linkShortage.shortage = nil
            } else {
                waiting.formUnion(wanted.filter { link(to: $0) == nil })
            }
        }
        waiting.formIntersection(known.keys)
        guard waiting != linkShortage.reported else { return }
        linkShortage.reported = waiting
        effects.append(.buttonsWithoutLink(waiting))
    }
}

extension ButtonManager {
    /// The reasons for the end of a link whose button may have fallen silent. BlueZ does not tell.
    package static let timeoutReasons = [DisconnectReason.connectionTimeout.name, DisconnectReason.unknown.name]
}
