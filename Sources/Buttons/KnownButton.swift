package import ButtonModel

/// A paired button: its identity, its pairing, its settings, and the last of its events on disk.
package struct KnownButton: Hashable, Sendable {
    package var identity: ButtonIdentity
    package var pairing: Pairing
    /// The last events on disk, as restored or as reported by `.synced`. A new session requests the events after it.
    package var cursor: EventCursor
    /// The last events delivered before the program started, if later than `cursor`.
    package var deliveredBeforeStart: EventCursor?
    /// True if the button has accepted our advertising settings since its last boot.
    package var advertisingConfigured: Bool
    package var settings: ButtonSettings
    /// The shown positions of its dials, 0…`Dial.unitsPerTurn`.
    package var dials: [Dial: Int]

    package var id: ButtonID { identity.id }

    package init(
        identity: ButtonIdentity, pairing: Pairing, cursor: EventCursor = EventCursor(),
        deliveredBeforeStart: EventCursor? = nil,
        advertisingConfigured: Bool = false, settings: ButtonSettings = ButtonSettings(),
        dials: [Dial: Int] = [:]
    ) {
        self.identity = identity
        self.pairing = pairing
        self.cursor = cursor
        self.deliveredBeforeStart = deliveredBeforeStart
        self.advertisingConfigured = advertisingConfigured
        self.settings = settings
        self.dials = dials
    }
}

/// The state of the link to a button. The raw value is its name in messages and on the command line.
package enum ButtonState: String, Hashable, Sendable {
    case disconnected
    /// A connection is pending: the button will be connected when it advertises.
    case connecting
    case connected
    /// The session is verified, and events can arrive.
    case ready
    case disconnecting
}
