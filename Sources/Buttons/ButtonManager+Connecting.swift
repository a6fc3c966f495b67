import ButtonModel
import Radios

// Reports for the metrics: how long a connection took, or why it failed.
extension ButtonManager {
    mutating func connectionMade(_ id: LinkID, at now: Instant) {
        guard let beginning = connecting.removeValue(forKey: id), let link = links[id] else { return }
        effects.append(.connectionMade(ButtonID(link.peer), id.radio, after: now - beginning))
    }

    mutating func connectionFailed(_ id: LinkID, _ failure: ConnectFailure) {
        guard connecting.removeValue(forKey: id) != nil else { return }
        effects.append(.connectFailed(id.radio, failure))
    }

    /// Reports a link that ended before its notifications were enabled. If the host ended the link, another radio has
    /// connected the button, or the radio is lost, the radio has not failed to connect, so nothing is reported.
    mutating func connectionEnded(_ id: LinkID, _ reason: DisconnectReason) {
        switch reason {
        case .failedToBeEstablished: connectionFailed(id, .notEstablished)
        case .connectionTimeout, .remoteUserTerminated, .unknown, .other: connectionFailed(id, .linkLost)
        case .localHostTerminated, .superseded, .radioLost: connecting[id] = nil
        }
    }
}
