import BluetoothHost
import ButtonModel
import Flic

/// A link to a button that is known or being paired: its phase, its GATT attributes and its session.
struct ButtonLink: Sendable {
    enum Phase: Hashable, Sendable {
        case exchangingMTU
        case discovering
        case subscribing
        case inSession(isReady: Bool)
        /// A graceful disconnect is in progress: the button was asked to end the link, or the host ends it.
        case disconnecting
        case closing
    }

    let connection: LEConnection
    var phase = Phase.exchangingMTU
    var attMTU = 23
    var attributes: FlicAttributes?
    /// The service to discover if the expected service is missing; `nil` after that attempt.
    var otherService: FlicService?
    var session: ButtonSession?
    /// True if the link serves a pairing that is not complete yet.
    var isPairing: Bool
    /// True if a session on this link has been ready.
    var wasReady = false
    /// When the button last sent events or movements, or its session or link began.
    var lastActivity: Instant
}
