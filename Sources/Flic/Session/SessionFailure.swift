/// Why a session ended, by the names users see. `word` is the spelling of MQTT and the command line.
public enum SessionFailure: Error, Hashable, Sendable {
    case verifyTimedOut
    case appCredentialsDeniedByButton
    case unexpectedAddress
    case invalidCertificate
    case invalidVerifier
    case invalidCalculatedSignature
    case quickVerifySignatureMismatch
    case packetSignatureMismatch
    case tooManyApps
    case notInPublicMode
    case fullVerifyFailedUnknown(reason: UInt8)
    /// Somebody said that the button does not know the pairing, and the button proved that it does.
    case pairingExists
    /// The button ended the session; its reason code.
    case sessionEnded(reason: UInt8)

    /// `genuine_check_failed`, `not_in_public_mode`, …
    public var word: String {
        switch self {
        case .verifyTimedOut: "verify_timed_out"
        case .appCredentialsDeniedByButton: "app_credentials_denied_by_button"
        case .unexpectedAddress, .invalidCertificate, .invalidVerifier, .invalidCalculatedSignature:
            "genuine_check_failed"
        case .quickVerifySignatureMismatch: "quick_verify_signature_mismatch"
        case .packetSignatureMismatch: "packet_signature_mismatch"
        case .tooManyApps: "too_many_apps"
        case .notInPublicMode: "not_in_public_mode"
        case .fullVerifyFailedUnknown: "full_verify_failed_unknown"
        case .pairingExists: "pairing_exists"
        case .sessionEnded: "session_ended"
        }
    }
}
