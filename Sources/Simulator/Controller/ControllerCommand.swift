import BluetoothHost
import ButtonModel
import Bytes

/// A decoded HCI command, with all parameters within the ranges of the specification.
///
/// It shares no code with `BluetoothHost`, because two independent implementations find more mistakes.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.1, 7.3, 7.4, 7.5 and 7.8.
enum ControllerCommand: Hashable, Sendable {
    case disconnect(handle: ConnectionHandle, reason: UInt8)
    case setEventMask(UInt64)
    case reset
    case readLocalVersionInformation
    case readLocalSupportedCommands
    case readLocalSupportedFeatures
    case readBufferSize
    case readBDADDR
    case readRSSI(handle: ConnectionHandle)
    case leSetEventMask(UInt64)
    case leReadBufferSize
    case leReadLocalSupportedFeatures
    case leSetRandomAddress(BluetoothAddress)
    case leSetAdvertisingParameters(AdvertisingParameters)
    case leSetAdvertisingData([UInt8])
    case leSetScanResponseData([UInt8])
    case leSetAdvertisingEnable(Bool)
    case leSetScanParameters(ScanParameters)
    case leSetScanEnable(Bool, filterDuplicates: Bool)
    case leCreateConnection(InitiatingParameters)
    case leCreateConnectionCancel
    case leReadFilterAcceptListSize
    case leClearFilterAcceptList
    case leAddDeviceToFilterAcceptList(FilterAcceptListEntry)
    case leRemoveDeviceFromFilterAcceptList(FilterAcceptListEntry)
    case leConnectionUpdate(handle: ConnectionHandle, ConnectionParameters)
    case leReadSupportedStates
    case leRemoteConnectionParameterRequestReply(handle: ConnectionHandle, ConnectionParameters)
    case leRemoteConnectionParameterRequestNegativeReply(handle: ConnectionHandle, reason: UInt8)
}

/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.5.
struct AdvertisingParameters: Hashable, Sendable {
    /// `ADV_IND`, `ADV_DIRECT_IND`, `ADV_SCAN_IND`, `ADV_NONCONN_IND`.
    enum Kind: Hashable, Sendable { case connectable, directed, scannable, nonConnectable }

    var kind = Kind.connectable
    /// In units of 0.625 ms.
    var interval: UInt16 = 0x0800
    var ownAddressKind = BluetoothAddress.Kind.public
    /// Bit 0: scan requests only from the filter accept list; bit 1: connection requests only from the filter accept
    /// list.
    var filterPolicy: UInt8 = 0
}

/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.10.
struct ScanParameters: Hashable, Sendable {
    var isActive = false
    var ownAddressKind = BluetoothAddress.Kind.public
    var usesFilterAcceptList = false
}

/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12.
struct InitiatingParameters: Hashable, Sendable {
    /// If `nil`, all devices in the filter accept list.
    var peer: BluetoothAddress?
    var ownAddressKind: BluetoothAddress.Kind
    var connection: ConnectionParameters
}

enum FilterAcceptListEntry: Hashable, Sendable {
    case device(BluetoothAddress)
    /// All devices that advertise without an address.
    case anonymous
}

/// Why a command cannot be decoded.
enum CommandFault: Error, Hashable, Sendable {
    case unknown
    /// The parameters are too short or too long, or a parameter is out of range.
    case invalidParameters
}

extension ControllerCommand {
    /// - Parameter parameters: the octets after the command header.
    init(opcode: HCIOpcode, parameters: [UInt8]) throws(CommandFault) {
        var fields = ParameterReader(parameters)
        self = try ControllerCommand.decode(opcode, &fields)
        try fields.finish()
    }

    private static func decode(
        _ opcode: HCIOpcode, _ fields: inout ParameterReader
    ) throws(CommandFault) -> ControllerCommand {
        switch opcode {
        case .disconnect:
            return .disconnect(
                handle: try fields.connectionHandle(),
                reason: try fields.uint8(oneOf: [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]))
        case .setEventMask: return .setEventMask(try fields.uint64())
        case .reset: return .reset
        case .readLocalVersionInformation: return .readLocalVersionInformation
        case .readLocalSupportedCommands: return .readLocalSupportedCommands
        case .readLocalSupportedFeatures: return .readLocalSupportedFeatures
        case .readBufferSize: return .readBufferSize
        case .readBDADDR: return .readBDADDR
        case .readRSSI: return .readRSSI(handle: try fields.connectionHandle())
        case .leSetEventMask: return .leSetEventMask(try fields.uint64())
        case .leReadBufferSize: return .leReadBufferSize
        case .leReadLocalSupportedFeatures: return .leReadLocalSupportedFeatures
        case .leSetRandomAddress: return .leSetRandomAddress(try fields.address(.random))
        case .leSetAdvertisingParameters: return .leSetAdvertisingParameters(try fields.advertisingParameters())
        case .leSetAdvertisingData: return .leSetAdvertisingData(try fields.advertisingData())
        case .leSetScanResponseData: return .leSetScanResponseData(try fields.advertisingData())
        case .leSetAdvertisingEnable: return .leSetAdvertisingEnable(try fields.flag())
        case .leSetScanParameters: return .leSetScanParameters(try fields.scanParameters())
        case .leSetScanEnable:
            return .leSetScanEnable(try fields.flag(), filterDuplicates: try fields.flag())
        case .leCreateConnection: return .leCreateConnection(try fields.initiatingParameters())
        case .leCreateConnectionCancel: return .leCreateConnectionCancel
        case .leReadFilterAcceptListSize: return .leReadFilterAcceptListSize
        case .leClearFilterAcceptList: return .leClearFilterAcceptList
        case .leAddDeviceToFilterAcceptList:
            return .leAddDeviceToFilterAcceptList(try fields.filterAcceptListEntry())
        case .leRemoveDeviceFromFilterAcceptList:
            return .leRemoveDeviceFromFilterAcceptList(try fields.filterAcceptListEntry())
        case .leConnectionUpdate:
            return .leConnectionUpdate(
                handle: try fields.connectionHandle(), try fields.connectionParameters())
        case .leReadSupportedStates: return .leReadSupportedStates
        case .leRemoteConnectionParameterRequestReply:
            return .leRemoteConnectionParameterRequestReply(
                handle: try fields.connectionHandle(), try fields.connectionParameters())
        case .leRemoteConnectionParameterRequestNegativeReply:
            return .leRemoteConnectionParameterRequestNegativeReply(
                handle: try fields.connectionHandle(), reason: try fields.uint8(in: 0x01...0xFF))
        default: throw .unknown
        }
    }
}

/// Reads command parameters and throws `invalidParameters` if a value is out of range.
private struct ParameterReader {
    private var reader: ByteReader

    init(_ octets: [UInt8]) { reader = ByteReader(octets) }

    func finish() throws(CommandFault) {
        guard reader.isAtEnd else { throw .invalidParameters }
    }

    mutating func uint8(in range: ClosedRange<UInt8> = 0...0xFF) throws(CommandFault) -> UInt8 {
        guard let value = try? reader.uint8(), range.contains(value) else { throw .invalidParameters }
        return value
    }

    mutating func uint8(oneOf values: [UInt8]) throws(CommandFault) -> UInt8 {
        guard let value = try? reader.uint8(), values.contains(value) else { throw .invalidParameters }
        return value
    }

    mutating func uint16(in range: ClosedRange<UInt16> = 0...0xFFFF) throws(CommandFault) -> UInt16 {
        guard let value = try? reader.uint16(), range.contains(value) else { throw .invalidParameters }
        return value
    }

    mutating func uint64() throws(CommandFault) -> UInt64 {
        guard let value = try? reader.uint64() else { throw .invalidParameters }
        return value
    }

    mutating func flag() throws(CommandFault) -> Bool { try uint8(in: 0...1) == 1 }

    mutating func connectionHandle() throws(CommandFault) -> ConnectionHandle {
        ConnectionHandle(rawValue: try uint16(in: 0...0x0EFF))
    }

    mutating func address(_ kind: BluetoothAddress.Kind) throws(CommandFault) -> BluetoothAddress {
        guard let value = try? reader.uint48() else { throw .invalidParameters }
        return BluetoothAddress(rawValue: value, kind: kind)
    }

    /// Address kinds 2 and 3 (resolvable private addresses) are refused, because the controller does not support LL
    /// privacy.
    mutating func addressKind() throws(CommandFault) -> BluetoothAddress.Kind {
        guard let kind = BluetoothAddress.Kind(rawValue: try uint8()) else { throw .invalidParameters }
        return kind
    }

    mutating func filterAcceptListEntry() throws(CommandFault) -> FilterAcceptListEntry {
        let kind = try uint8()
        if kind == 0xFF {
            _ = try address(.public)
            return .anonymous
        }
        guard let kind = BluetoothAddress.Kind(rawValue: kind) else { throw .invalidParameters }
        return .device(try address(kind))
    }

    mutating func advertisingParameters() throws(CommandFault) -> AdvertisingParameters {
        let minimum = try uint16(in: 0x0020...0x4000)
        let maximum = try uint16(in: minimum...0x4000)
        let kinds: [AdvertisingParameters.Kind] = [.connectable, .directed, .scannable, .nonConnectable, .directed]
        let kind = kinds[Int(try uint8(in: 0...4))]
        let ownAddressKind = try addressKind()
        _ = try address(try addressKind())
        _ = try uint8(in: 0x01...0x07)
        return AdvertisingParameters(
            kind: kind, interval: maximum, ownAddressKind: ownAddressKind, filterPolicy: try uint8(in: 0...3))
    }

    /// The length in one octet, and always 31 octets.
    mutating func advertisingData() throws(CommandFault) -> [UInt8] {
        let count = Int(try uint8(in: 0...31))
        guard let field = try? reader.bytes(31) else { throw .invalidParameters }
        return Array(field.prefix(count))
    }

    mutating func scanParameters() throws(CommandFault) -> ScanParameters {
        let isActive = try flag()
        try scanTiming()
        let ownAddressKind = try addressKind()
        return ScanParameters(
            isActive: isActive, ownAddressKind: ownAddressKind, usesFilterAcceptList: try flag())
    }

    /// Checks that the window is not longer than the interval. Both are otherwise ignored.
    private mutating func scanTiming() throws(CommandFault) {
        let interval = try uint16(in: 0x0004...0x4000)
        _ = try uint16(in: 0x0004...interval)
    }

    mutating func initiatingParameters() throws(CommandFault) -> InitiatingParameters {
        try scanTiming()
        let usesFilterAcceptList = try flag()
        // If the filter accept list is used, the peer's fields are ignored and may have any value.
        let peerKind = try uint8()
        let peer: BluetoothAddress?
        if usesFilterAcceptList {
            _ = try address(.public)
            peer = nil
        } else {
            guard let kind = BluetoothAddress.Kind(rawValue: peerKind) else { throw .invalidParameters }
            peer = try address(kind)
        }
        let ownAddressKind = try addressKind()
        return InitiatingParameters(
            peer: peer, ownAddressKind: ownAddressKind, connection: try connectionParameters())
    }

    mutating func connectionParameters() throws(CommandFault) -> ConnectionParameters {
        let minimum = try uint16(in: 0x0006...0x0C80)
        let maximum = try uint16(in: minimum...0x0C80)
        let latency = try uint16(in: 0...0x01F3)
        let timeout = try uint16(in: 0x000A...0x0C80)
        // The timeout (in 10 ms) must be longer than two intervals (in 1.25 ms) including the peripheral latency.
        guard UInt32(timeout) * 8 > 2 * (1 + UInt32(latency)) * UInt32(maximum) else { throw .invalidParameters }
        let eventLengthMinimum = try uint16()
        _ = try uint16(in: eventLengthMinimum...0xFFFF)
        return ConnectionParameters(
            intervalMinimum: minimum, intervalMaximum: maximum, peripheralLatency: latency,
            supervisionTimeout: timeout)
    }
}
