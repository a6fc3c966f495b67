public import ButtonModel

/// A firmware image as its maker publishes it: encrypted and signed, so nothing here can judge it.
///
/// Of a Flic 2:
/// ```
/// octet  0                          8
///        initialisation vector, 8   data, a multiple of four octets
/// ```
/// Of a Duo and a Twist:
/// ```
/// octet  0                          8                  12              76
///        initialisation vector, 8   unpacked words, 4  signature, 64   data
/// ```
///
/// - Source: protocol notes, 9.
public struct FirmwareImage: Hashable, Sendable {
    public enum Fault: Error, Hashable, Sendable {
        /// Less than what comes before the data and one unit.
        case tooShort
        /// The data of a Flic 2 must be a whole number of 32-bit words.
        case notWords(octets: Int)
        /// More than what the length in the request can say, or than any image has.
        case tooLong(octets: Int)
    }

    /// The kind of button it is for; nothing in it says so.
    public let model: FlicModel
    /// What the button is told with the request: 8 octets of a Flic 2, else 76.
    public let header: [UInt8]
    public let data: [UInt8]

    /// 32-bit words of a Flic 2, else octets; 1 or more.
    public var unitCount: Int { data.count / format.unitLength }

    public init(_ octets: [UInt8], for model: FlicModel = .flic2) throws(Fault) {
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

/// How far a firmware update is, in the image's units.
public enum FirmwareUpdateProgress: Hashable, Sendable {
    /// The button takes the image; `units` of it it has already, from an update that was cut off.
    case started(units: Int, of: Int)
    case received(units: Int, of: Int)
    /// All of it is there and its signature is right: the button restarts with it, and connects again.
    case finished
    case failed(FirmwareUpdateFailure)
}

public enum FirmwareUpdateFailure: Error, Hashable, Sendable {
    case invalidParameters
    case busy
    /// The button has an image already that it will use when it restarts.
    case waitingForReboot
    /// The button has all of it and does not believe it.
    case signatureInvalid
    /// The session or the link ended; started again, the update goes on where it was.
    case interrupted
    /// Somebody asked for it to be stopped.
    case cancelled
    /// No word from the button for too long.
    case timedOut
    case unknown(Int32)

    /// `signature_invalid`, …: the word of MQTT and the command line.
    public var word: String {
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

    /// What a person can do about it.
    public var advice: String {
        switch self {
        case .invalidParameters: "The button does not take this image. Make sure that it is one for its kind."
        case .busy: "Another update of this button is under way. Wait for its end."
        case .waitingForReboot:
            "The button has new firmware already and will use it when its connection ends. Disconnect it and try again."
        case .signatureInvalid: "The image is damaged, or not for this button. Get it again from its maker."
        case .interrupted: "The connection was lost. Start the update again: it goes on where it was."
        case .cancelled: "The update was stopped. Started again, it goes on where it was."
        case .timedOut: "The button stopped answering. Bring it nearer and start the update again."
        case .unknown(let code):
            "The button refused the image for a reason this program does not know (\(code)). Please report it."
        }
    }
}
