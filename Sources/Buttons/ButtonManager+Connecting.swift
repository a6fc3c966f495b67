import ButtonModel
import Radios

// How connections go, for the metrics.
extension ButtonManager {
    mutating func connectionMade(_ id: LinkID, at now: Instant) {
        guard let beginning = connecting.removeValue(forKey: id), let link = links[id] else { return }
        effects.append(.connectionMade(ButtonID(link.peer), id.radio, after: now - beginning))
    }

    mutating func connectionFailed(_ id: LinkID, _ failure: ConnectFailure) {
        guard connecting.removeValue(forKey: id) != nil else { return }
        effects.append(.connectFailed(id.radio, failure))
    }

    /// A link that we ended, or whose button another radio has, or whose radio is lost, is no failure of its radio.
    mutating func connectionEnded(_ id: LinkID, _ reason: DisconnectReason) {
        switch reason {
        case .failedToBeEstablished: connectionFailed(id, .notEstablished)
        case .connectionTimeout, .remoteUserTerminated, .unknown, .other: connectionFailed(id, .linkLost)
        case .localHostTerminated, .superseded, .radioLost: connecting[id] = nil
        }
    }
}
