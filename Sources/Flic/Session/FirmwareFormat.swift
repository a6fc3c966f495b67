import ButtonModel

/// The layout and transfer parameters of the firmware images of a model.
///
/// - Source: protocol notes, 9.
struct FirmwareFormat: Hashable, Sendable {
    /// The length of the header before the data, in octets.
    var headerLength: Int
    /// The octets in a unit of lengths and positions: 4 for a Flic 2, else 1.
    var unitLength: Int
    var maximumUnitCount: Int
    var unitsPerPacket: Int
    /// The maximum number of units that are sent beyond the last position that the button reported.
    var window: Int
    /// The distance between two progress notifications: in words for a Flic 2, else in packets.
    var statusInterval: UInt16

    init(_ model: FlicModel) {
        switch model {
        case .flic1, .flic2:
            (headerLength, unitLength, maximumUnitCount) = (8, 4, 0xFFFF)
            (unitsPerPacket, window, statusInterval) = (HostPacket.maximumFirmwareWordCount, 512, 60)
        case .duo:
            (headerLength, unitLength, maximumUnitCount) = (Self.signedHeaderLength, 1, Self.maximumOctetCount)
            (unitsPerPacket, window, statusInterval) = (HostPacket.maximumFirmwareOctetCount, 550, 2)
        case .twist:
            (headerLength, unitLength, maximumUnitCount) = (Self.signedHeaderLength, 1, Self.maximumOctetCount)
            (unitsPerPacket, window, statusInterval) = (4 * HostPacket.maximumFirmwareWordCount, 480, 2)
        }
    }

    /// The header of a Duo's or a Twist's image: initialisation vector 8, number of unpacked words 4, signature 64.
    static let signedHeaderLength = 76
    /// The longest data of a Duo's or a Twist's image, in octets; real images are much shorter.
    static let maximumOctetCount = 1 << 20
}

extension FirmwareImage {
    var format: FirmwareFormat { FirmwareFormat(model) }

    var startRequest: HostPacket {
        switch model {
        case .flic1, .flic2:
            .startFirmwareUpdateRequest(
                .init(
                    wordCount: UInt16(truncatingIfNeeded: unitCount), initializationVector: header,
                    statusInterval: format.statusInterval))
        case .duo:
            .startFirmwareUpdateDuoRequest(
                .init(
                    octetCount: UInt32(truncatingIfNeeded: unitCount), header: header,
                    statusInterval: format.statusInterval))
        case .twist:
            .twist(
                .startFirmwareUpdateRequest(
                    .init(
                        octetCount: UInt32(truncatingIfNeeded: unitCount), header: header,
                        statusInterval: format.statusInterval)))
        }
    }

    /// The packet with a part of the data.
    ///
    /// - Parameter range: within `0..<unitCount`, at most `unitsPerPacket` long.
    func packet(_ range: Range<Int>) -> HostPacket {
        let length = format.unitLength
        let octets = Array(data.dropFirst(length * range.lowerBound).prefix(length * range.count))
        return model == .duo ? .firmwareUpdateDataDuo(octets) : .firmwareUpdateData(octets)
    }
}
