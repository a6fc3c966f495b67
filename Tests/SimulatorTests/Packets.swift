import BluetoothHost
import ButtonModel
import Bytes
public import Simulator
public import TestSupport

extension VirtualController: StateMachine {}
extension Air: StateMachine {}

let centralAddress = BluetoothAddress(rawValue: 0x0000_5E00_5301)
let peripheralAddress = BluetoothAddress(rawValue: 0x80E4_DA01_0203)
let strangerAddress = BluetoothAddress(rawValue: 0x9088_A900_0001)

/// Packets written out by hand, as a host would send them and read them.
enum Packet {
    static func command(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) -> [UInt8] {
        [0x01, UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8), UInt8(parameters.count)] + parameters
    }

    static func complete(_ opcode: HCIOpcode, _ returned: [UInt8]) -> [UInt8] {
        [0x04, 0x0E, UInt8(3 + returned.count), 0x01] + wire(opcode.rawValue) + returned
    }

    static func status(_ opcode: HCIOpcode, _ status: HCIStatus) -> [UInt8] {
        [0x04, 0x0F, 0x04, status.rawValue, 0x01] + wire(opcode.rawValue)
    }

    static func acl(_ handle: UInt16, isFirst: Bool = true, _ data: [UInt8]) -> [UInt8] {
        [0x02] + wire(handle | (isFirst ? 0 : 0x1000)) + wire(UInt16(data.count)) + data
    }

    static func aclToHost(_ handle: UInt16, isFirst: Bool = true, _ data: [UInt8]) -> [UInt8] {
        [0x02] + wire(handle | (isFirst ? 0x2000 : 0x1000)) + wire(UInt16(data.count)) + data
    }

    static func disconnected(_ handle: UInt16, _ reason: UInt8) -> [UInt8] {
        [0x04, 0x05, 0x04, 0x00] + wire(handle) + [reason]
    }

    static func completed(_ handle: UInt16, count: UInt16 = 1) -> [UInt8] {
        [0x04, 0x13, 0x05, 0x01] + wire(handle) + wire(count)
    }

    static func connected(_ handle: UInt16, role: UInt8, peer: BluetoothAddress) -> [UInt8] {
        [0x04, 0x3E, 0x13, 0x01, 0x00] + wire(handle) + [role, peer.kind.rawValue] + peer.wireOctets
            + [0x28, 0, 0, 0, 0x58, 0x02, 0]
    }

    static let connectionCancelled: [UInt8] = [0x04, 0x3E, 0x13, 0x01, 0x02] + [UInt8](repeating: 0, count: 17)

    static let unmask = [
        command(.setEventMask, [UInt8](repeating: 0xFF, count: 8)),
        command(.leSetEventMask, [0x1F, 0, 0, 0, 0, 0, 0, 0]),
    ]

    /// Interval in units of 0.625 ms.
    static func advertisingParameters(interval: UInt16 = 160, filterPolicy: UInt8 = 0) -> [UInt8] {
        command(
            .leSetAdvertisingParameters,
            wire(interval) + wire(interval) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 7, filterPolicy])
    }

    static func advertisingData(_ opcode: HCIOpcode = .leSetAdvertisingData, data: [UInt8]) -> [UInt8] {
        command(opcode, [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count))
    }

    static let advertise = command(.leSetAdvertisingEnable, [1])

    /// Active, public address, no filter.
    static let scanParameters = command(.leSetScanParameters, [1, 0x10, 0, 0x10, 0, 0, 0])
    static func scan(_ isEnabled: Bool = true, filterDuplicates: Bool = true) -> [UInt8] {
        command(.leSetScanEnable, [isEnabled ? 1 : 0, filterDuplicates ? 1 : 0])
    }

    static func accept(_ address: BluetoothAddress) -> [UInt8] {
        command(.leAddDeviceToFilterAcceptList, [address.kind.rawValue] + address.wireOctets)
    }

    /// Interval 30…50 ms, no latency, 6 s: what `connected` shows. `nil`: through the filter accept list.
    static func createConnection(to peer: BluetoothAddress?) -> [UInt8] {
        command(
            .leCreateConnection,
            [0x10, 0, 0x10, 0] + [peer == nil ? 1 : 0, peer?.kind.rawValue ?? 0]
                + (peer?.wireOctets ?? [0, 0, 0, 0, 0, 0]) + [0] + connectionParameters)
    }

    static let connectionParameters: [UInt8] = [0x18, 0, 0x28, 0, 0, 0, 0x58, 0x02, 0, 0, 0, 0]

    static func disconnect(_ handle: UInt16, reason: UInt8 = 0x13) -> [UInt8] {
        command(.disconnect, wire(handle) + [reason])
    }

    static func wire(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
}
