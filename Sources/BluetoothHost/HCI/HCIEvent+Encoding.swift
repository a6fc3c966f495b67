import ButtonModel
import Bytes

extension HCIEvent {
    /// The complete packet with its H4 indicator, as a controller sends it. Parameters beyond 255 octets are cut.
    public var packet: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        let code = encodeParameters(into: &writer)
        let parameters = writer.bytes.prefix(255)
        return [H4Indicator.event.rawValue, code, UInt8(parameters.count)] + parameters
    }

    /// - Returns: the event code.
    private func encodeParameters(into writer: inout ByteWriter) -> UInt8 {
        switch self {
        case .disconnectionComplete(let status, let handle, let reason):
            writer.uint8(status.rawValue)
            writer.uint16(handle.rawValue)
            writer.uint8(reason.rawValue)
            return HCIEventCode.disconnectionComplete.rawValue
        case .commandComplete(let opcode, let allowance, let returnParameters):
            writer.uint8(allowance)
            writer.uint16(opcode.rawValue)
            writer.bytes(returnParameters)
            return HCIEventCode.commandComplete.rawValue
        case .commandStatus(let opcode, let allowance, let status):
            writer.uint8(status.rawValue)
            writer.uint8(allowance)
            writer.uint16(opcode.rawValue)
            return HCIEventCode.commandStatus.rawValue
        case .hardwareError(let code):
            writer.uint8(code)
            return HCIEventCode.hardwareError.rawValue
        case .numberOfCompletedPackets(let completed):
            let completed = completed.prefix(63)
            writer.uint8(UInt8(completed.count))
            for link in completed {
                writer.uint16(link.handle.rawValue)
                writer.uint16(link.count)
            }
            return HCIEventCode.numberOfCompletedPackets.rawValue
        case .dataBufferOverflow(let linkType):
            writer.uint8(linkType)
            return HCIEventCode.dataBufferOverflow.rawValue
        case .unknown(let code, let parameters):
            writer.bytes(parameters)
            return code
        case .leConnectionComplete, .leEnhancedConnectionComplete, .leAdvertisingReport,
            .leConnectionUpdateComplete, .leRemoteConnectionParameterRequest, .unknownLE:
            encodeLEParameters(into: &writer)
            return HCIEventCode.leMeta.rawValue
        }
    }

    private func encodeLEParameters(into writer: inout ByteWriter) {
        switch self {
        case .leConnectionComplete(let complete):
            writer.uint8(LESubeventCode.connectionComplete.rawValue)
            complete.encode(into: &writer, isEnhanced: false)
        case .leEnhancedConnectionComplete(let complete):
            writer.uint8(LESubeventCode.enhancedConnectionComplete.rawValue)
            complete.encode(into: &writer, isEnhanced: true)
        case .leAdvertisingReport(let reports):
            writer.uint8(LESubeventCode.advertisingReport.rawValue)
            writer.uint8(UInt8(clamping: reports.count))
            for report in reports {
                writer.uint8(report.kind.rawValue)
                writer.uint8(report.address.kind.rawValue)
                writer.uint48(report.address.rawValue)
                writer.uint8(UInt8(clamping: report.data.count))
                writer.bytes(report.data)
                writer.int8(report.rssi ?? AdvertisingReport.unknownRSSI)
            }
        case .leConnectionUpdateComplete(let status, let handle, let interval, let latency, let timeout):
            writer.uint8(LESubeventCode.connectionUpdateComplete.rawValue)
            writer.uint8(status.rawValue)
            writer.uint16(handle.rawValue)
            writer.uint16(interval)
            writer.uint16(latency)
            writer.uint16(timeout)
        case .leRemoteConnectionParameterRequest(let handle, let parameters):
            writer.uint8(LESubeventCode.remoteConnectionParameterRequest.rawValue)
            writer.uint16(handle.rawValue)
            parameters.encode(into: &writer)
        case .unknownLE(let subevent, let parameters):
            writer.uint8(subevent)
            writer.bytes(parameters)
        case .disconnectionComplete, .commandComplete, .commandStatus, .hardwareError, .numberOfCompletedPackets,
            .dataBufferOverflow, .unknown:
            break
        }
    }
}

extension LEConnectionComplete {
    fileprivate func encode(into writer: inout ByteWriter, isEnhanced: Bool) {
        writer.uint8(status.rawValue)
        writer.uint16(connection.handle.rawValue)
        writer.uint8(connection.role.rawValue)
        writer.uint8(connection.peer.kind.rawValue)
        writer.uint48(connection.peer.rawValue)
        if isEnhanced {
            // Local and peer resolvable private addresses: not used.
            writer.uint48(0)
            writer.uint48(0)
        }
        writer.uint16(interval)
        writer.uint16(peripheralLatency)
        writer.uint16(supervisionTimeout)
        // Central clock accuracy.
        writer.uint8(0)
    }
}
