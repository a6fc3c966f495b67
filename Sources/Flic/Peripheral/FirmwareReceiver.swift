import ButtonModel

/// The firmware update of a simulated button.
///
/// A real button decrypts the image and verifies the maker's signature. Instead, the last four octets of the data must
/// be the sum of all preceding 32-bit words, including those of the header, modulo 2³².
///
/// - Source: protocol notes, 9.
struct FirmwareReceiver: Sendable {
    /// The contents of a start request.
    struct Announcement: Hashable, Sendable {
        var model: FlicModel
        var unitCount: Int
        var header: [UInt8]
        /// In words for a Flic 2, else in packets.
        var statusInterval: Int
    }

    private var announcement: Announcement?
    private var data: [UInt8] = []
    /// The logical connection that sends the image.
    private var sender: UInt8?
    /// The words (Flic 2) or packets (else) received since the last progress notification.
    private var unreportedCount = 0
    /// True if the button has a valid image, with which it will restart.
    private(set) var isVerified = false

    enum StartFailure {
        static let invalidParameters: Int32 = -1
        static let busy: Int32 = -2
        static let waitingForReboot: Int32 = -3
    }

    /// - Returns: the position at which the host must continue, in units, or a `StartFailure`.
    mutating func start(_ new: Announcement, from connection: UInt8) -> Int32 {
        if isVerified { return StartFailure.waitingForReboot }
        let format = FirmwareFormat(new.model)
        guard 1...format.maximumUnitCount ~= new.unitCount, new.statusInterval > 0 else {
            return StartFailure.invalidParameters
        }
        if let sender, sender != connection { return StartFailure.busy }
        if announcement?.unitCount != new.unitCount || announcement?.header != new.header { data = [] }
        announcement = new
        sender = connection
        unreportedCount = 0
        return Int32(data.count / format.unitLength)
    }

    /// - Returns: the number of units received if a notification is due; 0 if the image is complete and invalid.
    mutating func receive(_ octets: [UInt8], from connection: UInt8) -> Int32? {
        guard let announcement, sender == connection else { return nil }
        let length = FirmwareFormat(announcement.model).unitLength
        guard octets.count.isMultiple(of: length) else { return nil }
        data.append(contentsOf: octets.prefix(length * announcement.unitCount - data.count))
        let count = data.count / length
        guard count < announcement.unitCount else {
            isVerified = Self.isGenuine(announcement.header + data)
            forget()
            return isVerified ? Int32(count) : 0
        }
        unreportedCount += announcement.model == .flic2 ? octets.count / length : 1
        guard unreportedCount >= announcement.statusInterval else { return nil }
        unreportedCount = 0
        return Int32(count)
    }

    /// Forgets the sender, and keeps its data for its next request.
    mutating func connectionEnded(_ connection: UInt8) { if sender == connection { sender = nil } }

    mutating func linkEnded() { sender = nil }

    /// - Returns: whether new firmware was installed.
    mutating func reboot() -> Bool {
        defer { self = FirmwareReceiver() }
        return isVerified
    }

    private mutating func forget() {
        announcement = nil
        data = []
        sender = nil
    }

    /// - Parameter octets: the header and the data.
    private static func isGenuine(_ octets: [UInt8]) -> Bool {
        checksum(octets.dropLast(4)) == Array(octets.suffix(4))
    }

    fileprivate static func checksum(_ octets: some Sequence<UInt8>) -> [UInt8] {
        var sum: UInt32 = 0
        for (index, octet) in octets.enumerated() { sum &+= UInt32(octet) << UInt32(8 * (index % 4)) }
        return (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    }
}

extension FirmwareReceiver.Announcement {
    init(_ request: HostPacket.StartFirmwareUpdateRequest) {
        self.init(
            model: .flic2, unitCount: Int(request.wordCount), header: request.initializationVector,
            statusInterval: Int(request.statusInterval))
    }

    init(_ request: HostPacket.StartFirmwareUpdateDuoRequest) {
        self.init(
            model: .duo, unitCount: Int(request.octetCount), header: request.header,
            statusInterval: Int(request.statusInterval))
    }

    init(_ request: TwistHostPacket.StartFirmwareUpdateRequest) {
        self.init(
            model: .twist, unitCount: Int(request.octetCount), header: request.header,
            statusInterval: Int(request.statusInterval))
    }
}

extension FlicPeripheral {
    mutating func startFirmwareUpdate(
        _ announcement: FirmwareReceiver.Announcement, on id: UInt8, _ effects: inout [Effect]
    ) {
        let isOurs = announcement.model == configuration.model
        let position =
            isOurs ? firmware.start(announcement, from: id) : FirmwareReceiver.StartFailure.invalidParameters
        sendSigned(.startFirmwareUpdateResponse(position: position), on: id, &effects)
    }

    mutating func receiveFirmware(_ data: [UInt8], on id: UInt8, _ effects: inout [Effect]) {
        guard let position = firmware.receive(data, from: id) else { return }
        sendSigned(.firmwareUpdateNotification(position: position), on: id, &effects)
    }
}

extension FlicPeripheral {
    /// Creates an image that a simulated Flic 2 accepts: initialisation vector, data and the checksum in place of a
    /// signature.
    ///
    /// - Parameters:
    ///   - wordCount: the length of the data in 32-bit words, 1…65535, including the checksum.
    ///   - filler: the octets that the image consists of, repeated.
    public static func firmware(wordCount: Int, filler: [UInt8] = [0x5A]) -> [UInt8] {
        let format = FirmwareFormat(.flic2)
        return firmware(
            headerLength: format.headerLength, octetCount: 4 * min(max(wordCount, 1), format.maximumUnitCount),
            filler: filler)
    }

    /// Creates an image that a simulated Duo or Twist accepts: header, data and the checksum in place of a signature.
    ///
    /// - Parameter octetCount: the length of the data in octets, 4…1048576, including the checksum.
    public static func signedFirmware(octetCount: Int, filler: [UInt8] = [0x5A]) -> [UInt8] {
        firmware(
            headerLength: FirmwareFormat.signedHeaderLength,
            octetCount: min(max(octetCount, 4), FirmwareFormat.maximumOctetCount), filler: filler)
    }

    private static func firmware(headerLength: Int, octetCount: Int, filler: [UInt8]) -> [UInt8] {
        let count = headerLength + octetCount - 4
        let repeated = (0..<count).map { filler.isEmpty ? 0 : filler[$0 % filler.count] }
        return repeated + FirmwareReceiver.checksum(repeated)
    }
}
