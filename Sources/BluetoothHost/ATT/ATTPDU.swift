/// A range of attribute handles as received. It is not validated: `start` may exceed `end`.
struct HandleRange: Hashable, Sendable {
    var start, end: UInt16
}

/// An element of a Read By Type Response: a handle and its attribute's value.
struct AttributeData: Hashable, Sendable {
    var handle: UInt16
    var value: [UInt8]
}

/// An Attribute Protocol PDU.
///
///     octet  0        1…
///            opcode   parameters
///
/// Multi-octet fields are little endian. An unknown opcode becomes `unknown` and not an error, because the peer may use
/// a newer version.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.4.
enum ATTPDU: Hashable, Sendable {
    case errorResponse(request: UInt8, attributeHandle: UInt16, ATTErrorCode)
    case exchangeMTURequest(UInt16)
    case exchangeMTUResponse(UInt16)
    case findInformationRequest(HandleRange)
    /// All UUIDs have the same length.
    case findInformationResponse([AttributeInformation])
    case findByTypeValueRequest(HandleRange, type: UInt16, value: [UInt8])
    case findByTypeValueResponse([HandleRange])
    case readByTypeRequest(HandleRange, type: BluetoothUUID)
    /// All values have the same length.
    case readByTypeResponse([AttributeData])
    case readRequest(UInt16)
    case readResponse([UInt8])
    case readBlobRequest(UInt16, offset: UInt16)
    case readBlobResponse([UInt8])
    case readByGroupTypeRequest(HandleRange, type: BluetoothUUID)
    /// All values have the same length.
    case readByGroupTypeResponse([AttributeGroup])
    case writeRequest(UInt16, [UInt8])
    case writeResponse
    case writeCommand(UInt16, [UInt8])
    case prepareWriteRequest(UInt16, offset: UInt16, [UInt8])
    case prepareWriteResponse(UInt16, offset: UInt16, [UInt8])
    /// Writes the prepared values, or discards them.
    case executeWriteRequest(isCancelled: Bool)
    case executeWriteResponse
    case handleValueNotification(UInt16, [UInt8])
    case handleValueIndication(UInt16, [UInt8])
    case handleValueConfirmation
    case unknown(opcode: UInt8, parameters: [UInt8])

    /// ATT_MTU before an exchange.
    static let minimumMTU: UInt16 = 23
    /// The largest useful ATT_MTU: a value of 512 octets after the longest header, that of Prepare Write.
    static let maximumMTU: UInt16 = 517
    /// The longest attribute value, in octets.
    ///
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

    /// True if the opcode is that of a request, which must be answered even if it is unknown. Bit 6 marks a command;
    /// requests are even.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.1.
    static func isRequest(_ opcode: UInt8) -> Bool {
        opcode & 0x41 == 0 && opcode != Opcode.handleValueConfirmation
    }

    /// True if the opcode is that of a response. Notifications and indications are excluded, although they are odd,
    /// too.
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
    var type: BluetoothUUID
}

/// An element of a Read By Group Type Response: a service's range of handles, and its UUID as `value`.
struct AttributeGroup: Hashable, Sendable {
    var range: HandleRange
    var value: [UInt8]
}

/// The error code of an Error Response.
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
