import Bytes

/// A command on the LE signalling channel; a frame carries exactly one command.
///
///     octet  0      1            2…3      4…
///            code   identifier   length   data
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.
enum SignallingPacket: Hashable, Sendable {
    case commandReject(identifier: UInt8, reason: UInt16, data: [UInt8])
    case connectionParameterUpdateRequest(identifier: UInt8, ConnectionParameters)
    case connectionParameterUpdateResponse(identifier: UInt8, isAccepted: Bool)
    /// `destination` is the receiver's channel identifier, `source` the sender's.
    case disconnectionRequest(identifier: UInt8, destination: L2CAPChannelID, source: L2CAPChannelID)
    case disconnectionResponse(identifier: UInt8, destination: L2CAPChannelID, source: L2CAPChannelID)
    case creditBasedConnectionRequest(identifier: UInt8, SPSM, ChannelOffer)
    /// The offer is meaningless unless the result is success.
    case creditBasedConnectionResponse(identifier: UInt8, ChannelOffer, result: UInt16)
    /// `channel` is the sender's identifier.
    case flowControlCredit(identifier: UInt8, channel: L2CAPChannelID, credits: UInt16)
    case unknown(code: UInt8, identifier: UInt8, data: [UInt8])

    /// - Throws: `Truncated` when the payload ends before the announced data or its fields.
    init(decoding payload: ByteReader) throws(Truncated) {
        var reader = payload
        let code = try reader.uint8()
        let identifier = try reader.uint8()
        let data = try reader.bytes(Int(try reader.uint16()))
        var fields = ByteReader(data)
        switch code {
        case Code.commandReject:
            let reason = try fields.uint16()
            self = .commandReject(identifier: identifier, reason: reason, data: fields.remainder())
        case Code.connectionParameterUpdateRequest:
            self = .connectionParameterUpdateRequest(
                identifier: identifier, try ConnectionParameters(decoding: &fields))
        case Code.connectionParameterUpdateResponse:
            self = .connectionParameterUpdateResponse(
                identifier: identifier, isAccepted: try fields.uint16() == 0)
        case Code.disconnectionRequest:
            self = .disconnectionRequest(
                identifier: identifier, destination: try fields.channelID(), source: try fields.channelID())
        case Code.disconnectionResponse:
            self = .disconnectionResponse(
                identifier: identifier, destination: try fields.channelID(), source: try fields.channelID())
        case Code.creditBasedConnectionRequest:
            let spsm = SPSM(rawValue: try fields.uint16())
            self = .creditBasedConnectionRequest(identifier: identifier, spsm, try ChannelOffer(decoding: &fields))
        case Code.creditBasedConnectionResponse:
            let offer = try ChannelOffer(decoding: &fields)
            self = .creditBasedConnectionResponse(identifier: identifier, offer, result: try fields.uint16())
        case Code.flowControlCredit:
            self = .flowControlCredit(
                identifier: identifier, channel: try fields.channelID(), credits: try fields.uint16())
        default:
            self = .unknown(code: code, identifier: identifier, data: data)
        }
    }

    var encoded: [UInt8] {
        var data = ByteWriter(capacity: 8)
        let code: UInt8
        let identifier: UInt8
        switch self {
        case .commandReject(let number, let reason, let detail):
            (code, identifier) = (Code.commandReject, number)
            data.uint16(reason)
            data.bytes(detail)
        case .connectionParameterUpdateRequest(let number, let parameters):
            (code, identifier) = (Code.connectionParameterUpdateRequest, number)
            parameters.encode(into: &data)
        case .connectionParameterUpdateResponse(let number, let isAccepted):
            (code, identifier) = (Code.connectionParameterUpdateResponse, number)
            data.uint16(isAccepted ? 0 : 1)
        case .disconnectionRequest(let number, let destination, let source):
            (code, identifier) = (Code.disconnectionRequest, number)
            data.uint16(destination.rawValue)
            data.uint16(source.rawValue)
        case .disconnectionResponse(let number, let destination, let source):
            (code, identifier) = (Code.disconnectionResponse, number)
            data.uint16(destination.rawValue)
            data.uint16(source.rawValue)
        case .creditBasedConnectionRequest(let number, let spsm, let offer):
            (code, identifier) = (Code.creditBasedConnectionRequest, number)
            data.uint16(spsm.rawValue)
            offer.encode(into: &data)
        case .creditBasedConnectionResponse(let number, let offer, let result):
            (code, identifier) = (Code.creditBasedConnectionResponse, number)
            offer.encode(into: &data)
            data.uint16(result)
        case .flowControlCredit(let number, let channel, let credits):
            (code, identifier) = (Code.flowControlCredit, number)
            data.uint16(channel.rawValue)
            data.uint16(credits)
        case .unknown(let unknown, let number, let octets):
            (code, identifier) = (unknown, number)
            data.bytes(octets)
        }
        var writer = ByteWriter(capacity: 4 + data.bytes.count)
        writer.uint8(code)
        writer.uint8(identifier)
        writer.uint16(UInt16(clamping: data.bytes.count))
        writer.bytes(data.bytes)
        return writer.bytes
    }

    private enum Code {
        static let commandReject: UInt8 = 0x01
        static let disconnectionRequest: UInt8 = 0x06
        static let disconnectionResponse: UInt8 = 0x07
        static let connectionParameterUpdateRequest: UInt8 = 0x12
        static let connectionParameterUpdateResponse: UInt8 = 0x13
        static let creditBasedConnectionRequest: UInt8 = 0x14
        static let creditBasedConnectionResponse: UInt8 = 0x15
        static let flowControlCredit: UInt8 = 0x16
    }
}

/// The parameters that one end sends when a credit-based channel is opened.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.22.
struct ChannelOffer: Hashable, Sendable {
    var id: L2CAPChannelID
    var mtu: UInt16
    var mps: UInt16
    var credits: UInt16

    /// The parameters of a response that refuses the channel.
    static let none = ChannelOffer(id: L2CAPChannelID(rawValue: 0), mtu: 0, mps: 0, credits: 0)

    init(id: L2CAPChannelID, mtu: UInt16, mps: UInt16, credits: UInt16) {
        self.id = id
        self.mtu = mtu
        self.mps = mps
        self.credits = credits
    }

    init(_ configuration: ChannelConfiguration, id: L2CAPChannelID) {
        self.init(id: id, mtu: configuration.mtu, mps: configuration.mps, credits: configuration.credits)
    }

    fileprivate init(decoding fields: inout ByteReader) throws(Truncated) {
        id = try fields.channelID()
        mtu = try fields.uint16()
        mps = try fields.uint16()
        credits = try fields.uint16()
    }

    fileprivate func encode(into data: inout ByteWriter) {
        data.uint16(id.rawValue)
        data.uint16(mtu)
        data.uint16(mps)
        data.uint16(credits)
    }
}

extension ByteReader {
    fileprivate mutating func channelID() throws(Truncated) -> L2CAPChannelID {
        L2CAPChannelID(rawValue: try uint16())
    }
}
