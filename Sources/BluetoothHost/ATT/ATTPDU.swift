/// A range of attribute handles as it is on the wire: it may be empty or backwards.
struct HandleRange: Hashable, Sendable {
    var start, end: UInt16
}

/// One attribute of a list: its handle and what the list is about.
struct AttributeData: Hashable, Sendable {
    var handle: UInt16
    var value: [UInt8]
}

/// One attribute protocol PDU.
///
///     octet  0        1…
///            opcode   parameters
///
/// Multi-octet fields are little endian. An opcode we do not know is a value, not an error: the other side may
/// be newer than we are.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.4.
enum ATTPDU: Hashable, Sendable {
    case errorResponse(request: UInt8, attributeHandle: UInt16, ATTErrorCode)
    case exchangeMTURequest(UInt16)
    case exchangeMTUResponse(UInt16)
    case findInformationRequest(HandleRange)
    /// UUIDs of one length.
    case findInformationResponse([AttributeInformation])
    case findByTypeValueRequest(HandleRange, type: UInt16, value: [UInt8])
    case findByTypeValueResponse([HandleRange])
    case readByTypeRequest(HandleRange, type: UUID)
    /// Values of one length.
    case readByTypeResponse([AttributeData])
    case readRequest(UInt16)
    case readResponse([UInt8])
    case readBlobRequest(UInt16, offset: UInt16)
    case readBlobResponse([UInt8])
    case readByGroupTypeRequest(HandleRange, type: UUID)
    /// Values of one length.
    case readByGroupTypeResponse([AttributeGroup])
    case writeRequest(UInt16, [UInt8])
    case writeResponse
    case writeCommand(UInt16, [UInt8])
    case prepareWriteRequest(UInt16, offset: UInt16, [UInt8])
    case prepareWriteResponse(UInt16, offset: UInt16, [UInt8])
    /// Writes what was prepared, or forgets it.
    case executeWriteRequest(isCancelled: Bool)
    case executeWriteResponse
    case handleValueNotification(UInt16, [UInt8])
    case handleValueIndication(UInt16, [UInt8])
    case handleValueConfirmation
    case unknown(opcode: UInt8, parameters: [UInt8])

    /// ATT_MTU before, or without, an exchange.
    static let minimumMTU: UInt16 = 23
    /// The longest value, 512 octets, with the longest header before it.
    static let maximumMTU: UInt16 = 517
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.2.9.
    static let maximumValueLength = 512

    var opcode: UInt8 {
        switch self {
        case .errorResponse: Opcode.errorResponse
        case .exchangeMTURequest: Opcode.exchangeMTURequest
        case .exchangeMTUResponse: Opcode.exchangeMTUResponse
        case .findInformationRequest: Opcode.findInformationRequest
        case .findInformationResponse: Opcode.findInformationResponse
        case .findByTypeValueRequest: Opcode.findByTypeValueRequest
        case .findByTypeValueResponse: Opcode.findByTypeValueResponse
        case .readByTypeRequest: Opcode.readByTypeRequest
        case .readByTypeResponse: Opcode.readByTypeResponse
        case .readRequest: Opcode.readRequest
        case .readResponse: Opcode.readResponse
        case .readBlobRequest: Opcode.readBlobRequest
        case .readBlobResponse: Opcode.readBlobResponse
        case .readByGroupTypeRequest: Opcode.readByGroupTypeRequest
        case .readByGroupTypeResponse: Opcode.readByGroupTypeResponse
        case .writeRequest: Opcode.writeRequest
        case .writeResponse: Opcode.writeResponse
        case .writeCommand: Opcode.writeCommand
        case .prepareWriteRequest: Opcode.prepareWriteRequest
        case .prepareWriteResponse: Opcode.prepareWriteResponse
        case .executeWriteRequest: Opcode.executeWriteRequest
        case .executeWriteResponse: Opcode.executeWriteResponse
        case .handleValueNotification: Opcode.handleValueNotification
        case .handleValueIndication: Opcode.handleValueIndication
        case .handleValueConfirmation: Opcode.handleValueConfirmation
        case .unknown(let opcode, _): opcode
        }
    }

    /// Requests are answered, even when they are unknown.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.1: bit 6 marks a command; requests are even.
    static func isRequest(_ opcode: UInt8) -> Bool {
        opcode & 0x41 == 0 && opcode != Opcode.handleValueConfirmation
    }

    /// Notifications and indications are odd like responses, and are not.
    static func isResponse(_ opcode: UInt8) -> Bool {
        opcode & 0x41 == 1 && opcode != Opcode.handleValueNotification && opcode != Opcode.handleValueIndication
    }

    enum Opcode {
        static let errorResponse: UInt8 = 0x01
        static let exchangeMTURequest: UInt8 = 0x02
        static let exchangeMTUResponse: UInt8 = 0x03
        static let findInformationRequest: UInt8 = 0x04
        static let findInformationResponse: UInt8 = 0x05
        static let findByTypeValueRequest: UInt8 = 0x06
        static let findByTypeValueResponse: UInt8 = 0x07
        static let readByTypeRequest: UInt8 = 0x08
        static let readByTypeResponse: UInt8 = 0x09
        static let readRequest: UInt8 = 0x0A
        static let readResponse: UInt8 = 0x0B
        static let readBlobRequest: UInt8 = 0x0C
        static let readBlobResponse: UInt8 = 0x0D
        static let readByGroupTypeRequest: UInt8 = 0x10
        static let readByGroupTypeResponse: UInt8 = 0x11
        static let writeRequest: UInt8 = 0x12
        static let writeResponse: UInt8 = 0x13
        static let prepareWriteRequest: UInt8 = 0x16
        static let prepareWriteResponse: UInt8 = 0x17
        static let executeWriteRequest: UInt8 = 0x18
        static let executeWriteResponse: UInt8 = 0x19
        static let handleValueNotification: UInt8 = 0x1B
        static let handleValueIndication: UInt8 = 0x1D
        static let handleValueConfirmation: UInt8 = 0x1E
        static let writeCommand: UInt8 = 0x52
    }
}

/// An attribute's handle and type.
struct AttributeInformation: Hashable, Sendable {
    var handle: UInt16
    var type: UUID
}

/// A service's range of handles and its UUID.
struct AttributeGroup: Hashable, Sendable {
    var range: HandleRange
    var value: [UInt8]
}

/// Why an attribute request was refused.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.4.1.1.
struct ATTErrorCode: RawRepresentable, Hashable, Sendable {
    var rawValue: UInt8

    static let invalidHandle = ATTErrorCode(rawValue: 0x01)
    static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
    static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
    static let invalidPDU = ATTErrorCode(rawValue: 0x04)
    static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
    static let invalidOffset = ATTErrorCode(rawValue: 0x07)
    static let prepareQueueFull = ATTErrorCode(rawValue: 0x09)
    static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
    static let attributeNotLong = ATTErrorCode(rawValue: 0x0B)
    static let invalidAttributeValueLength = ATTErrorCode(rawValue: 0x0D)
    static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
    /// Client Characteristic Configuration Descriptor Improperly Configured.
    ///
    /// - Source: Core Specification Supplement, Part B, 1.2.
    static let improperlyConfigured = ATTErrorCode(rawValue: 0xFD)
}
