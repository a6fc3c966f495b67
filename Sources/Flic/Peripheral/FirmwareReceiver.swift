import ButtonModel

/// What a simulated button does with a firmware image.
///
/// A real one decrypts it and checks its maker's signature. Here the last word of the data stands for that: it is the sum
/// of all words before it, those of the header included, without carry.
///
/// - Source: protocol notes, 9.
struct FirmwareReceiver: Sendable {
    /// What a host has announced.
    struct Announcement: Hashable, Sendable {
        var model: FlicModel
        var unitCount: Int
        var header: [UInt8]
        /// Words on a Flic 2, packets on others.
        var statusInterval: Int
    }

    private var announcement: Announcement?
    private var data: [UInt8] = []
    /// The logical connection that sends it.
    private var sender: UInt8?
    /// What has come since the button told of it last: words on a Flic 2, packets on others.
    private var untoldCount = 0
    /// An image that the button will restart with.
    private(set) var isVerified = false

    enum StartFailure {
        static let invalidParameters: Int32 = -1
        static let busy: Int32 = -2
        static let waitingForReboot: Int32 = -3
    }

    /// - Returns: the unit to go on with, or one of `StartFailure`.
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
        untoldCount = 0
        return Int32(data.count / format.unitLength)
    }

    /// - Returns: the units it has, when it is time to tell; 0 for an image that is not genuine.
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
        untoldCount += announcement.model == .flic2 ? octets.count / length : 1
        guard untoldCount >= announcement.statusInterval else { return nil }
        untoldCount = 0
        return Int32(count)
    }

    /// The sender is gone; what it sent is kept for its next request.
    mutating func connectionEnded(_ connection: UInt8) { if sender == connection { sender = nil } }

    mutating func linkEnded() { sender = nil }

    /// - Returns: whether there is another firmware now.
    mutating func reboot() -> Bool {
        defer { self = FirmwareReceiver() }
        return isVerified
    }

    private mutating func forget() {
        announcement = nil
        data = []
        sender = nil
    }

    /// - Parameter octets: header and data.
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
    /// An image that a simulated button believes: vector, data and the word that stands for a signature.
    ///
    /// - Parameters:
    ///   - wordCount: 1…65535, the last word included.
    ///   - filler: what it is made of, over and over.
    public static func firmware(wordCount: Int, filler: [UInt8] = [0x5A]) -> [UInt8] {
        let format = FirmwareFormat(.flic2)
        return firmware(
            headerLength: format.headerLength, octetCount: 4 * min(max(wordCount, 1), format.maximumUnitCount),
            filler: filler)
    }

    /// The same of a Duo or a Twist: header, data and the four octets that stand for a signature.
    ///
    /// - Parameter octetCount: 4…1048576, the last four included.
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
