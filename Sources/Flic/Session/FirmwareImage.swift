/// A firmware image of a Flic 2 as its maker publishes it: encrypted and signed, so nothing here can judge it.
///
/// ```
/// octet  0                          8
///        initialisation vector, 8   data, a multiple of four octets
/// ```
///
/// - Source: protocol notes, 9.
public struct FirmwareImage: Hashable, Sendable {
    public enum Fault: Error, Hashable, Sendable {
        /// Less than the vector and one word.
        case tooShort
        /// The data must be a whole number of 32-bit words, at most `maximumWordCount`.
        case notWords(octets: Int)
        case tooLong(octets: Int)
    }

    /// What the 16-bit length of the request can say.
    public static let maximumWordCount = 0xFFFF

    /// Vector 8, length 4 and signature 64, before the data of an image of a Duo.
    static let signedHeaderLength = 76

    /// 8 octets.
    public let initializationVector: [UInt8]
    public let data: [UInt8]

    /// 1…`maximumWordCount`.
    public var wordCount: Int { data.count / 4 }

    public init(_ octets: [UInt8]) throws(Fault) {
        guard octets.count >= 12 else { throw .tooShort }
        let dataCount = octets.count - 8
        guard dataCount.isMultiple(of: 4) else { throw .notWords(octets: dataCount) }
        guard dataCount / 4 <= Self.maximumWordCount else { throw .tooLong(octets: dataCount) }
        initializationVector = Array(octets.prefix(8))
        data = Array(octets.dropFirst(8))
    }
}

/// How far a firmware update is. Words are 32 bits.
public enum FirmwareUpdateProgress: Hashable, Sendable {
    /// The button takes the image; `words` of it it has already, from an update that was cut off.
    case started(words: Int, of: Int)
    case received(words: Int, of: Int)
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
        case .invalidParameters: "The button does not take this image. Make sure that it is one for a Flic 2."
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
