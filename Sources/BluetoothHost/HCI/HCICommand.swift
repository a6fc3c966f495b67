public import ButtonModel
public import Bytes

/// An HCI command.
///
///     octet  0…1      2                   3…
///            opcode   parameter length    parameters, 0…255 octets
///
/// Multi-octet fields are little endian. The commands that this host sends have cases of their own; every other opcode
/// is `unknown`, with its parameters undecoded.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.1 and 7.
public enum HCICommand: Hashable, Sendable {
    case disconnect(ConnectionHandle, reason: HCIStatus)
    case setEventMask(UInt64)
    case reset
    case readLocalVersionInformation
    case readLocalSupportedFeatures
    case readBufferSize
    case readBDADDR
    case readRSSI(ConnectionHandle)
    case leSetEventMask(UInt64)
    case leReadBufferSize
    case leSetRandomAddress(BluetoothAddress)
    case leSetAdvertisingParameters(LEAdvertisingParameters)
    /// At most 31 octets; padded with zeros to 31 when encoded.
    case leSetAdvertisingData([UInt8])
    case leSetScanResponseData([UInt8])
    case leSetAdvertisingEnable(Bool)
    case leSetScanParameters(LEScanParameters)
    case leSetScanEnable(Bool, filterDuplicates: Bool)
    case leCreateConnection(LECreateConnectionParameters)
    case leCreateConnectionCancel
    case leReadFilterAcceptListSize
    case leClearFilterAcceptList
    case leAddDeviceToFilterAcceptList(BluetoothAddress)
    case leRemoveDeviceFromFilterAcceptList(BluetoothAddress)
    case leConnectionUpdate(ConnectionHandle, ConnectionParameters)
    case leReadSupportedStates
    case leRemoteConnectionParameterRequestReply(ConnectionHandle, ConnectionParameters)
    case leRemoteConnectionParameterRequestNegativeReply(ConnectionHandle, reason: HCIStatus)
    case unknown(HCIOpcode, parameters: [UInt8])

    public var opcode: HCIOpcode {
        switch self {
        case .disconnect: .disconnect
        case .setEventMask: .setEventMask
        case .reset: .reset
        case .readLocalVersionInformation: .readLocalVersionInformation
        case .readLocalSupportedFeatures: .readLocalSupportedFeatures
        case .readBufferSize: .readBufferSize
        case .readBDADDR: .readBDADDR
        case .readRSSI: .readRSSI
        case .leSetEventMask: .leSetEventMask
        case .leReadBufferSize: .leReadBufferSize
        case .leSetRandomAddress: .leSetRandomAddress
        case .leSetAdvertisingParameters: .leSetAdvertisingParameters
        case .leSetAdvertisingData: .leSetAdvertisingData
        case .leSetScanResponseData: .leSetScanResponseData
        case .leSetAdvertisingEnable: .leSetAdvertisingEnable
        case .leSetScanParameters: .leSetScanParameters
        case .leSetScanEnable: .leSetScanEnable
        case .leCreateConnection: .leCreateConnection
        case .leCreateConnectionCancel: .leCreateConnectionCancel
        case .leReadFilterAcceptListSize: .leReadFilterAcceptListSize
        case .leClearFilterAcceptList: .leClearFilterAcceptList
        case .leAddDeviceToFilterAcceptList: .leAddDeviceToFilterAcceptList
        case .leRemoveDeviceFromFilterAcceptList: .leRemoveDeviceFromFilterAcceptList
        case .leConnectionUpdate: .leConnectionUpdate
        case .leReadSupportedStates: .leReadSupportedStates
        case .leRemoteConnectionParameterRequestReply: .leRemoteConnectionParameterRequestReply
        case .leRemoteConnectionParameterRequestNegativeReply: .leRemoteConnectionParameterRequestNegativeReply
        case .unknown(let opcode, _): opcode
        }
    }

    /// The complete packet with its H4 indicator. Parameters beyond 255 octets are cut.
    public var packet: [UInt8] {
        let parameters = encodedParameters.prefix(255)
        var writer = ByteWriter(capacity: 4 + parameters.count)
        writer.uint8(H4Indicator.command.rawValue)
        writer.uint16(opcode.rawValue)
        writer.uint8(UInt8(parameters.count))
        writer.bytes(parameters)
        return writer.bytes
    }

    private var encodedParameters: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        switch self {
        case .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBufferSize, .readBDADDR,
            .leReadBufferSize, .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
            .leReadSupportedStates:
            break
        case .disconnect(let handle, let reason),
            .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
            writer.uint16(handle.rawValue)
            writer.uint8(reason.rawValue)
        case .readRSSI(let handle):
            writer.uint16(handle.rawValue)
        case .setEventMask(let mask), .leSetEventMask(let mask):
            writer.uint64(mask)
        case .leSetRandomAddress(let address):
            writer.uint48(address.rawValue)
        case .leSetAdvertisingParameters(let parameters):
            parameters.encode(into: &writer)
        case .leSetAdvertisingData(let data), .leSetScanResponseData(let data):
            let data = data.prefix(31)
            writer.uint8(UInt8(data.count))
            writer.bytes(data)
            writer.bytes(repeatElement(0, count: 31 - data.count))
        case .leSetAdvertisingEnable(let isEnabled):
            writer.uint8(isEnabled ? 1 : 0)
        case .leSetScanParameters(let parameters):
            parameters.encode(into: &writer)
        case .leSetScanEnable(let isEnabled, let filterDuplicates):
            writer.uint8(isEnabled ? 1 : 0)
            writer.uint8(filterDuplicates ? 1 : 0)
        case .leCreateConnection(let parameters):
            parameters.encode(into: &writer)
        case .leAddDeviceToFilterAcceptList(let address), .leRemoveDeviceFromFilterAcceptList(let address):
            writer.uint8(address.kind.rawValue)
            writer.uint48(address.rawValue)
        case .leConnectionUpdate(let handle, let parameters),
            .leRemoteConnectionParameterRequestReply(let handle, let parameters):
            writer.uint16(handle.rawValue)
            parameters.encode(into: &writer)
            // Minimum and maximum connection event length: no preference.
            writer.uint32(0)
        case .unknown(_, let parameters):
            writer.bytes(parameters)
        }
        return writer.bytes
    }
}

extension HCICommand {
    /// Decodes a command without its H4 indicator; octets after the parameters are ignored.
    ///
    /// - Throws: `Truncated` when the octets end before the opcode, the announced parameters or their fields.
    public init(decoding octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        try self.init(decoding: &reader)
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        let opcode = HCIOpcode(rawValue: try reader.uint16())
        let length = Int(try reader.uint8())
        let octets = try reader.bytes(length)
        var fields = ByteReader(octets)
        switch opcode {
        case .disconnect:
            self = .disconnect(try fields.connectionHandle(), reason: HCIStatus(rawValue: try fields.uint8()))
        case .setEventMask: self = .setEventMask(try fields.uint64())
        case .reset: self = .reset
        case .readLocalVersionInformation: self = .readLocalVersionInformation
        case .readLocalSupportedFeatures: self = .readLocalSupportedFeatures
        case .readBufferSize: self = .readBufferSize
        case .readBDADDR: self = .readBDADDR
        case .readRSSI: self = .readRSSI(try fields.connectionHandle())
        case .leSetEventMask: self = .leSetEventMask(try fields.uint64())
        case .leReadBufferSize: self = .leReadBufferSize
        case .leSetRandomAddress:
            self = .leSetRandomAddress(BluetoothAddress(rawValue: try fields.uint48(), kind: .random))
        case .leSetAdvertisingParameters: self = .leSetAdvertisingParameters(try .init(decoding: &fields))
        case .leSetAdvertisingData: self = .leSetAdvertisingData(try fields.counted(atMost: 31))
        case .leSetScanResponseData: self = .leSetScanResponseData(try fields.counted(atMost: 31))
        case .leSetAdvertisingEnable: self = .leSetAdvertisingEnable(try fields.uint8() != 0)
        case .leSetScanParameters: self = .leSetScanParameters(try .init(decoding: &fields))
        case .leSetScanEnable:
            self = .leSetScanEnable(try fields.uint8() != 0, filterDuplicates: try fields.uint8() != 0)
        case .leCreateConnection: self = .leCreateConnection(try .init(decoding: &fields))
        case .leCreateConnectionCancel: self = .leCreateConnectionCancel
        case .leReadFilterAcceptListSize: self = .leReadFilterAcceptListSize
        case .leClearFilterAcceptList: self = .leClearFilterAcceptList
        case .leAddDeviceToFilterAcceptList: self = .leAddDeviceToFilterAcceptList(try fields.typedAddress())
        case .leRemoveDeviceFromFilterAcceptList:
            self = .leRemoveDeviceFromFilterAcceptList(try fields.typedAddress())
        case .leConnectionUpdate:
            self = .leConnectionUpdate(try fields.connectionHandle(), try .init(decoding: &fields))
        case .leReadSupportedStates: self = .leReadSupportedStates
        case .leRemoteConnectionParameterRequestReply:
            self = .leRemoteConnectionParameterRequestReply(
                try fields.connectionHandle(), try .init(decoding: &fields))
        case .leRemoteConnectionParameterRequestNegativeReply:
            self = .leRemoteConnectionParameterRequestNegativeReply(
                try fields.connectionHandle(), reason: HCIStatus(rawValue: try fields.uint8()))
        default: self = .unknown(opcode, parameters: octets)
        }
    }
}
