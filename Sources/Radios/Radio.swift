package import ButtonModel

/// The place of a radio in the configuration, from 0.
package struct RadioID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let first = RadioID(rawValue: 0)
    package static func < (left: RadioID, right: RadioID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a link. It is never used again while the program runs, so that what arrives for a link that is over is
/// known to be late. The highest octet is the number of the radio.
package struct LinkID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    init(_ radio: RadioID, _ number: UInt64) { rawValue = UInt64(radio.rawValue) << 56 | number }

    package var radio: RadioID { RadioID(rawValue: UInt8(rawValue >> 56)) }
    package static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// A button that a radio connects to whenever it advertises.
package struct ExpectedButton: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The service that the button is believed to have. If it is missing, the radio looks for the other one.
    package var service: FlicService

    package init(_ address: BluetoothAddress, _ service: FlicService) {
        self.address = address
        self.service = service
    }
}

/// How a radio listens to advertisements, apart from those of the buttons that it expects.
package enum RadioListening: Hashable, Sendable {
    case off
    /// Passively, and for a tenth of the time. It may last for days.
    case background
    /// All the time, and with requests for scan responses.
    case active
}

/// The connection parameters of a link (Bluetooth Core 5.4, Vol 6, Part B, 4.5.1).
package struct LinkParameters: Hashable, Sendable {
    /// In units of 1.25 ms.
    package var minimumInterval, maximumInterval: UInt16
    /// The number of connection events that the button may skip.
    package var latency: UInt16
    /// In units of 10 ms.
    package var supervisionTimeout: UInt16

    package init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }
}

/// A command to a radio. A radio remembers `listen` and `expect` and carries them out as soon as it is ready. A command
/// for a link that is over has no effect.
package enum RadioCommand: Hashable, Sendable {
    case listen(RadioListening)
    /// Replaces the list of buttons to connect to whenever they advertise, in the order of their importance, and the
    /// list of known buttons that are to be left alone. A link to a button that is not expected any more stays.
    /// `elsewhere` are the known buttons that another radio looks for. A link to one of them that comes up because it was expected
    /// until now stays, too. A shared radio may be told to look for one of them besides the other radio; it is in both lists then.
    case expect([ExpectedButton], unwanted: [BluetoothAddress], elsewhere: [BluetoothAddress] = [])
    /// Connects to an expected button that was just heard. For radios that do not connect by themselves.
    case attempt(BluetoothAddress)
    /// Only this radio connects to the button until its link is up. For a fleet; a single radio ignores it.
    case pin(BluetoothAddress, RadioID)
    /// The home of a button before the start of the program. For a fleet; a single radio ignores it.
    case restoreHome(BluetoothAddress, RadioID)
    /// Sends a value to the button, in order and without response.
    case write(LinkID, [UInt8])
    case disconnect(LinkID)
    /// Sets the connection parameters of a link. It has no effect if the radio cannot set parameters, or if it sets those that the
    /// button requests.
    case update(LinkID, LinkParameters)
    /// Measures the signal strength of a link; the result is `signal`, or nothing if it cannot be measured.
    case measureSignal(LinkID)
    /// The button on this link is the expected one, so the attributes of its service can be used for later links, too.
    case keepDiscovery(LinkID)
    /// The attributes of the button's service may have changed, so they are discovered again on its next link.
    case discardDiscovery(BluetoothAddress)
    /// Prepares for the closing of the radio, after all links have ended. Tells a proxy that this client leaves, so that other
    /// clients can use it at once.
    case goodbye
    /// The button's pairing has been deleted; or it could not be paired, and was not known.
    case forget(BluetoothAddress, wasKnown: Bool)
}

/// An input of a radio. An input that belongs to another kind of radio has no effect.
package enum RadioInput: Hashable, Sendable {
    /// The transport to a controller or a proxy is open. The entropy has 32 random octets for a proxy with a key, and is
    /// empty otherwise.
    case transportOpened(entropy: [UInt8] = [])
    /// An HCI packet with its H4 indicator, or octets of a proxy.
    case received([UInt8])
    /// The connection to the system bus is open, and signals of bluetoothd are reported.
    case busOpened(BlueZAdapterChoice)
    case bus(BusInput)
    /// The transport, or the connection to the system bus, is closed. All links end.
    case closed
    case timerFired
    case perform(RadioCommand)
}

package enum RadioEffect: Hashable, Sendable, TimerEffect {
    /// Send this HCI packet, with its H4 indicator, to the controller, or these octets to the proxy.
    case send([UInt8])
    case bus(BusEffect)
    case setTimer(Instant)
    case cancelTimer
    case event(RadioEvent)
}

/// An event that a radio reports. A radio carries octets between the program and a button; it knows nothing of keys or
/// presses.
///
/// For each link it reports `connected`, then `attached` or `attachFailed`, unless the link ends before, and finally
/// `disconnected`.
package enum RadioEvent: Hashable, Sendable {
    /// The radio can be used. It carries out the latest `listen` and `expect`.
    case ready(RadioInfo)
    /// The radio cannot be used until it is opened again. The text is a sentence for the user.
    case failed(String, AdapterFault)
    /// The radio cannot be used now. It keeps its connection and tries again by itself, until `ready` or `failed`. The text is a
    /// sentence for the user.
    case unusable(String, AdapterFault)
    case heard(HeardAdvertisement)
    /// A link to an expected button has begun.
    case connected(LinkID, BluetoothAddress)
    /// The button's service was found, and its notifications are on.
    case attached(LinkID, FlicService, attMTU: Int)
    /// The button's service was not found or cannot be used. The link must be ended with `disconnect`.
    case attachFailed(LinkID)
    /// A packet of the button.
    case notified(LinkID, [UInt8])
    /// The signal strength in dBm.
    case signal(LinkID, Int8)
    case disconnected(LinkID, DisconnectReason)
    /// An attempt has ended without a link.
    case attemptFailed(BluetoothAddress)
    /// The expected buttons without a link that take turns, because the radio cannot look for all at the same time. Sent on each
    /// change, but not at each turn.
    case takingTurns([BluetoothAddress])
    /// The radio has this number of links, and room for no other.
    case linkLimitReached(Int)
    /// There is room for another link again, though none that the owner knows has ended.
    case linkFreed
    /// The number of links that the radio can have. Sent on each change, by radios that know it.
    case linkLimit(Int)
    /// Another radio looks for some of the expected buttons now. Only the fleet reports this.
    case assignmentChanged
    /// The radio that reports this is the home of the button from now on. Only the fleet reports it.
    case homeChanged(BluetoothAddress)
    /// An unexpected event, for the log.
    case anomaly(String)
}

/// The properties of a radio.
package struct RadioInfo: Hashable, Sendable {
    /// The address that buttons see.
    package var address: BluetoothAddress
    /// The number of buttons that it can look for at the same time.
    package var acceptListSize: Int
    /// True if the radio connects to expected buttons by itself. False if its owner has to request a connection whenever a button
    /// was heard.
    package var connectsByItself: Bool
    /// How long a radio that connects by itself may take from an advertisement of an expected button until it reports the link.
    package var connectionTime: Duration
    /// True if other programs use the radio too, so that it does not listen for buttons in the background.
    package var isShared: Bool
    /// A description of the device for users: `ESPHome 2026.6.5`; empty for an adapter of this machine.
    package var description: String

    package init(
        address: BluetoothAddress, acceptListSize: Int, connectsByItself: Bool = true,
        connectionTime: Duration = .milliseconds(150), isShared: Bool = false, description: String = ""
    ) {
        self.address = address
        self.acceptListSize = acceptListSize
        self.connectsByItself = connectsByItself
        self.connectionTime = connectionTime
        self.isShared = isShared
        self.description = description
    }
}

/// An advertisement or a scan response, as far as it matters for buttons.
package struct HeardAdvertisement: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The sender accepts connections.
        case connectable
        case scanResponse
        case other
    }

    package var kind: Kind
    package var address: BluetoothAddress
    /// In dBm; `nil` if the radio does not know.
    package var rssi: Int8?
    /// The service of a button in public mode; `nil` if none is advertised.
    package var service: FlicService?
    /// Empty if none is advertised, as in private mode.
    package var name: String
    /// True if the button advertises that it is connected to another device.
    package var isConnectedElsewhere: Bool

    package init(
        kind: Kind, address: BluetoothAddress, rssi: Int8?, service: FlicService? = nil, name: String = "",
        isConnectedElsewhere: Bool = false
    ) {
        self.kind = kind
        self.address = address
        self.rssi = rssi
        self.service = service
        self.name = name
        self.isConnectedElsewhere = isConnectedElsewhere
    }
}

/// Why a link ended.
package enum DisconnectReason: Hashable, Sendable {
    /// The button was not heard any more, or the radio was lost.
    case connectionTimeout
    /// The button ended the link.
    case remoteUserTerminated
    /// The program ended the link.
    case localHostTerminated
    case failedToBeEstablished
    /// The button has a link through another radio, which is reported next.
    case superseded
    /// The radio is gone, and another one is there.
    case radioLost
    /// The radio does not say why.
    case unknown
    /// Another error code of HCI (Bluetooth Core 5.4, Vol 1, Part F, 1.3).
    case other(UInt8)

    /// True if the button may have fallen silent: nothing was received for the supervision timeout. BlueZ does not say why a
    /// link has ended.
    package var mayBeTimeout: Bool {
        switch self {
        case .connectionTimeout, .unknown: true
        case .remoteUserTerminated, .localHostTerminated, .failedToBeEstablished, .superseded, .radioLost, .other: false
        }
    }

    /// The name in messages, in snake_case: `connection_timeout`, …, or `status_0x3d`.
    package var name: String {
        switch self {
        case .connectionTimeout: "connection_timeout"
        case .remoteUserTerminated: "remote_user_terminated"
        case .localHostTerminated: "local_host_terminated"
        case .failedToBeEstablished: "failed_to_be_established"
        case .superseded: "superseded"
        case .radioLost: "radio_lost"
        case .unknown: "unknown"
        case .other(let code): "status_0x" + (code < 0x10 ? "0" : "") + String(code, radix: 16)
        }
    }

    /// - Parameter name: as `name` gives it; `nil` for other texts.
    package init?(name: String) {
        let plain: [DisconnectReason] = [
            .connectionTimeout, .remoteUserTerminated, .localHostTerminated, .failedToBeEstablished, .superseded,
            .radioLost, .unknown,
        ]
        if let reason = plain.first(where: { $0.name == name }) {
            self = reason
        } else if let code = UInt8(name.dropFirst("status_0x".count), radix: 16),
            DisconnectReason.other(code).name == name
        {
            self = .other(code)
        } else {
            return nil
        }
    }
}

extension BluetoothAddress {
    /// True if the address has a prefix that Flic buttons are known to have: a hint, which is not sufficient for
    /// decisions.
    package var hasFlicPrefix: Bool {
        let prefix = rawValue >> 24
        return kind == .public && (prefix == 0x80E4DA || prefix == 0x9088A9)
    }
}
