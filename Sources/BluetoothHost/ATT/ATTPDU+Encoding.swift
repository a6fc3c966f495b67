import Bytes

extension ATTPDU {
    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.uint8(opcode)
        switch self {
        case .errorResponse(let request, let handle, let code):
            writer.uint8(request)
            writer.uint16(handle)
            writer.uint8(code.rawValue)
        case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu):
            writer.uint16(mtu)
        case .findInformationRequest(let range):
            writer.handleRange(range)
        case .findInformationResponse(let list):
            writer.uint8(list.first?.type.wireOctets.count == 2 ? 1 : 2)
            for element in list {
                writer.uint16(element.handle)
                writer.bytes(element.type.wireOctets)
            }
        case .findByTypeValueRequest(let range, let type, let value):
            writer.handleRange(range)
            writer.uint16(type)
            writer.bytes(value)
        case .findByTypeValueResponse(let ranges):
            for range in ranges { writer.handleRange(range) }
        case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
            writer.handleRange(range)
            writer.bytes(type.wireOctets)
        case .readByTypeResponse(let list):
            writer.uint8(UInt8(clamping: 2 + (list.first?.value.count ?? 0)))
            for element in list {
                writer.uint16(element.handle)
                writer.bytes(element.value)
            }
        case .readByGroupTypeResponse(let groups):
            writer.uint8(UInt8(clamping: 4 + (groups.first?.value.count ?? 0)))
            for group in groups {
                writer.handleRange(group.range)
                writer.bytes(group.value)
            }
        case .readRequest(let handle):
            writer.uint16(handle)
        case .readBlobRequest(let handle, let offset):
            writer.uint16(handle)
            writer.uint16(offset)
        case .readResponse(let value), .readBlobResponse(let value):
            writer.bytes(value)
        case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
            .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
            writer.uint16(handle)
            writer.bytes(value)
        case .prepareWriteRequest(let handle, let offset, let value),
            .prepareWriteResponse(let handle, let offset, let value):
            writer.uint16(handle)
            writer.uint16(offset)
            writer.bytes(value)
        case .executeWriteRequest(let isCancelled):
            writer.uint8(isCancelled ? 0 : 1)
        case .writeResponse, .executeWriteResponse, .handleValueConfirmation:
            break
        case .unknown(_, let parameters):
            writer.bytes(parameters)
        }
        return writer.bytes
    }
}

extension ByteWriter {
    fileprivate mutating func handleRange(_ range: HandleRange) {
        uint16(range.start)
        uint16(range.end)
    }
}
