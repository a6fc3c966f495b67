import ButtonModel
import Flic
import Radios

/// The shortage of links and of places in the accept list, on radios that have not enough for all buttons that they look for.
///
/// A radio lets the buttons take turns if it cannot look for all. A button stays connected for days, or on a radio with
/// too few links for `shortAutoDisconnectTime` after a press, which is too long for the next press of another button.
/// Therefore, when the last link is in use and a button has none, the button that has been idle longest is disconnected
/// at once, so that a link is free for the next press. The disconnected button is silent until it is pressed. As it is
/// still expected, it then connects and sends the events that it stored.
struct LinkShortage: Hashable, Sendable {
    /// The number of links of each radio that refused another one, until there is room for all wanted buttons. Unlike
    /// `AdapterCapacity.linkLimit` it is kept when a link becomes free, so that this alone does not change the report.
    var limits: [RadioID: Int] = [:]
    /// The radios with fewer links than buttons, whose buttons were told to end their links after
    /// `shortAutoDisconnectTime`.
    var radiosInTurns: Set<RadioID> = []
    var takingTurns: Set<ButtonID> = []
    /// How often presses found no free link.
    var crowding: [RadioID: Crowding] = [:]
    var reported: Set<ButtonID> = []
}

extension ButtonManager {
    /// How long a button must be idle before it is disconnected for another, also on a radio with a single link. It takes up to
    /// 2 s until the link is free and the other button has it, and the press of the other button counts as live for 3 s only.
    package static let quietTime = Duration.seconds(1)
    /// `quietTime` for a button whose session is not at rest, for example because a press or an acknowledgement is
    /// unfinished, and for a Twist, which reports rotation only while it has a link.
    package static let longQuietTime = Duration.seconds(20)
    /// The auto-disconnect time of a button on a radio with fewer links than buttons, in seconds. It is the shortest
    /// time that the protocol notes recommend (9 `InitButtonEvents`).
    static let shortAutoDisconnectTime: UInt16 = 40
    /// With as many links as its limit, a radio without further links refuses another one within this time.
    static let limitCheck = Duration.seconds(5)

    mutating func linkCountChanged(on radio: RadioID, at now: Instant) {
        if let limit = linkShortage.limits[radio] {
            let count = links.keys.count { $0.radio == radio }
            if count > limit { linkShortage.limits[radio] = nil }
            if count == limit, capacity(of: radio).linkLimit == nil {
                deadlines.set(.limitCheck(radio), at: now + Self.limitCheck)
            } else {
                deadlines.cancel(.limitCheck(radio))
            }
        }
        reportLinkShortage(at: now)
    }

    mutating func limitReached(_ count: Int, on radio: RadioID, at now: Instant) {
        linkShortage.limits[radio] = count
        linkShortage.crowding[radio, default: Crowding()].becameFull(at: now)
        deadlines.cancel(.limitCheck(radio))
        capacityChanged(of: radio) { $0.linkLimit = count }
        freeLink(on: radio, at: now)
        reportLinkShortage(at: now)
    }

    mutating func limitNotReached(on radio: RadioID, at now: Instant) {
        if capacity(of: radio).linkLimit == nil, isLinkMissing(on: radio, at: now) { linkShortage.limits[radio] = nil }
        reportLinkShortage(at: now)
    }

    mutating func linkFreed(on radio: RadioID, at now: Instant) {
        defer { linkCountChanged(on: radio, at: now) }
        guard capacity(of: radio).linkLimit != nil else { return }
        capacityChanged(of: radio) { $0.linkLimit = nil }
        linkShortage.crowding[radio]?.becameFree(at: now)
        deadlines.cancel(.freeLink(radio))
    }

    /// Disconnects the button of a full radio that has been idle long enough, or sets a timer for the first that will be.
    mutating func freeLink(on radio: RadioID, at now: Instant) {
        guard capacity(of: radio).linkLimit != nil, isLinkMissing(on: radio, at: now) else { return }
        let own = links.filter { $0.key.radio == radio }
        // A link is being ended already.
        guard !own.contains(where: { $0.value.phase == .disconnecting || $0.value.phase == .closing }) else { return }
        // A button at rest goes first, even if another one, which is held, has been quiet for longer.
        let next = own.compactMap { id, link in mayLeave(link).map { (rank: isAtRest(link) ? 0 : 1, at: $0, id: id) } }
            .min { ($0.rank, $0.at, $0.id) < ($1.rank, $1.at, $1.id) }
        guard let next else { return deadlines.cancel(.freeLink(radio)) }
        guard next.at <= now else { return deadlines.set(.freeLink(radio), at: next.at) }
        disconnectGracefully(next.id, at: now)
    }

    /// When a link may be ended for another button; `nil` while the button is not ready or receives firmware.
    private func mayLeave(_ link: ButtonLink) -> Instant? {
        guard link.phase == .inSession(isReady: true), updates[ButtonID(link.peer)] == nil else {
            return nil
        }
        return link.lastActivity + (isAtRest(link) ? Self.quietTime : Self.longQuietTime)
    }

    private func isAtRest(_ link: ButtonLink) -> Bool {
        link.session?.isAtRest == true && link.service != .twist
    }

    private func isLinkMissing(on radio: RadioID, at now: Instant) -> Bool {
        if case .connecting(let address) = search?.candidate, radios.radio(for: address, at: now) == radio {
            return true
        }
        return known.values.contains {
            isToBeConnected($0.id) && link(to: $0.id) == nil
                && radios.radio(for: $0.identity.address, at: now) == radio
        }
    }

    mutating func reportLinkShortage(at now: Instant) {
        // Without an adapter there are no links; the shortage is kept, because the same adapter may return.
        guard isControllerReady, !isShuttingDown else { return }
        var waiting = linkShortage.takingTurns
        for (radio, limit) in linkShortage.limits {
            let wanted = known.values.filter {
                $0.settings.isConnectionWanted && radios.radio(for: $0.identity.address, at: now) == radio
            }
            if wanted.count <= limit {
                linkShortage.limits[radio] = nil
            } else {
                waiting.formUnion(wanted.map(\.id).filter { link(to: $0) == nil })
            }
        }
        shortenAutoDisconnectTimes(at: now)
        waiting.formIntersection(known.keys)
        guard waiting != linkShortage.reported else { return }
        linkShortage.reported = waiting
        effects.append(.buttonsWithoutLink(waiting))
    }
}

extension ButtonManager {
    /// Sends a new auto-disconnect time to the buttons of each radio that has begun, or ceased, to have fewer links than
    /// buttons.
    private mutating func shortenAutoDisconnectTimes(at now: Instant) {
        let changed = linkShortage.radiosInTurns.symmetricDifference(linkShortage.limits.keys)
        guard !changed.isEmpty else { return }
        linkShortage.radiosInTurns = Set(linkShortage.limits.keys)
        for (id, link) in links where changed.contains(id.radio) {
            let button = ButtonID(link.peer)
            sendToSession(of: button, .setAutoDisconnectTime(autoDisconnectTime(of: button)), at: now)
        }
    }
}
