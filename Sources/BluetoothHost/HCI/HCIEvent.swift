import ButtonModel
public import Bytes

/// One event from the controller.
///
///     octet  0      1                   2…
///            code   parameter length    parameters; LE events (code 0x3E) begin with their subevent code
///
/// Multi-octet fields are little endian. A code this host has no use for is a value, not an error.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.4 and 7.7.
public enum HCIEvent: Hashable, Sendable {
    case disconnectionComplete(HCIStatus, ConnectionHandle, reason: HCIStatus)
    /// `returnParameters` begin with the status. `allowance`: commands the controller takes now.
    case commandComplete(HCIOpcode, allowance: UInt8, returnParameters: [UInt8])
    case commandStatus(HCIOpcode, allowance: UInt8, HCIStatus)
    case hardwareError(UInt8)
    case numberOfCompletedPackets([CompletedPackets])
    case dataBufferOverflow(linkType: UInt8)
    case leConnectionComplete(LEConnectionComplete)
    /// The same with the resolvable addresses used, which are of no use without privacy.
    case leEnhancedConnectionComplete(LEConnectionComplete)
    case leAdvertisingReport([AdvertisingReport])
    case leConnectionUpdateComplete(
        HCIStatus, ConnectionHandle, interval: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16)
    case leRemoteConnectionParameterRequest(ConnectionHandle, ConnectionParameters)
    case unknown(code: UInt8, parameters: [UInt8])
    case unknownLE(subevent: UInt8, parameters: [UInt8])
}

/// Packets of one link the controller is done with: as many buffers are free again.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.19.
public struct CompletedPackets: Hashable, Sendable {
    public var handle: ConnectionHandle
    public var count: UInt16

    public init(handle: ConnectionHandle, count: UInt16) {
        self.handle = handle
        self.count = count
    }
}

/// A link that has come up, or one that did not (`status`).
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.65.1.
public struct LEConnectionComplete: Hashable, Sendable {
    public var status: HCIStatus
    public var connection: Connection
    /// Units of 1.25 ms.
    public var interval: UInt16
    public var peripheralLatency: UInt16
    /// Units of 10 ms.
    public var supervisionTimeout: UInt16

    public init(
        status: HCIStatus, connection: Connection, interval: UInt16, peripheralLatency: UInt16,
        supervisionTimeout: UInt16
    ) {
        self.status = status
        self.connection = connection
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }
}

extension HCIEvent {
    /// Decodes an event without its H4 indicator; octets after the parameters are ignored.
    ///
    /// - Throws: `Truncated`, when the octets end before the code, the announced parameters or their fields do.
    public init(decoding octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        try self.init(decoding: &reader)
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        let code = try reader.uint8()
        let octets = try reader.bytes(Int(try reader.uint8()))
        var fields = ByteReader(octets)
        switch HCIEventCode(rawValue: code) {
        case .disconnectionComplete:
            let status = HCIStatus(rawValue: try fields.uint8())
            self = .disconnectionComplete(
                status, try fields.connectionHandle(), reason: HCIStatus(rawValue: try fields.uint8()))
        case .commandComplete:
            let allowance = try fields.uint8()
            let opcode = HCIOpcode(rawValue: try fields.uint16())
            self = .commandComplete(opcode, allowance: allowance, returnParameters: fields.remainder())
        case .commandStatus:
            let status = HCIStatus(rawValue: try fields.uint8())
            let allowance = try fields.uint8()
            self = .commandStatus(HCIOpcode(rawValue: try fields.uint16()), allowance: allowance, status)
        case .hardwareError:
            self = .hardwareError(try fields.uint8())
        case .numberOfCompletedPackets:
            var completed: [CompletedPackets] = []
            for _ in 0..<(try fields.uint8()) {
                completed.append(CompletedPackets(handle: try fields.connectionHandle(), count: try fields.uint16()))
            }
            self = .numberOfCompletedPackets(completed)
        case .dataBufferOverflow:
            self = .dataBufferOverflow(linkType: try fields.uint8())
        case .leMeta:
            try self.init(decodingLE: &fields)
        case nil:
            self = .unknown(code: code, parameters: octets)
        }
    }

    private init(decodingLE fields: inout ByteReader) throws(Truncated) {
        let code = try fields.uint8()
        switch LESubeventCode(rawValue: code) {
        case .connectionComplete:
            self = .leConnectionComplete(try LEConnectionComplete(decoding: &fields, isEnhanced: false))
        case .enhancedConnectionComplete:
            self = .leEnhancedConnectionComplete(try LEConnectionComplete(decoding: &fields, isEnhanced: true))
        case .advertisingReport:
            var reports: [AdvertisingReport] = []
            for _ in 0..<(try fields.uint8()) {
                // A kind from the future is skipped: what follows it still counts.
                guard let report = try AdvertisingReport(decoding: &fields) else { continue }
                reports.append(report)
            }
            self = .leAdvertisingReport(reports)
        case .connectionUpdateComplete:
            let status = HCIStatus(rawValue: try fields.uint8())
            self = .leConnectionUpdateComplete(
                status, try fields.connectionHandle(), interval: try fields.uint16(),
                peripheralLatency: try fields.uint16(), supervisionTimeout: try fields.uint16())
        case .remoteConnectionParameterRequest:
            let handle = try fields.connectionHandle()
            self = .leRemoteConnectionParameterRequest(handle, try ConnectionParameters(decoding: &fields))
        case nil:
            self = .unknownLE(subevent: code, parameters: fields.remainder())
        }
    }
}

extension LEConnectionComplete {
    fileprivate init(decoding fields: inout ByteReader, isEnhanced: Bool) throws(Truncated) {
        status = HCIStatus(rawValue: try fields.uint8())
        let handle = try fields.connectionHandle()
        let role = LinkRole(rawValue: try fields.uint8() & 1) ?? .central
        connection = Connection(handle: handle, peer: try fields.typedAddress(), role: role)
        if isEnhanced { try fields.skip(12) }
        interval = try fields.uint16()
        peripheralLatency = try fields.uint16()
        supervisionTimeout = try fields.uint16()
    }
}

extension AdvertisingReport {
    /// 127: the controller does not know the signal's strength.
    static let unknownRSSI: Int8 = 127

    fileprivate init?(decoding fields: inout ByteReader) throws(Truncated) {
        let kind = Kind(rawValue: try fields.uint8())
        let address = try fields.typedAddress()
        let data = try fields.counted()
        let rssi = try fields.int8()
        guard let kind else { return nil }
        self.init(kind: kind, address: address, data: data, rssi: rssi == Self.unknownRSSI ? nil : rssi)
    }
}
