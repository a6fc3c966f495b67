import ButtonModel

/// How the images of one kind of button are counted, cut and sent.
///
/// - Source: protocol notes, 9.
struct FirmwareFormat: Hashable, Sendable {
    /// Octets before the data.
    var headerLength: Int
    /// Octets of a unit; lengths and positions count those.
    var unitLength: Int
    var maximumUnitCount: Int
    var unitsPerPacket: Int
    /// Units sent beyond those the button has told of.
    var window: Int
    /// Between two notifications of the button: words on a Flic 2, packets on others.
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

    /// Vector 8, number of words once it is unpacked 4, signature 64.
    static let signedHeaderLength = 76
    /// Far more than any has.
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

    /// - Parameter range: within `0..<unitCount`, at most `unitsPerPacket`.
    func packet(_ range: Range<Int>) -> HostPacket {
        let length = format.unitLength
        let octets = Array(data.dropFirst(length * range.lowerBound).prefix(length * range.count))
        return model == .duo ? .firmwareUpdateDataDuo(octets) : .firmwareUpdateData(octets)
    }
}
