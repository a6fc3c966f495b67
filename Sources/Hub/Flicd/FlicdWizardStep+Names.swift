import ButtonModel
import FlicdProtocol

// Maps the pairing steps of a flicd to the names that `PairingProgress` has.
extension FlicdWizardStep {
    /// The name of the step, as `PairingProgress.name` has it.
    var name: String {
        switch self {
        case .foundPrivate: "found_private"
        case .foundPublic: "found_public"
        case .connected: "connected"
        case .paired: "paired"
        case .failed: "failed"
        }
    }

    var address: BluetoothAddress? {
        switch self {
        case .foundPrivate: nil
        case .foundPublic(let address): address
        case .connected(let address): address
        case .paired(let identity): identity.address
        case .failed(_, let address): address
        }
    }
}

/// Maps the results of a flicd's scan wizard to the names that `PairingFailure` has.
extension FlicdScanWizardResult {
    /// The name of the `PairingFailure` that is closest in meaning; empty if it is no failure.
    var reason: String {
        switch self {
        case .success, .cancelledByUser: ""
        case .failedTimeout: "connection_timeout"
        case .buttonIsPrivate: "not_in_public_mode"
        case .bluetoothUnavailable: "connect_failed"
        case .internetBackendError, .invalidData: "full_verify_failed_unknown"
        case .buttonBelongsToOtherPartner: "app_credentials_denied_by_button"
        case .buttonAlreadyConnectedToOtherDevice: "already_connected_to_other_device"
        }
    }

    /// A sentence that tells users how to go on.
    var advice: String {
        switch self {
        case .success, .cancelledByUser: ""
        case .failedTimeout: "The button did not answer. Bring it nearer to the flicd and try again."
        case .buttonIsPrivate: "The button is in private mode. Hold it down for 7 seconds, then try again."
        case .bluetoothUnavailable: "The flicd has no working Bluetooth adapter. Repair that, then try again."
        case .internetBackendError: "The flicd could not reach its maker's servers. Try again later."
        case .invalidData: "The button did not prove to the flicd that it is a genuine Flic."
        case .buttonBelongsToOtherPartner:
            "The button belongs to another manufacturer's system and refuses to be paired."
        case .buttonAlreadyConnectedToOtherDevice:
            "The button is connected to another device. Disconnect it from the phone or hub first, then try again."
        }
    }
}
