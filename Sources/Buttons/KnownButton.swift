package import ButtonModel

/// A paired button: who it is, the secret shared with it, and up to where its events are on the disk.
package struct KnownButton: Hashable, Sendable {
    package var identity: ButtonIdentity
    package var pairing: Pairing
    /// What is on the disk, at the start or because `.synced` said so. A new session asks for everything after it.
    package var cursor: EventCursor
    /// What was delivered before this run, if that is more than `cursor`.
    package var delivered: EventCursor?
    /// The button took our advertising settings since it booted last.
    package var advertisingConfigured: Bool
    package var settings: ButtonSettings
    /// Where its dials stand, 0…`Dial.unitsPerTurn`.
    package var dials: [Dial: Int]

    package var id: ButtonID { identity.id }

    package init(
        identity: ButtonIdentity, pairing: Pairing, cursor: EventCursor = EventCursor(), delivered: EventCursor? = nil,
        advertisingConfigured: Bool = false, settings: ButtonSettings = ButtonSettings(),
        dials: [Dial: Int] = [:]
    ) {
        self.identity = identity
        self.pairing = pairing
        self.cursor = cursor
        self.delivered = delivered
        self.advertisingConfigured = advertisingConfigured
        self.settings = settings
        self.dials = dials
    }
}

/// How far the link to a button is. The raw value is the word used everywhere.
package enum ButtonState: String, Hashable, Sendable {
    case disconnected
    /// A connection is pending: the button will be connected when it advertises.
    case connecting
    case connected
    /// Verified; events arrive.
    case ready
    case disconnecting
}
