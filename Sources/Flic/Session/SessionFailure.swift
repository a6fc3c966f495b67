/// Why a session ended, as reported to users.
public enum SessionFailure: Error, Hashable, Sendable {
    case verifyTimedOut
    /// The ATT_MTU is too small for the packets of a Twist, which cannot be fragmented.
    case attMTUTooSmall(Int)
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
    /// The button seemed not to know the pairing, and then proved that it does.
    case pairingExists
    /// The button ended the session with this reason code.
    case sessionEnded(reason: UInt8)

    /// The name in MQTT messages and on the command line, such as `not_in_public_mode`.
    public var name: String {
        switch self {
        case .verifyTimedOut: "verify_timed_out"
        case .attMTUTooSmall: "att_mtu_too_small"
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

    /// The cause, for logs and bug reports, if several causes have the same `name`.
    public var detail: String? {
        switch self {
        case .unexpectedAddress: "unexpected_address"
        case .invalidCertificate: "invalid_certificate"
        case .invalidVerifier: "invalid_verifier"
        case .invalidCalculatedSignature: "invalid_calculated_signature"
        case .attMTUTooSmall(let octets): String(octets)
        case .fullVerifyFailedUnknown(let reason): String(reason)
        case .sessionEnded(reason: 0): "ping_timeout"
        case .sessionEnded(reason: 1): "invalid_signature"
        case .sessionEnded(reason: 2): "new_session"
        case .sessionEnded(reason: 3): "by_user"
        case .sessionEnded(let reason): String(reason)
        case .verifyTimedOut, .appCredentialsDeniedByButton, .quickVerifySignatureMismatch, .packetSignatureMismatch,
            .tooManyApps, .notInPublicMode, .pairingExists:
            nil
        }
    }

    /// Advice for the user, in one or two sentences.
    public var advice: String {
        switch self {
        case .verifyTimedOut:
            "The button stopped answering while it was being verified. Try again; if it happens again, restart the Bluetooth adapter."
        case .attMTUTooSmall(let octets):
            "Packets of \(octets) octets are too short for a Twist, which needs \(ButtonSession.minimumTwistMTU). Press it to try again; if that does not help, take its battery out."
        case .appCredentialsDeniedByButton:
            "The button is locked to another maker's program and refuses to be paired."
        case .unexpectedAddress, .invalidCertificate, .invalidVerifier, .invalidCalculatedSignature:
            "This is not a genuine Flic, or the radio link is being tampered with. For a simulator, add its key to bluetooth.trust_roots."
        case .quickVerifySignatureMismatch:
            "The button could not prove that it is the one that was paired. If this happens again, forget the button and pair it again."
        case .packetSignatureMismatch, .sessionEnded, .pairingExists:
            "The button ended the session. Try again."
        case .tooManyApps:
            "Too many programs are connected to this button. Close one of them and try again in half a minute."
        case .notInPublicMode:
            "The button is in private mode. Hold it down for 7 seconds and try again at once."
        case .fullVerifyFailedUnknown(let reason):
            "The button refused to be paired for a reason this program does not know (\(reason)). Please report it."
        }
    }
}
