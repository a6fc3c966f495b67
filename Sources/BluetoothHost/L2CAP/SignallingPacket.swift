import Bytes

/// One command on the LE signalling channel; a frame carries exactly one.
///
///     octet  0      1            2…3      4…
///            code   identifier   length   data
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.
enum SignallingPacket: Hashable, Sendable {
    case commandReject(identifier: UInt8, reason: UInt16, data: [UInt8])
    case connectionParameterUpdateRequest(identifier: UInt8, ConnectionParameters)
    case connectionParameterUpdateResponse(identifier: UInt8, isAccepted: Bool)
    case unknown(code: UInt8, identifier: UInt8, data: [UInt8])

    /// - Throws: `Truncated`, when the payload ends before the announced data or its fields do.
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
        static let connectionParameterUpdateRequest: UInt8 = 0x12
        static let connectionParameterUpdateResponse: UInt8 = 0x13
    }
}
