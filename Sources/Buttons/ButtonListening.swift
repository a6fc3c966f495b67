package import ButtonModel

/// The advertisements to report and the buttons to pair, besides those of a search that a user started.
package struct ButtonListening: Hashable, Sendable {
    /// True if advertisements of all Flic buttons are reported. Otherwise only those of unknown buttons are, while any
    /// are to be paired.
    package var reportsAll: Bool
    /// True if every unknown button in public mode is paired.
    package var pairsAny: Bool
    /// The buttons that are paired when they advertise in public mode.
    package var pairs: Set<ButtonID>

    package init(reportsAll: Bool = false, pairsAny: Bool = false, pairs: Set<ButtonID> = []) {
        self.reportsAll = reportsAll
        self.pairsAny = pairsAny
        self.pairs = pairs
    }

    var isForPairing: Bool { pairsAny || !pairs.isEmpty }
}

/// The connection parameters that clients of the flicd server request for a button. The user's settings take precedence.
package struct RequestedLinkParameters: Hashable, Sendable {
    package var latencyMode: LatencyMode
    /// Seconds without a press after which the button ends the link, as in `ButtonSettings`.
    package var autoDisconnectTime: UInt16?

    package init(latencyMode: LatencyMode, autoDisconnectTime: UInt16?) {
        self.latencyMode = latencyMode
        self.autoDisconnectTime = autoDisconnectTime
    }
}

/// An advertisement that a Flic button may have sent.
package struct ButtonAdvertisement: Hashable, Sendable {
    package var address: BluetoothAddress
    /// Empty if the advertisement has no name, as in private mode.
    package var name: String
    /// In dBm.
    package var rssi: Int8?
    /// True if the button is in public mode, in which it can be paired.
    package var isPublic: Bool
    /// True if the button advertises that it is connected to another device.
    package var isConnectedElsewhere: Bool

    package init(address: BluetoothAddress, name: String, rssi: Int8?, isPublic: Bool, isConnectedElsewhere: Bool) {
        self.address = address
        self.name = name
        self.rssi = rssi
        self.isPublic = isPublic
        self.isConnectedElsewhere = isConnectedElsewhere
    }
}
