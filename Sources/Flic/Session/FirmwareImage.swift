public import ButtonModel

/// A firmware image as published by the maker. It is encrypted and signed, so this module cannot verify it.
///
/// The layout for a Flic 2:
/// ```
/// octet  0                          8
///        initialisation vector, 8   data, a multiple of four octets
/// ```
/// The layout for a Duo and a Twist:
/// ```
/// octet  0                          8                  12              76
///        initialisation vector, 8   unpacked words, 4  signature, 64   data
/// ```
///
/// - Source: protocol notes, 9.
public struct FirmwareImage: Hashable, Sendable {
    public enum InvalidImage: Error, Hashable, Sendable {
        /// The image is shorter than its header and one unit.
        case tooShort
        /// The length of the data is not a multiple of four octets, which a Flic 2 requires.
        case notWords(octets: Int)
        /// The length does not fit into the request, or exceeds the limit for a Duo and a Twist.
        case tooLong(octets: Int)
    }

    /// The model that the image is for; the image itself does not contain it.
    public let model: FlicModel
    /// The header, which is sent with the request: 8 octets for a Flic 2, else 76.
    public let header: [UInt8]
    public let data: [UInt8]

    /// The length of the data in 32-bit words for a Flic 2, else in octets; at least 1.
    public var unitCount: Int { data.count / format.unitLength }

    public init(_ octets: [UInt8], for model: FlicModel = .flic2) throws(InvalidImage) {
        let format = FirmwareFormat(model)
        guard octets.count >= format.headerLength + format.unitLength else { throw .tooShort }
        let dataCount = octets.count - format.headerLength
        guard dataCount.isMultiple(of: format.unitLength) else { throw .notWords(octets: dataCount) }
        guard dataCount / format.unitLength <= format.maximumUnitCount else { throw .tooLong(octets: dataCount) }
        self.model = model
        header = Array(octets.prefix(format.headerLength))
        data = Array(octets.dropFirst(format.headerLength))
    }
}

/// The progress of a firmware update, in units of the image.
public enum FirmwareUpdateProgress: Hashable, Sendable {
    /// The button has accepted the image. It already has `units` from an earlier update that was interrupted.
    case started(units: Int, of: Int)
    case received(units: Int, of: Int)
    /// The button has the whole image and its signature is valid. The button now restarts and connects again.
    case finished
    case failed(FirmwareUpdateFailure)
}

public enum FirmwareUpdateFailure: Error, Hashable, Sendable {
    case invalidParameters
    case busy
    /// The button already has an image that it will install when it restarts.
    case waitingForReboot
    /// The button has the whole image and its signature is invalid.
    case signatureInvalid
    /// The session or the link ended. When the update is started again, it resumes at this position.
    case interrupted
    /// The update was cancelled by a command.
    case cancelled
    /// The button did not report progress in time.
    case timedOut
    case unknown(Int32)

    /// The name in MQTT messages and on the command line, such as `signature_invalid`.
    public var name: String {
        switch self {
        case .invalidParameters: "invalid_parameters"
        case .busy: "busy"
        case .waitingForReboot: "waiting_for_reboot"
        case .signatureInvalid: "signature_invalid"
        case .interrupted: "interrupted"
        case .cancelled: "cancelled"
        case .timedOut: "timed_out"
        case .unknown: "unknown"
        }
    }

    /// Advice for the user, in one or two sentences.
    public var advice: String {
        switch self {
        case .invalidParameters: "The button rejects this image. Make sure that the image is for this model."
        case .busy: "Another update of this button is in progress. Wait until it has finished."
        case .waitingForReboot:
            "The button already has new firmware, and will use it when its connection ends. Disconnect it and try again."
        case .signatureInvalid:
            "The image is damaged, or is not for this button. Download it again from the manufacturer."
        case .interrupted: "The connection was lost. Start the update again; it resumes where it stopped."
        case .cancelled: "The update was stopped. Start the update again; it resumes where it stopped."
        case .timedOut: "The button stopped answering. Bring it nearer and start the update again."
        case .unknown(let code):
            "The button refused the image for a reason this program does not know (\(code)). Please report it."
        }
    }
}
