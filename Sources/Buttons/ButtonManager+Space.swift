import BluetoothHost
import ButtonModel
import Flic

/// What the adapter has no room for: accept lists and numbers of links are limited.
///
/// A list that is too short turns by itself. Links do not: a button stays connected for days. So when the last one is
/// taken and a button is known that has none, the button that has been quiet longest gives way at once: one link is kept
/// free, and the next press that needs it finds it. A button that gave way is silent until it is pressed; its place in the
/// accept list is there, so it connects again, and brings what it stored meanwhile.
struct Space: Hashable, Sendable {
    /// How many links there are while the adapter makes no more; `nil` while it does.
    var linkLimit: Int?
    /// How many links the adapter makes, where more buttons are known: from the first time that it made no more until
    /// there is room for all. Nothing is said of space each time that a link becomes free.
    var shortage: Int?
    var waitingForTurn: Set<ButtonID> = []
    var reported: Set<ButtonID> = []
}

extension ButtonManager {
    /// A button that is asked to give way has done nothing for this long.
    package static let quietTime = Duration.seconds(1)
    /// The same for a button whose session is not at rest, because a press is under way or an acknowledgement waits for
    /// the disk, and for a Twist, which tells its turns only while it has a link.
    package static let longQuietTime = Duration.seconds(20)
    /// An adapter that makes as many links as the shortage says refuses the next one within this time; else it has more.
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

    /// Asks the button that may leave first to end its link, or waits until one may.
    mutating func makeRoom(at now: Instant) {
        guard space.linkLimit != nil, isLinkMissing else { return }
        // One is leaving already.
        guard !links.values.contains(where: { $0.phase == .parting || $0.phase == .closing }) else { return }
        let next = links.compactMap { handle, link in mayLeave(link).map { (at: $0, handle: handle) } }
            .min { ($0.at, $0.handle.rawValue) < ($1.at, $1.handle.rawValue) }
        guard let next else { return deadlines.cancel(.makeRoom) }
        guard next.at <= now else { return deadlines.set(.makeRoom, at: next.at) }
        part(from: next.handle, at: now)
    }

    /// - Returns: `nil`: it is not ready, or takes firmware.
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
        // An adapter that is away has no links at all, and the next one may well be the same.
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
    /// The reason of a link that was silent for the supervision timeout.
    package static let timeoutReason = HCIStatus.connectionTimeout.word
}

extension HCIStatus {
    /// `connection_timeout`, …: why a link ended.
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
