import ButtonModel
import Buttons
import Flic
import FlicdProtocol
import Radios

// Maps buttons, links and failures of the hub to the names and states of flicd's protocol.

extension FlicdAdvertisement {
    /// An unknown signal strength is -127 on the wire.
    init(_ advertisement: ButtonAdvertisement) {
        self.init(
            address: advertisement.address, name: advertisement.name, rssi: advertisement.rssi ?? -127,
            isPrivate: !advertisement.isPublic, isAlreadyVerified: false,
            isConnectedToOtherDevice: advertisement.isConnectedElsewhere)
    }
}

extension FlicdServer.Input {
    /// The state of the bridge's own adapter.
    static func controller(_ state: AdapterState) -> FlicdServer.Input {
        switch state {
        case .ready(let address): .controller(.attached, address: address)
        case .starting, .down(.failed, _): .controller(.resetting, address: nil)
        case .closed, .down: .controller(.detached, address: nil)
        }
    }

    /// The state of a button's link; `nil` for a link that is being ended, because nothing has changed until it is gone.
    static func linkState(_ state: ButtonState, of button: ButtonID) -> FlicdServer.Input? {
        switch state {
        case .disconnected, .connecting: .status(button, .disconnected)
        case .connected: .status(button, .connected)
        case .ready: .status(button, .ready)
        case .disconnecting: nil
        }
    }

    /// A step of a pairing; `nil` for steps that flicd's protocol does not have.
    ///
    /// - Parameter isControllerLost: whether the adapter is gone.
    static func pairing(_ progress: PairingProgress, isControllerLost: Bool) -> FlicdServer.Input? {
        switch progress {
        case .foundPublic(let address): .pairing(.found(address))
        case .connected(let address): .pairing(.connected(address))
        case .failed(let failure, let address?):
            .pairing(
                .failed(address, failure.wizardResult(isControllerLost: isControllerLost), failure.removedReason))
        case .searching, .foundPrivate, .alreadyPaired, .connecting, .verifying, .paired, .failed(_, nil), .ended:
            nil
        }
    }

    /// The input that tells flicd's clients of a change of a button's record. They know the buttons of the bridge's own adapter;
    /// `nil` if they are told nothing.
    ///
    /// - Parameter record: the button's record after the change.
    init?(_ fact: ButtonFact, of button: ButtonID, _ record: ButtonRecord?) {
        switch fact {
        case .removal(_, _, let record) where record.source != nil: return nil
        case .removal(.unpaired, _, _): self = .unpaired(button)
        case .removal(.removed, _, _): self = .deleted(button)
        case .pairing, .battery, .firmware:
            guard let record, record.source == nil else { return nil }
            if case .battery = fact {
                guard let battery = FlicdServer.Input.battery(record) else { return nil }
                self = battery
            } else if case .pairing = fact {
                self = .paired(record.identity)
            } else {
                self = .button(record.identity)
            }
        // `announce` tells clients of the state before it records anything.
        case .introduction, .state, .name, .ruleName, .nickname, .nicknameTaken, .model, .source, .triggerMode, .rules,
            .options, .isConnectionWanted, .signal, .activity, .updateProgress, .radio, .linkShortage, .firmwareFile:
            return nil
        }
    }

    /// The battery as it was measured last; `nil` if it was not measured.
    static func battery(_ record: ButtonRecord) -> FlicdServer.Input? {
        guard let millivolts = record.batteryMillivolts, let time = record.batteryMeasuredAt else { return nil }
        return .battery(record.identity.id, millivolts: millivolts, at: time)
    }

    static func battery(_ button: ButtonID, millivolts: Int, at time: UTCTime) -> FlicdServer.Input {
        .battery(button, percentage: Int8(clamping: Battery.percentage(millivolts: millivolts)), at: time)
    }
}

extension FlicdDisconnectReason {
    init(_ reason: DisconnectReason) {
        switch reason {
        case .connectionTimeout, .radioLost: self = .timedOut
        case .failedToBeEstablished: self = .connectionEstablishmentFailed
        case .remoteUserTerminated, .localHostTerminated, .superseded, .unknown, .other: self = .unspecified
        }
    }

    init(_ failure: SessionFailure) {
        switch failure {
        case .verifyTimedOut, .tooManyApps: self = .connectionEstablishmentFailed
        case .unexpectedAddress, .invalidCertificate, .invalidVerifier, .invalidCalculatedSignature,
            .quickVerifySignatureMismatch:
            self = .bondingKeysMismatch
        case .attMTUTooSmall, .appCredentialsDeniedByButton, .packetSignatureMismatch, .notInPublicMode,
            .fullVerifyFailedUnknown, .pairingExists, .sessionEnded:
            self = .unspecified
        }
    }
}

/// - Source: flicd notes, 10.
extension PairingFailure {
    fileprivate func wizardResult(isControllerLost: Bool) -> FlicdScanWizardResult {
        switch self {
        case .alreadyConnectedToOtherDevice: .buttonAlreadyConnectedToOtherDevice
        case .connectFailed: isControllerLost ? .bluetoothUnavailable : .failedTimeout
        case .noNewButtonsFound, .connectionTimeout, .couldNotDiscoverServices: .failedTimeout
        case .session(let failure):
            switch failure.outcome {
            case .belongsToOtherPartner: .buttonBelongsToOtherPartner
            case .invalidData: .invalidData
            case .isPrivate: .buttonIsPrivate
            case .failed: .failedTimeout
            }
        }
    }

    /// Why a channel for the button that was to be paired ends; `nil` if the channel waits on.
    fileprivate var removedReason: FlicdRemovedReason? {
        switch self {
        case .noNewButtonsFound, .alreadyConnectedToOtherDevice, .connectionTimeout: nil
        case .couldNotDiscoverServices, .connectFailed: .verifyTimeout
        case .session(let failure):
            switch failure.outcome {
            case .belongsToOtherPartner: .buttonBelongsToOtherPartner
            case .invalidData: .invalidData
            case .isPrivate: .buttonIsPrivate
            case .failed: .verifyTimeout
            }
        }
    }
}

extension SessionFailure {
    /// The outcomes of a failed pairing that flicd's protocol tells apart.
    fileprivate enum Outcome {
        case belongsToOtherPartner, invalidData, isPrivate, failed
    }

    fileprivate var outcome: Outcome {
        switch self {
        case .appCredentialsDeniedByButton: .belongsToOtherPartner
        case .unexpectedAddress, .invalidCertificate, .invalidVerifier, .invalidCalculatedSignature,
            .quickVerifySignatureMismatch, .fullVerifyFailedUnknown:
            .invalidData
        case .notInPublicMode: .isPrivate
        case .verifyTimedOut, .attMTUTooSmall, .packetSignatureMismatch, .tooManyApps, .pairingExists, .sessionEnded:
            .failed
        }
    }
}

extension FlicdButtonRequest {
    init(_ settings: ButtonSettings) {
        self.init(
            mode: FlicdChannelMode(
                latencyMode: settings.latencyMode, autoDisconnectTime: settings.autoDisconnectTime),
            isConnectionWanted: settings.isConnectionWanted)
    }
}

extension ButtonState {
    /// - Parameter status: the status of the button's channel; `nil` if there is none.
    init(_ status: FlicdConnectionStatus?) {
        self =
            switch status {
            case nil: .disconnected
            case .disconnected: .connecting
            case .connected: .connected
            case .ready: .ready
            }
    }
}
