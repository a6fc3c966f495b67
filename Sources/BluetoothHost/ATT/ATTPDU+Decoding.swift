import Bytes

extension ATTPDU {
    /// Decodes the rest of `payload` as one PDU.
    ///
    /// - Throws: `Truncated` when the octets end inside the fixed fields, or when a list has no complete element.
    init(decoding payload: ByteReader) throws(Truncated) {
        var reader = payload
        let opcode = try reader.uint8()
        switch opcode {
        case Opcode.handleValueNotification:
            self = .handleValueNotification(try reader.uint16(), reader.remainder())
        case Opcode.handleValueIndication:
            self = .handleValueIndication(try reader.uint16(), reader.remainder())
        case Opcode.handleValueConfirmation:
            self = .handleValueConfirmation
        case Opcode.errorResponse:
            self = .errorResponse(
                request: try reader.uint8(), attributeHandle: try reader.uint16(),
                ATTErrorCode(rawValue: try reader.uint8()))
        case Opcode.exchangeMTURequest: self = .exchangeMTURequest(try reader.uint16())
        case Opcode.exchangeMTUResponse: self = .exchangeMTUResponse(try reader.uint16())
        case Opcode.findInformationRequest: self = .findInformationRequest(try reader.handleRange())
        case Opcode.findInformationResponse: self = .findInformationResponse(try reader.attributeInformation())
        case Opcode.findByTypeValueRequest:
            let range = try reader.handleRange()
            self = .findByTypeValueRequest(range, type: try reader.uint16(), value: reader.remainder())
        case Opcode.findByTypeValueResponse:
            var ranges = [try reader.handleRange()]
            while !reader.isAtEnd { ranges.append(try reader.handleRange()) }
            self = .findByTypeValueResponse(ranges)
        case Opcode.readByTypeRequest:
            self = .readByTypeRequest(try reader.handleRange(), type: try reader.uuid())
        case Opcode.readByTypeResponse:
            self = .readByTypeResponse(
                try reader.list { (element: inout ByteReader) throws(Truncated) in
                    AttributeData(handle: try element.uint16(), value: element.remainder())
                })
        case Opcode.readRequest: self = .readRequest(try reader.uint16())
        case Opcode.readResponse: self = .readResponse(reader.remainder())
        case Opcode.readBlobRequest: self = .readBlobRequest(try reader.uint16(), offset: try reader.uint16())
        case Opcode.readBlobResponse: self = .readBlobResponse(reader.remainder())
        case Opcode.readByGroupTypeRequest:
            self = .readByGroupTypeRequest(try reader.handleRange(), type: try reader.uuid())
        case Opcode.readByGroupTypeResponse:
            self = .readByGroupTypeResponse(
                try reader.list { (element: inout ByteReader) throws(Truncated) in
                    AttributeGroup(range: try element.handleRange(), value: element.remainder())
                })
        case Opcode.writeRequest: self = .writeRequest(try reader.uint16(), reader.remainder())
        case Opcode.writeResponse: self = .writeResponse
        case Opcode.writeCommand: self = .writeCommand(try reader.uint16(), reader.remainder())
        case Opcode.prepareWriteRequest:
            self = .prepareWriteRequest(
                try reader.uint16(), offset: try reader.uint16(), reader.remainder())
        case Opcode.prepareWriteResponse:
            self = .prepareWriteResponse(
                try reader.uint16(), offset: try reader.uint16(), reader.remainder())
        case Opcode.executeWriteRequest: self = .executeWriteRequest(isCancelled: try reader.uint8() == 0)
        case Opcode.executeWriteResponse: self = .executeWriteResponse
        default: self = .unknown(opcode: opcode, parameters: reader.remainder())
        }
    }
}

extension ByteReader {
    fileprivate mutating func handleRange() throws(Truncated) -> HandleRange {
        HandleRange(start: try uint16(), end: try uint16())
    }

    /// A UUID of 2 or 16 octets that takes up the rest of the PDU.
    fileprivate mutating func uuid() throws(Truncated) -> BluetoothUUID {
        let available = remainingCount
        guard let uuid = BluetoothUUID(wireOctets: remainder()) else {
            throw Truncated(needed: available < 2 ? 2 : 16, available: available)
        }
        return uuid
    }

    /// A list of at least one element, after an octet with the length of each element.
    fileprivate mutating func list<Element>(
        _ decode: (inout ByteReader) throws(Truncated) -> Element
    ) throws(Truncated) -> [Element] {
        let length = Int(try uint8())
        guard length > 0 else { throw Truncated(needed: 1, available: 0) }
        var elements: [Element] = []
        repeat {
            var element = ByteReader(try bytes(length))
            elements.append(try decode(&element))
        } while !isAtEnd
        return elements
    }

    /// A list of handles and types, after an octet with the format: 1 for UUIDs of 2 octets, else 16.
    fileprivate mutating func attributeInformation() throws(Truncated) -> [AttributeInformation] {
        let length = try uint8() == 1 ? 2 : 16
        var list: [AttributeInformation] = []
        repeat {
            let handle = try uint16()
            let octets = try bytes(length)
            guard let type = BluetoothUUID(wireOctets: octets) else {
                throw Truncated(needed: length, available: octets.count)
            }
            list.append(AttributeInformation(handle: handle, type: type))
        } while !isAtEnd
        return list
    }
}
