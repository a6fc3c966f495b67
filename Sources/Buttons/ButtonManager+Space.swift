import BluetoothHost
import ButtonModel

/// What the adapter has no room for: accept lists and numbers of links are limited.
///
/// A list that is too short turns by itself. Links do not: a button stays connected for days. So when the last one is
/// taken, the button that has been quiet longest gives way to whoever is pressed next; when it is pressed itself it
/// connects again, and brings what it stored meanwhile.
struct Space: Hashable, Sendable {
    /// How many links there were when the adapter would have no more; `nil` while it has.
    var linkLimit: Int?
    var waitingForTurn: Set<ButtonID> = []
    var reported: Set<ButtonID> = []
}

extension ButtonManager {
    /// A button that did something this recently is not asked to give way.
    package static let quietTime = Duration.seconds(20)

    mutating func linkFreed(at now: Instant) {
        guard space.linkLimit != nil else { return }
        space.linkLimit = nil
        capacityChanged { $0.linkLimit = nil }
        deadlines.cancel(.makeRoom)
        reportSpace()
    }

    /// Sees that a link becomes free, now or when a button has been quiet for long enough.
    mutating func makeRoom(at now: Instant) {
        guard space.linkLimit != nil, isLinkMissing else { return }
        // One is leaving already.
        guard !links.values.contains(where: { $0.phase == .parting || $0.phase == .closing }) else { return }
        let quietest = links.values.filter {
            $0.phase == .inSession(isReady: true) && updates[ButtonID($0.connection.peer)] == nil
        }.min { $0.lastActivity < $1.lastActivity }
        guard let quietest else { return deadlines.set(.makeRoom, at: now + Self.quietTime) }
        let mayLeave = quietest.lastActivity + Self.quietTime
        guard mayLeave <= now else { return deadlines.set(.makeRoom, at: mayLeave) }
        part(from: quietest.connection.handle, at: now)
    }

    private var isLinkMissing: Bool {
        if case .connecting = search?.candidate { return true }
        return known.keys.contains { isToBeConnected($0) && link(to: $0) == nil }
    }

    mutating func reportSpace() {
        var waiting = space.waitingForTurn
        if space.linkLimit != nil {
            for button in known.keys where isToBeConnected(button) && link(to: button) == nil {
                waiting.insert(button)
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
