package import Flic

// A lossless text form of a failure for recordings: its `name`, followed by the associated value, or by a more specific
// name where several failures share a word.
extension PairingFailure {
    package var notation: String {
        switch self {
        case .noNewButtonsFound, .alreadyConnectedToOtherDevice, .connectionTimeout, .couldNotDiscoverServices,
            .connectFailed:
            name
        case .session(let failure): failure.notation
        }
    }

    package init?(notation: String) {
        let plain: [PairingFailure] = [
            .noNewButtonsFound, .alreadyConnectedToOtherDevice, .connectionTimeout, .couldNotDiscoverServices,
            .connectFailed,
        ]
        if let failure = plain.first(where: { $0.name == notation }) {
            self = failure
        } else if let failure = SessionFailure(notation: notation) {
            self = .session(failure)
        } else {
            return nil
        }
    }
}

extension SessionFailure {
    package var notation: String {
        switch self {
        case .verifyTimedOut, .appCredentialsDeniedByButton, .quickVerifySignatureMismatch, .packetSignatureMismatch,
            .tooManyApps, .notInPublicMode, .pairingExists:
            name
        case .unexpectedAddress: "\(name) unexpected_address"
        case .invalidCertificate: "\(name) invalid_certificate"
        case .invalidVerifier: "\(name) invalid_verifier"
        case .invalidCalculatedSignature: "\(name) invalid_calculated_signature"
        case .attMTUTooSmall(let octets): "\(name) \(octets)"
        case .fullVerifyFailedUnknown(let reason), .sessionEnded(let reason): "\(name) \(reason)"
        }
    }

    /// - Parameter notation: as `notation` gives it. A name without its details, as in older recordings, means the first
    ///   failure of that name.
    package init?(notation: String) {
        let plain: [SessionFailure] = [
            .verifyTimedOut, .appCredentialsDeniedByButton, .quickVerifySignatureMismatch, .packetSignatureMismatch,
            .tooManyApps, .notInPublicMode, .pairingExists, .unexpectedAddress, .invalidCertificate, .invalidVerifier,
            .invalidCalculatedSignature, .attMTUTooSmall(23), .fullVerifyFailedUnknown(reason: 0),
            .sessionEnded(reason: 0),
        ]
        let parts = notation.split(separator: " ", maxSplits: 1)
        if let failure = plain.first(where: { $0.notation == notation }) {
            self = failure
        } else if parts.count == 2, parts[0] == SessionFailure.attMTUTooSmall(0).name, let octets = Int(parts[1]) {
            self = .attMTUTooSmall(octets)
        } else if parts.count == 2, let reason = UInt8(parts[1]) {
            let coded: [SessionFailure] = [.fullVerifyFailedUnknown(reason: reason), .sessionEnded(reason: reason)]
            guard let failure = coded.first(where: { $0.name == parts[0] }) else { return nil }
            self = failure
        } else if let failure = plain.first(where: { $0.name == notation }) {
            self = failure
        } else {
            return nil
        }
    }
}
