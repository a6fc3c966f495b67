import Testing

@testable import Flic

@Suite("Failures")
struct FailureTests {
    private static let sessionFailures: [SessionFailure] = [
        .verifyTimedOut, .appCredentialsDeniedByButton, .unexpectedAddress, .invalidCertificate, .invalidVerifier,
        .invalidCalculatedSignature, .quickVerifySignatureMismatch, .packetSignatureMismatch, .tooManyApps,
        .notInPublicMode, .fullVerifyFailedUnknown(reason: 7), .pairingExists, .sessionEnded(reason: 0),
        .sessionEnded(reason: 1), .sessionEnded(reason: 2), .sessionEnded(reason: 3), .sessionEnded(reason: 9),
        .attMTUTooSmall(119),
    ]

    @Test("each failure has the name in the protocol page, and failures with the same name differ in a detail")
    func words() {
        #expect(
            Self.sessionFailures.map { [$0.name, $0.detail].compactMap(\.self).joined(separator: ".") } == [
                "verify_timed_out", "app_credentials_denied_by_button", "genuine_check_failed.unexpected_address",
                "genuine_check_failed.invalid_certificate", "genuine_check_failed.invalid_verifier",
                "genuine_check_failed.invalid_calculated_signature", "quick_verify_signature_mismatch",
                "packet_signature_mismatch", "too_many_apps", "not_in_public_mode", "full_verify_failed_unknown.7",
                "pairing_exists", "session_ended.ping_timeout", "session_ended.invalid_signature",
                "session_ended.new_session", "session_ended.by_user", "session_ended.9", "att_mtu_too_small.119",
            ])
    }

    @Test("each failure has an advice in a whole, short sentence")
    func advice() {
        let updates: [FirmwareUpdateFailure] = [
            .invalidParameters, .busy, .waitingForReboot, .signatureInvalid, .interrupted, .cancelled, .timedOut,
            .unknown(-9),
        ]
        for advice in Self.sessionFailures.map(\.advice) + updates.map(\.advice) {
            #expect(advice.hasSuffix(".") && advice.first?.isUppercase == true && advice.count < 140)
        }
        #expect(SessionFailure.fullVerifyFailedUnknown(reason: 7).advice.contains("7"))
        #expect(FirmwareUpdateFailure.unknown(-9).advice.contains("-9"))
        #expect(
            updates.map(\.name) == [
                "invalid_parameters", "busy", "waiting_for_reboot", "signature_invalid", "interrupted", "cancelled",
                "timed_out", "unknown",
            ])
    }
}
