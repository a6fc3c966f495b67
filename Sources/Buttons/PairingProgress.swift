package import ButtonModel
package import Flic

/// The progress of a search for new buttons and of pairing them.
package enum PairingProgress: Hashable, Sendable {
    case searching
    /// A Flic button advertises in private mode. It can be paired after it was held down for 7 seconds.
    case foundPrivate(BluetoothAddress)
    /// A button advertises in public mode and can be paired.
    case foundPublic(BluetoothAddress)
    /// A known button advertises in public mode. Reported once for each button; the search goes on.
    case alreadyPaired(BluetoothAddress)
    case connecting(BluetoothAddress)
    case connected(BluetoothAddress)
    case verifying(BluetoothAddress)
    case paired(ButtonIdentity)
    /// This button could not be paired; the search goes on until its time is over. Without an address: no new button
    /// was found.
    case failed(PairingFailure, BluetoothAddress?)
    /// The time is over, or the search was stopped.
    case ended

    /// The name of the step in MQTT messages and on the command line: `found_public`, ….
    package var name: String {
        switch self {
        case .searching: "searching"
        case .foundPrivate: "found_private"
        case .foundPublic: "found_public"
        case .alreadyPaired: "already_paired"
        case .connecting: "connecting"
        case .connected: "connected"
        case .verifying: "verifying"
        case .paired: "paired"
        case .failed: "failed"
        case .ended: "ended"
        }
    }

    package var address: BluetoothAddress? {
        switch self {
        case .foundPrivate(let address), .foundPublic(let address), .alreadyPaired(let address),
            .connecting(let address), .connected(let address), .verifying(let address):
            address
        case .paired(let identity): identity.address
        case .failed(_, let address): address
        case .searching, .ended: nil
        }
    }
}

/// The reason why a button could not be paired.
package enum PairingFailure: Hashable, Sendable {
    case noNewButtonsFound
    case alreadyConnectedToOtherDevice
    case connectionTimeout
    case couldNotDiscoverServices
    /// The link ended, or the controller rejected the connection.
    case connectFailed
    case session(SessionFailure)

    /// The failure's name in snake_case.
    package var name: String {
        switch self {
        case .noNewButtonsFound: "no_new_buttons_found"
        case .alreadyConnectedToOtherDevice: "already_connected_to_other_device"
        case .connectionTimeout: "connection_timeout"
        case .couldNotDiscoverServices: "could_not_discover_services"
        case .connectFailed: "connect_failed"
        case .session(let failure): failure.name
        }
    }

    /// A sentence that says what the user can do.
    package var advice: String {
        switch self {
        case .noNewButtonsFound:
            "No new button was found. Keep the button near and hold it down for 7 seconds, until its light changes."
        case .alreadyConnectedToOtherDevice:
            "The button is connected to another device. Disconnect it from the phone or hub first, then try again."
        case .connectionTimeout:
            "The button did not answer. Bring it nearer and try again."
        case .couldNotDiscoverServices:
            "The button offers no Flic service. Take its battery out for a moment and try again."
        case .connectFailed:
            "The connection was lost. Bring the button nearer and try again."
        case .session(let failure): failure.advice
        }
    }
}
