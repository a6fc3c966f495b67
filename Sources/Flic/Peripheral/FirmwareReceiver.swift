/// What a simulated button does with a firmware image.
///
/// A real one decrypts it and checks its maker's signature. Here the last word of the data stands for that: it is the sum
/// of all words before it, the two of the initialisation vector included, without carry.
///
/// - Source: protocol notes, 9.
struct FirmwareReceiver: Sendable {
    private var request: HostPacket.StartFirmwareUpdateRequest?
    private var data: [UInt8] = []
    /// The logical connection that sends it.
    private var sender: UInt8?
    private var lastToldCount = 0
    /// An image that the button will restart with.
    private(set) var isVerified = false

    enum StartFailure {
        static let invalidParameters: Int32 = -1
        static let busy: Int32 = -2
        static let waitingForReboot: Int32 = -3
    }

    /// - Returns: the word to go on with, or one of `StartFailure`.
    mutating func start(_ new: HostPacket.StartFirmwareUpdateRequest, from connection: UInt8) -> Int32 {
        if isVerified { return StartFailure.waitingForReboot }
        guard new.wordCount > 0, new.statusInterval > 0 else { return StartFailure.invalidParameters }
        if let sender, sender != connection { return StartFailure.busy }
        if request?.wordCount != new.wordCount || request?.initializationVector != new.initializationVector {
            data = []
        }
        request = new
        sender = connection
        lastToldCount = data.count / 4
        return Int32(data.count / 4)
    }

    /// - Returns: the words it has, when it is time to tell; 0 for an image that is not genuine.
    mutating func receive(_ octets: [UInt8], from connection: UInt8) -> Int32? {
        guard let request, sender == connection, octets.count.isMultiple(of: 4) else { return nil }
        let total = Int(request.wordCount)
        data.append(contentsOf: octets.prefix(4 * total - data.count))
        let count = data.count / 4
        guard count < total else {
            isVerified = Self.isGenuine(request.initializationVector + data)
            forget()
            return isVerified ? Int32(total) : 0
        }
        guard count - lastToldCount >= Int(request.statusInterval) else { return nil }
        lastToldCount = count
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
        request = nil
        data = []
        sender = nil
    }

    /// - Parameter octets: vector and data.
    private static func isGenuine(_ octets: [UInt8]) -> Bool {
        checksum(octets.dropLast(4)) == Array(octets.suffix(4))
    }

    fileprivate static func checksum(_ octets: some Sequence<UInt8>) -> [UInt8] {
        var sum: UInt32 = 0
        for (index, octet) in octets.enumerated() { sum &+= UInt32(octet) << UInt32(8 * (index % 4)) }
        return (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    }
}

extension FlicPeripheral {
    /// An image that a simulated button believes: vector, data and the word that stands for a signature.
    ///
    /// - Parameters:
    ///   - wordCount: 1…65535, the last word included.
    ///   - filler: what it is made of, over and over.
    public static func firmware(wordCount: Int, filler: [UInt8] = [0x5A]) -> [UInt8] {
        let count = 8 + 4 * (min(max(wordCount, 1), FirmwareImage.maximumWordCount) - 1)
        let repeated = (0..<count).map { filler.isEmpty ? 0 : filler[$0 % filler.count] }
        return repeated + FirmwareReceiver.checksum(repeated)
    }
}
