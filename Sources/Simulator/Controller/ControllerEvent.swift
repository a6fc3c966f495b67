import BluetoothHost
import ButtonModel
import Bytes

/// An HCI event to the host.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.
enum ControllerEvent: Hashable, Sendable {
    /// `returnParameters` begins with the status, unless the opcode is 0.
    case commandComplete(HCIOpcode, returnParameters: [UInt8])
    case commandStatus(HCIOpcode, HCIStatus)
    case disconnectionComplete(handle: ConnectionHandle, reason: UInt8)
    case hardwareError(UInt8)
    case numberOfCompletedPackets(handle: ConnectionHandle, count: UInt16)
    case dataBufferOverflow
    case connectionComplete(ConnectionComplete)
    case enhancedConnectionComplete(ConnectionComplete)
    case advertisingReport(AdvertisingReport)
    case connectionUpdateComplete(
        HCIStatus, handle: ConnectionHandle, interval: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16)
    case remoteConnectionParameterRequest(handle: ConnectionHandle, ConnectionParameters)

    /// If the status is not success, all other fields are undefined, and are written as 0.
    struct ConnectionComplete: Hashable, Sendable {
        var status: HCIStatus
        var handle: ConnectionHandle
        var role: LinkRole
        var peer: BluetoothAddress
        var interval, peripheralLatency, supervisionTimeout: UInt16

        static func failed(_ status: HCIStatus) -> Self {
            Self(
                status: status, handle: ConnectionHandle(rawValue: 0), role: .central,
                peer: BluetoothAddress(rawValue: 0),
                interval: 0, peripheralLatency: 0, supervisionTimeout: 0)
        }
    }
}

extension ControllerEvent {
    /// The bit of the event mask that enables the event; `nil` if it cannot be masked.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.3.1.
    var eventMaskBit: UInt64? {
        switch self {
        case .commandComplete, .commandStatus, .numberOfCompletedPackets: nil
        case .disconnectionComplete: 4
        case .hardwareError: 15
        case .dataBufferOverflow: 25
        case .connectionComplete, .enhancedConnectionComplete, .advertisingReport, .connectionUpdateComplete,
            .remoteConnectionParameterRequest:
            61
        }
    }

    /// The bit of the LE event mask that must also be set for an LE event.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.1.
    var leEventMaskBit: UInt64? {
        switch self {
        case .commandComplete, .commandStatus, .numberOfCompletedPackets, .disconnectionComplete, .hardwareError,
            .dataBufferOverflow:
            nil
        case .connectionComplete: 0
        case .advertisingReport: 1
        case .connectionUpdateComplete: 2
        case .remoteConnectionParameterRequest: 5
        case .enhancedConnectionComplete: 9
        }
    }

    /// The packet, beginning with the H4 indicator.
    ///
    ///     octet  0     1           2       3…
    ///            0x04  event code  length  parameters
    var packet: [UInt8] {
        let (code, parameters) = body
        var writer = ByteWriter(capacity: parameters.count + 3)
        writer.uint8(H4Indicator.event.rawValue)
        writer.uint8(code.rawValue)
        writer.uint8(UInt8(truncatingIfNeeded: parameters.count))
        writer.bytes(parameters)
        return writer.bytes
    }

    private var body: (HCIEventCode, [UInt8]) {
        var fields = ByteWriter()
        switch self {
        case .commandComplete(let opcode, let returnParameters):
            fields.uint8(1)
            fields.uint16(opcode.rawValue)
            fields.bytes(returnParameters)
            return (.commandComplete, fields.bytes)

        case .commandStatus(let opcode, let status):
            fields.uint8(status.rawValue)
            fields.uint8(1)
            fields.uint16(opcode.rawValue)
            return (.commandStatus, fields.bytes)

        case .disconnectionComplete(let handle, let reason):
            fields.uint8(HCIStatus.success.rawValue)
            fields.uint16(handle.rawValue)
            fields.uint8(reason)
            return (.disconnectionComplete, fields.bytes)

        case .hardwareError(let code):
            return (.hardwareError, [code])

        case .numberOfCompletedPackets(let handle, let count):
            fields.uint8(1)
            fields.uint16(handle.rawValue)
            fields.uint16(count)
            return (.numberOfCompletedPackets, fields.bytes)

        case .dataBufferOverflow:
            return (.dataBufferOverflow, [0x01])

        case .connectionComplete(let complete):
            fields.uint8(LESubeventCode.connectionComplete.rawValue)
            complete.write(to: &fields, isEnhanced: false)
            return (.leMeta, fields.bytes)

        case .enhancedConnectionComplete(let complete):
            fields.uint8(LESubeventCode.enhancedConnectionComplete.rawValue)
            complete.write(to: &fields, isEnhanced: true)
            return (.leMeta, fields.bytes)

        case .advertisingReport(let report):
            fields.uint8(LESubeventCode.advertisingReport.rawValue)
            fields.uint8(1)
            fields.uint8(report.kind.rawValue)
            fields.uint8(report.address.kind.rawValue)
            fields.uint48(report.address.rawValue)
            fields.uint8(UInt8(truncatingIfNeeded: report.data.count))
            fields.bytes(report.data)
            fields.int8(report.rssi ?? 127)
            return (.leMeta, fields.bytes)

        case .connectionUpdateComplete(let status, let handle, let interval, let latency, let timeout):
            fields.uint8(LESubeventCode.connectionUpdateComplete.rawValue)
            fields.uint8(status.rawValue)
            fields.uint16(handle.rawValue)
            fields.uint16(interval)
            fields.uint16(latency)
            fields.uint16(timeout)
            return (.leMeta, fields.bytes)

        case .remoteConnectionParameterRequest(let handle, let wanted):
            fields.uint8(LESubeventCode.remoteConnectionParameterRequest.rawValue)
            fields.uint16(handle.rawValue)
            fields.uint16(wanted.intervalMinimum)
            fields.uint16(wanted.intervalMaximum)
            fields.uint16(wanted.peripheralLatency)
            fields.uint16(wanted.supervisionTimeout)
            return (.leMeta, fields.bytes)
        }
    }
}

extension ControllerEvent.ConnectionComplete {
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.65.1 and 7.7.65.10.
    fileprivate func write(to fields: inout ByteWriter, isEnhanced: Bool) {
        fields.uint8(status.rawValue)
        fields.uint16(handle.rawValue)
        fields.uint8(role.rawValue)
        fields.uint8(peer.kind.rawValue)
        fields.uint48(peer.rawValue)
        if isEnhanced {
            // Resolvable private addresses are not supported, so both are zero.
            fields.uint48(0)
            fields.uint48(0)
        }
        fields.uint16(interval)
        fields.uint16(peripheralLatency)
        fields.uint16(supervisionTimeout)
        fields.uint8(0)
    }
}
